"""Files that are no GGUF files: corpus/gguf/bad."""

import common
from gguf_file import BLOCKS, File

VALUES = 24  # where the metadata begins


def bad(name, data, at, why, **more):
    common.bad("gguf", f"{name}.gguf", data, at, why, **more)


def make():
    frames()
    metadata()
    tensors()
    offsets()


def whole():
    file = File().value("general.name", "text", "x").value("n", ["u16"], [1, 2, 3])
    return file.tensor("w", "f32", [2, 2], [1.0, 2.0, 3.0, 4.0]).tensor("v", "i8", [3], [1, 2, 3])


def frames():
    file = whole()
    data = file.bytes()
    for length in (0, 3):
        bad(f"cut_at_{length}", data[:length], 0, "the file ends in the magic", kind="malformed")
    for length, at in ((4, 4), (7, 4), (8, 8), (15, 8), (16, 8), (23, 8)):
        bad(f"cut_at_{length}", data[:length], at, "the file ends in a count")
    values = VALUES + len(file.pairs())
    for length in (25, 40, 50, 60, values - 1):
        bad(f"cut_at_{length}", data[:length], None, "the file ends in the metadata")
    table = values + len(file.entry("w", "f32", [2, 2], 0)) + len(file.entry("v", "i8", [3], 32))
    for length in (values, values + 5, values + 20, table - 1):
        bad(f"cut_at_{length}", data[:length], None, "the file ends in the table")
    for length in (table, len(data) - 40, len(data) - 30):
        bad(f"cut_at_{length}", data[:length], None, "the file ends before the values do")
    bad("magic", b"GGML" + data[4:], 0, "another magic")
    bad("magic_big", b"FUGG" + data[4:], 0, "another magic")
    for version in (0, 1, 4, 2**31):
        bad(f"version_{version}", File(version=version).bytes(), None, "a version that nobody reads", kind="unsupported")
    bad("version_1_big", File(version=1, order=">").bytes(), None, "a version that nobody reads", kind="unsupported")
    for count in (2**64 - 1, 2**40, 100):
        bad(f"tensors_{count}", file.start(n_tensors=count) + data[VALUES:], 8, "more tensors than bytes")
        bad(f"values_{count}", file.start(n_values=count) + data[VALUES:], 16, "more values than bytes")
    bad("values_one_more", file.start(n_values=3) + data[VALUES:], None, "a tensor taken for a value", kind="limit")
    bad("values_one_less", file.start(n_values=1) + data[VALUES:], None, "a value taken for a tensor")


def metadata():
    file = File()

    def put(name, pair, at, why, **more):
        data = file.start(n_values=1) + pair
        bad(f"meta_{name}", data + bytes(64), at, why, **more)

    name = file.text("x")
    at = VALUES + len(name)
    for code in (13, 14, 255, 2**32 - 1):
        put(f"type_{code}", name + file.u32(code), at, "no such type")
        put(f"items_{code}", name + file.u32(9) + file.u32(code) + file.u64(1), at + 4, "no such type of items")
    for byte in (2, 255):
        put(f"bool_{byte}", name + file.u32(7) + bytes([byte]), at + 4, "a bool is 0 or 1")
    put("bools", name + file.u32(9) + file.u32(7) + file.u64(3) + b"\1\0\2", at + 18, "a bool is 0 or 1")
    put("name_not_utf_8", file.text(b"\xff") + file.u32(4) + file.u32(1), VALUES, "a name is text")
    put("text_not_utf_8", name + file.u32(8) + file.text(b"a\xc3"), at + 4, "a text is UTF-8", lenient_ok=True)
    for length in (2**64 - 1, 2**63, 2**40, 1000):
        kind = "limit" if length >= 2**40 else "malformed"
        put(f"name_of_{length}", file.u64(length), None, "longer than the file", kind=kind)
        put(f"text_of_{length}", name + file.u32(8) + file.u64(length), None, "longer than the file")
        for word, code in (("bytes", 0), ("doubles", 12), ("texts", 8), ("arrays", 9)):
            pair = name + file.u32(9) + file.u32(code) + file.u64(length)
            put(f"{word}_{length}", pair, at + 8, "more items than bytes")
    twice = File().value("x", "u32", 1).value("y", "u32", 1).value("x", "u32", 2)
    first = len(File().value("x", "u32", 1).pairs())
    bad("meta_name_twice", twice.bytes(), VALUES + 2 * first, "a name repeats")
    deep = b"".join(file.u32(9) + file.u64(1) for _ in range(1000))
    put("deep", name + file.u32(9) + deep, None, "nobody nests so deeply", kind="limit")
    at = VALUES + 8 + len("general.alignment")
    for number in (0, 3, 24, 33, 2**31 + 8):
        data = File().value("general.alignment", "u32", number).bytes()
        bad(f"alignment_{number}", data, at, "no power of 2")
    for kind in ("u64", "i32", "u8", "f32"):
        data = File().value("general.alignment", kind, 32).bytes()
        bad(f"alignment_{kind}", data, at, "the alignment is a u32")
    data = File().value("general.alignment", "text", "32").bytes()
    bad("alignment_text", data, at, "the alignment is a u32")


