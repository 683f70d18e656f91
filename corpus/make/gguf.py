"""GGUF: corpus/gguf. The examples that are refused are in `gguf_bad.py`."""

import math

import common
import gguf_bad
from gguf_file import BLOCKS, PLAIN, File, some

INF, NAN = math.inf, math.nan


def canonical(name, file):
    common.good("gguf", f"{name}.gguf", file.bytes(), file.show(), canonical=True)


def one(dtype="f32", shape=(2, 3), name="w", **more):
    return File(**more).tensor(name, dtype, shape, some(dtype, shape))


def make():
    types()
    shapes_and_names()
    metadata()
    frames()
    unknown()
    lenient()
    huge()
    gguf_bad.make()


def types():
    for dtype in PLAIN:
        canonical(f"type_{dtype}", one(dtype))
        canonical(f"type_{dtype}_big", one(dtype, order=">"))
    for dtype, (_, width, _, halves) in BLOCKS.items():
        shape = (2, width) if width < 256 else (width,)
        canonical(f"type_{dtype.lower()}", one(dtype, shape))
        if halves is not None:
            canonical(f"type_{dtype.lower()}_big", one(dtype, shape, order=">"))
    canonical("f16_specials", File().tensor("w", "f16", [6], [NAN, INF, -INF, -0.0, 2.0**-24, 65504.0]))
    canonical("f32_specials", File().tensor("w", "f32", [6], [NAN, INF, -INF, -0.0, 2.0**-149, 0.1]))
    canonical("f64_specials", File().tensor("w", "f64", [5], [NAN, INF, -INF, -0.0, 5e-324]))
    canonical("i64_ends", File().tensor("w", "i64", [3], [-(2**63), 2**63 - 1, -1]))


def shapes_and_names():
    canonical("empty", File())
    canonical("scalar", one(shape=()))
    canonical("four_dims", one("i8", (2, 1, 3, 2)))
    canonical("no_cells", one(shape=(2, 0, 3)).tensor("v", "Q4_0", [0, 32], b"").tensor("u", "i8", [1], [7]))
    canonical("no_cells_in_a_row", File().tensor("w", "Q4_K", [3, 0], b""))
    names = File()
    for name in ["", " ", "a b", "enc/w", "enc.w", 'q"\\', "\n", "\0", "重み", "x" * 64]:
        names.tensor(name, "i8", [1], [len(name)])
    canonical("names", names)
    several = one("Q8_0", (3, 64)).tensor("b", "f16", [5], some("f16", [5]))
    canonical("several", several.tensor("c", "bf16", [2, 2], some("bf16", [2, 2])))


def metadata():
    turned = File(order=">")
    for kind, value in [
        ("u8", 255), ("i8", -128), ("u16", 65535), ("i16", -(2**15)), ("u32", 2**32 - 1), ("i32", -(2**31)),
        ("i32", 1), ("f32", 0.1), ("bool", 1), ("bool", 0), ("text", "重み\n"), ("text", ""), ("u64", 2**64 - 1),
        ("u64", 1), ("i64", -(2**63)), ("i64", 1), ("f64", 0.1),
    ]:
        file = one().value("x", kind, value)
        suffix = {("i32", 1): "_small", ("u64", 1): "_small", ("i64", 1): "_small", ("bool", 0): "_false",
                  ("text", ""): "_empty"}.get((kind, value), "")
        canonical(f"meta_{kind}{suffix}", file)
        turned.value(f"{kind}{suffix}", kind, value)
    canonical("meta_big", turned)
    specials = File()
    for number, value in enumerate([NAN, INF, -INF, -0.0]):
        specials.value(f"f32.{number}", "f32", value).value(f"f64.{number}", "f64", value)
    canonical("meta_specials", specials)
    turned, empty = File(order=">"), File()
    for kind, values in [
        ("u8", [0, 255]), ("i8", [-1, 1]), ("u16", [1, 65535]), ("i16", [-5]), ("u32", [1, 2**32 - 1]),
        ("i32", [1, -1]), ("f32", [0.5, -0.0]), ("bool", [1, 0, 1]), ("text", ["a", "", "é"]), ("u64", [2**64 - 1]),
        ("i64", [-(2**63), 0]), ("f64", [0.1]),
    ]:
        canonical(f"array_{kind}", File().value("x", [kind], values))
        turned.value(kind, [kind], values)
        empty.value(kind, [kind], [])
    canonical("arrays_big", turned)
    canonical("arrays_empty", empty)
    canonical("array_of_arrays", File().value("x", [["u8"]], [[1, 2], [], [3]]))
    canonical("array_of_texts", File().value("x", [["text"]], [["a"], ["b", "c"]]))
    deep, kind = 7, "u32"
    for _ in range(20):
        deep, kind = [deep], [kind]
    canonical("array_deep", File().value("x", kind, deep))
    order = File().value("z", "u32", 1).value("general.architecture", "text", "llama").value("a", "u32", 2)
    canonical("meta_order", order)
    canonical("meta_name_odd", File().value(" A-b/c", "u32", 1))


def frames():
    canonical("version_2", one(version=2).value("a", "u16", 1))
    for alignment in (8, 16, 64, 4096):
        file = one("i8", (3,), alignment=alignment)
        canonical(f"alignment_{alignment}", file.tensor("v", "i8", [5], [1, 2, 3, 4, 5]))
    file = one()
    common.good("gguf", "padding_missing.gguf", file.bytes()[:-8], file.show())
    noisy = file.bytes()[:-8] + b"\1" * 8
    common.good("gguf", "padding_of_ones.gguf", noisy, file.show(), gaps=[(len(noisy) - 8, 8)])
    head = len(file.start() + file.pairs() + file.entry("w", "f32", (2, 3), 0))
    noisy = file.bytes()[:head] + b"x" + file.bytes()[head + 1 :]
    padded = len(file.bytes()) - 32
    common.good("gguf", "padding_of_ones_before_data.gguf", noisy, file.show(), gaps=[(head, padded - head)])
    short = File().value("a", "u32", 1)
    common.good("gguf", "no_data.gguf", short.start() + short.pairs(), short.show())


