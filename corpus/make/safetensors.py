"""safetensors: corpus/safetensors. The examples that are refused are in `safetensors_bad.py`."""

import json
import math

import common
import safetensors_bad
from safetensors_file import TYPES, File, compact, framed

INF, NAN = math.inf, math.nan


def canonical(name, file):
    """A file as the reference writes it."""
    common.good("safetensors", f"{name}.safetensors", file.in_order().bytes(), file.show(), canonical=True)


def foreign(name, file, data, **more):
    """A file that the reference reads and does not write."""
    common.good("safetensors", f"{name}.safetensors", data, file.show(), **more)


def some(dtype, count):
    """As many exact, repeatable values."""
    stream = common.lcg(seed=13)
    word, bits = TYPES[dtype]
    if word is None:
        return [next(stream) >> 24 for _ in range(count * bits // 8)]
    if dtype == "C64":
        return [((next(stream) >> 22) / 8, -(next(stream) >> 22) / 8) for _ in range(count)]
    if word[0] in "fb" and word != "bool":
        return [(next(stream) >> 25) / 8 - 8 for _ in range(count)]
    if word == "bool":
        return [next(stream) >> 31 for _ in range(count)]
    low = -(2 ** (bits - 1)) if word[0] == "i" else 0
    return [low + (next(stream) << 32 | next(stream)) % 2**bits for _ in range(count)]


def one(dtype="F32", shape=(2, 2), name="w", metadata=None):
    return File(metadata).tensor(name, dtype, shape, some(dtype, math.prod(shape)))


def make():
    types()
    shapes_and_names()
    metadata()
    other_writers()
    lenient()
    safetensors_bad.make()


def types():
    for dtype in TYPES:
        canonical(f"type_{dtype.lower()}", one(dtype))
    everything = File()
    for dtype in TYPES:
        everything.tensor(f"a.{dtype}", dtype, [4], some(dtype, 4))
        everything.tensor(f"A.{dtype}", dtype, [2, 2], some(dtype, 4))
    canonical("types_in_order", everything)
    canonical("f16_specials", File().tensor("w", "F16", [6], [NAN, INF, -INF, -0.0, 2.0**-24, 65504.0]))
    canonical("bf16_specials", File().tensor("w", "BF16", [4], [INF, -INF, -0.0, 2.0**-133]))
    canonical("f32_specials", File().tensor("w", "F32", [6], [NAN, INF, -INF, -0.0, 2.0**-149, 0.1]))
    canonical("f64_specials", File().tensor("w", "F64", [5], [NAN, INF, -INF, -0.0, 5e-324]))
    canonical("c64_specials", File().tensor("w", "C64", [2], [(-0.0, NAN), (INF, 0.1)]))
    canonical("i64_ends", File().tensor("w", "I64", [3], [-(2**63), 2**63 - 1, -1]))
    canonical("u64_ends", File().tensor("w", "U64", [2], [2**64 - 1, 0]))
    canonical("bool_other_bytes", File().tensor("w", "BOOL", [4], [0, 1, 2, 255]))  # kept as they are


def shapes_and_names():
    canonical("empty", File())
    canonical("scalar", one(shape=()))
    canonical("scalars", one(shape=()).tensor("v", "U8", [], [7]))
    canonical("five_dims", one("U8", (2, 1, 3, 1, 2)))
    canonical("many_dims", one("U8", [1] * 40 + [2]))
    empties = File().tensor("b", "F32", [0], []).tensor("a", "F32", [2, 0, 3], []).tensor("c", "F32", [1], [0.5])
    canonical("empty_tensors", empties)
    canonical("empty_and_large", File().tensor("w", "U8", [0, 2**60], []))
    canonical("empty_opaque", File().tensor("w", "F4", [0, 3], []))
    names = File()
    for name in ["", " ", "a b", "enc/w", "enc.w", 'q"\\', "\b\f\n\r\t", "\0\x1f\x7f", "重み", "\U0001f642", "é"]:
        names.tensor(name, "U8", [1], [len(name)])
    canonical("names", names)
    canonical("name_like_metadata", one(name="__metadata"))
    canonical("names_by_their_bytes", one(name="\uffee").tensor("\U0001f642", "F32", [1], [1.0]))


def metadata():
    canonical("format_pt", one(metadata={"format": "pt"}))
    canonical("metadata_of_any_text", one(metadata={"": "", "名": "重み", "json": '{"a": [1]}', "lines": "a\nb"}))
    canonical("metadata_alone", File({"about": "nothing"}))
    canonical("metadata_in_its_order", one(metadata={"z": "1", "a": "2", "m": "3"}))


def other_writers():
    file = one().tensor("v", "F64", [1], [1.5])
    pretty = json.dumps(file.object(), indent=2)
    foreign("spread_over_lines", file, framed(pretty, file.data()))
    foreign("not_padded", file, framed(compact(file.object()), file.data(), align=1))
    foreign("padded_to_4096", file, framed(compact(file.object()), file.data(), align=4096))
    foreign("narrow_before_wide", file, file.bytes())
    backwards = dict(reversed(file.object().items()))
    foreign("header_in_another_order", file, framed(compact(backwards), file.data()))
    text = compact(file.object())
    foreign("metadata_last", file, framed(text[:-1] + ',"__metadata__":{}}', file.data()))
    foreign("metadata_empty", file, framed('{"__metadata__":{},' + text[1:], file.data()))
    escaped = text.replace('"w"', r'"\u0077"').replace('"dtype"', r'"d\u0074ype"').replace('"F32"', r'"\u004632"')
    foreign("escapes", file, framed(escaped, file.data()))
    members = text.replace('"dtype":"F32"', '"dtype":"F32","x":[1,{"y":null}],"strides":[2,1]')
    common.good(
        "safetensors", "members_that_mean_nothing.safetensors", framed(members, file.data()),
        file.show(note_kinds=["ignored-field"]),
    )
    keys = '{"w":{"data_offsets":[0,16],"shape":[2,2],"dtype":"F32"}}'
    foreign("keys_in_another_order", one(), framed(keys, one().data()))
    empties = File().tensor("b", "U8", [0], []).tensor("w", "U8", [2], [1, 2]).tensor("a", "U8", [0], [])
    foreign("empty_tensors_anywhere", empties, empties.bytes())


def lenient():
    file = one()
    text = compact(file.object())

    def put(name, header, strict_at, file=file):
        foreign(f"lenient_{name}", file, framed(header, file.data()), lenient=True, strict_at=strict_at)

    put("space_first", " " + text, 8)
    put("line_first", "\n\n" + text, 8)
    put("padded_with_lines", text + "\n  ", 8 + len(text))
    put("padded_with_tabs", text + " \t\t", 8 + len(text) + 2)
    put("metadata_null", '{"__metadata__":null,' + text[1:], None)
    unknown = text[:-1] + ',"x":{"dtype":"F128","shape":[1],"data_offsets":[16,32]}}'
    shown = file.show(note_kinds=["skipped"])
    data = framed(unknown, file.data() + bytes(16))
    common.good("safetensors", "lenient_type_unknown.safetensors", data, shown, lenient=True, strict_at=None)


if __name__ == "__main__":
    raise SystemExit(common.run(make))