def tensors():
    file = File()

    def put(name, entry, at, why, count=1, data=bytes(64), **more):
        bad(f"tensor_{name}", file.padded(file.start(n_tensors=count) + entry) + data, at, why, **more)

    put("name_not_utf_8", file.entry(b"\xff", "f32", [1], 0), VALUES, "a name is text")
    entry = file.entry("w", "i8", [1], 0)
    put("name_twice", entry + file.entry("w", "i8", [1], 32), VALUES + len(entry), "a name repeats", count=2)
    for dtype, (_, width, _, _) in BLOCKS.items():
        put(f"row_{dtype.lower()}", file.entry("w", dtype, [width, 1], 0), VALUES, "a row is whole blocks")
    put("row_of_scalar", file.entry("w", "Q4_0", [], 0), VALUES, "a row is whole blocks")
    put("ndim_5", file.entry("w", "i8", [1] * 5, 0), VALUES + 9, "four sizes at most", lenient_ok=True)
    put("ndim_300", file.entry("w", "i8", [1] * 300, 0), None, "four sizes at most", kind="limit")
    put("ndim_of_all_ones", file.text("w") + b"\xff" * 4, None, "four sizes at most", kind="limit")
    for shape in ([2**32, 2**32], [2**63, 2], [2**62], [2**64 - 1]):
        put(f"shape_{'_'.join(map(str, shape))}", file.entry("w", "f32", shape, 0), VALUES, "more than there can be")
    for dtype, shape in (("f32", [2**61]), ("i8", [2**63]), ("Q4_0", [2**40, 2**22]), ("f32", [17]), ("i8", [65])):
        put(f"too_long_{dtype}_{shape[0]}", file.entry("w", dtype, shape, 0), VALUES, "more than the file has")


def offsets():
    file = File()
    size = len(file.entry("w", "i8", [5], 0))

    def put(name, first, second, at, why, length=64, **more):
        entries = file.entry("w", "i8", [5], first) + file.entry("v", "i8", [3], second)
        data = file.padded(file.start(n_tensors=2) + entries) + bytes(length)
        bad(f"offset_{name}", data, at, why, **more)

    put("overlap", 0, 0, VALUES + size, "two tensors at one place")
    put("inside", 0, 4, VALUES + size, "one tensor in another")
    put("of_all_ones", 0, 2**64 - 1, VALUES + size, "the offset overflows")
    put("behind", 0, 2**64 - 32, VALUES + size, "the offset overflows")
    put("past_the_end", 0, 96, VALUES + size, "behind the end", length=64)
    put("first_not_0", 32, 64, VALUES, "the first tensor is at 0", length=96, lenient_ok=True)
    start = len(file.padded(bytes(VALUES + 2 * size)))
    put("bytes_behind", 0, 32, start + 64, "bytes of no tensor", length=65, lenient_ok=True)


if __name__ == "__main__":
    raise SystemExit(common.run(make))
