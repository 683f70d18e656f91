"""Cells of a tensor, as bytes in a file and as `show --json` prints them."""

import struct

import common

# A bool is one byte, and any byte may stand there. bf16 is the upper half of an f32.
CODES = {
    "bool": "B", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
    "f16": "e", "bf16": "f", "f32": "f", "f64": "d",
}


def pack(dtype, values, order):
    """`values` as bytes; `order` is "<" or ">"."""
    if dtype == "bf16":
        return b"".join(_bf16(value, order) for value in values)
    return struct.pack(f"{order}{len(values)}{CODES[dtype]}", *values)


def shown(dtype, values):
    """`values` as they read back at the width of `dtype`."""
    if dtype == "bool":
        return [value != 0 for value in values]
    if dtype[0] in "ui":
        return list(values)
    code = "<" + CODES[dtype]
    return [common.real(struct.unpack(code, struct.pack(code, value))[0]) for value in values]


def _bf16(value, order):
    single = struct.pack(">f", value)
    assert single[2:] == b"\0\0", f"{value} has no exact bf16"
    return single[:2] if order == ">" else single[1::-1]