def unknown():
    """Types that ggml took out, or has not got yet: as many bytes as there are before the next tensor."""
    for number, layout in ((4, "Q4_2"), (31, "Q4_0_4_4"), (38, "IQ4_NL_8_8"), (42, "ggml_type_42"),
                           (2**32 - 1, f"ggml_type_{2**32 - 1}")):
        known = File().tensor("w", "f32", [1], [0.5])
        blocks = [("x", [3], bytes(range(64))), ("y", [2, 5], bytes(range(100, 132)))]
        data, table = b"", b""
        for name, shape, values in blocks:
            table += known.entry(name, number, shape, len(data))
            data += values
        table += known.entry("w", "f32", [1], len(data))
        data = known.padded(known.start(n_tensors=3) + table) + data + known.padded(known.data("f32", [0.5]))
        show = known.show()
        parts = [[{"name": "data", "dtype": "u8", "data": list(values)}] for _, _, values in blocks]
        show["tensors"][:0] = [
            {"key": [name], "state": None, "name": name, "shape": shape, "dims": common.dims(*shape), "symmetries": [],
             "dtype": "u8", "storage": "opaque", "layout": layout, "parts": part}
            for (name, shape, _), part in zip(blocks, parts)
        ]
        common.good("gguf", f"type_{number}.gguf", data, show, canonical=True)
    # The last one ends where the file does, wherever that is.
    known, values = File(), bytes(range(65))
    data = known.padded(known.start(n_tensors=1) + known.entry("x", 5888, [3], 0)) + values
    show = known.show()
    show["tensors"] = [
        {"key": ["x"], "state": None, "name": "x", "shape": [3], "dims": common.dims(3), "symmetries": [],
         "dtype": "u8", "storage": "opaque", "layout": "ggml_type_5888",
         "parts": [{"name": "data", "dtype": "u8", "data": list(values)}]}
    ]
    common.good("gguf", "type_unknown_not_padded.gguf", data, show, canonical=True)


def lenient():
    def put(name, data, file, strict_at, gaps=None, **more):
        show = file.show(**({"note_kinds": ["lenient"]} | more))
        common.good("gguf", f"lenient_{name}.gguf", data, show, lenient=True, strict_at=strict_at, gaps=gaps)

    file = one("i8", (5,)).tensor("v", "i8", [3], [1, 2, 3])
    (a, b), plain = file.tensors, {"note_kinds": ["lenient"]}

    def placed(first, second, data, order=(0, 1)):
        entries = [file.entry(*a[:3], first), file.entry(*b[:3], second)]
        entries = [entries[place] for place in order]
        return file.padded(file.start() + b"".join(entries)) + data, 24 + len(entries[0]), len(entries[0])

    values = [file.data("i8", tensor[3]) for tensor in (a, b)]
    data, at, _ = placed(0, 64, values[0].ljust(64, b"\0") + values[1])
    put("hole", data, file, at, gaps=[(len(data) - 3 - 59, 59)])
    data, at, _ = placed(0, 5, values[0] + values[1])
    put("not_aligned", data, file, at)
    turned = File().tensor(*b).tensor(*a)
    data, _, _ = placed(0, 32, values[0].ljust(32, b"\0") + values[1], order=(1, 0))
    put("other_order", data, turned, 24, note_kinds=["lenient", "lenient"])
    put("bytes_behind", one().bytes() + b"\0", one(), len(one().bytes()))
    put("name_too_long", one(name="x" * 65).bytes(), one(name="x" * 65), 24)
    long = one("i8", (1, 1, 1, 1, 2))
    put("five_dims", long.bytes(), long, 24 + 8 + 1)
    accents = File().value("é", "u32", 1)
    put("meta_name_not_ascii", accents.bytes(), accents, 24)
    empty = File().value("", "u32", 1)
    put("meta_name_empty", empty.bytes(), empty, 24)
    for alignment in (1, 2, 4):
        small = one("i8", (3,), alignment=alignment)
        put(f"alignment_{alignment}", small.bytes(), small, 24 + 8 + len("general.alignment"))
    two = one(version=2, order=">")
    put("version_2_big", two.bytes(), two, 4)
    raw = File().value("x", "text", b"\xff\0")
    show = {"format": "gguf", "metadata": {"x": common.b64(b"\xff\0"), "gguf:types": {"x": "text"}}, "tensors": []}
    common.good("gguf", "lenient_not_utf_8.gguf", raw.bytes(), show | plain, lenient=True, strict_at=24 + 9 + 4)
    turned = File(order=">").tensor("w", "f32", [1], [0.5])
    entries = turned.entry("w", "f32", [1], 0) + turned.entry("x", "Q5_0", [32], 32)
    data = turned.padded(turned.start(n_tensors=2) + entries) + turned.padded(turned.data("f32", [0.5])) + bytes(32)
    put("q5_0_big", data, turned, None, note_kinds=["skipped"])


def huge():
    common.huge("gguf", "no_cells.gguf", File().tensor("w", "f32", [2**61, 0], []).bytes(), 0)


if __name__ == "__main__":
    raise SystemExit(common.run(make))
