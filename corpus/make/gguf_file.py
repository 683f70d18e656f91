"""GGUF, from `docs/gguf.md` of ggml.

    0   "GGUF"
    4   version, u32
    8   number of tensors, u64
    16  number of values of metadata, u64
    24  values: name, type (u32), value
        tensors: name, number of sizes (u32), sizes (u64, the fastest first), type (u32), offset (u64)
        zeros up to a multiple of the alignment
        the values of all tensors, each followed by zeros up to a multiple of the alignment

A text is its length (u64) and its bytes; an array is the type of its items (u32), their number (u64) and
the items. A file is little-endian or, from version 3 on, big-endian throughout.
"""

import math
import struct

import cells
import common

KINDS = {"u8": 0, "i8": 1, "u16": 2, "i16": 3, "u32": 4, "i32": 5, "f32": 6, "bool": 7, "text": 8, "u64": 10,
         "i64": 11, "f64": 12}
ARRAY = 9
CODES = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "f32": "f", "bool": "B", "u64": "Q",
         "i64": "q", "f64": "d"}
PLAIN = {"f32": 0, "f16": 1, "i8": 24, "i16": 25, "i32": 26, "i64": 27, "f64": 28, "bf16": 30}
# type: number, cells a block, bytes a block, where its 16-bit numbers begin (None: no big-endian form is known).
BLOCKS = {
    "Q4_0": (2, 32, 18, [0]), "Q4_1": (3, 32, 20, [0, 2]), "Q5_0": (6, 32, 22, None), "Q5_1": (7, 32, 24, None),
    "Q8_0": (8, 32, 34, [0]), "Q8_1": (9, 32, 40, None), "Q2_K": (10, 256, 84, [80, 82]),
    "Q3_K": (11, 256, 110, [108]), "Q4_K": (12, 256, 144, [0, 2]), "Q5_K": (13, 256, 176, [0, 2]),
    "Q6_K": (14, 256, 210, [208]), "Q8_K": (15, 256, 292, None), "IQ2_XXS": (16, 256, 66, None),
    "IQ2_XS": (17, 256, 74, None), "IQ3_XXS": (18, 256, 98, None), "IQ1_S": (19, 256, 50, None),
    "IQ4_NL": (20, 32, 18, [0]), "IQ3_S": (21, 256, 110, None), "IQ2_S": (22, 256, 82, None),
    "IQ4_XS": (23, 256, 136, None), "IQ1_M": (29, 256, 56, None), "TQ1_0": (34, 256, 54, [52]),
    "TQ2_0": (35, 256, 66, [64]), "MXFP4": (39, 32, 17, []), "NVFP4": (40, 64, 36, []), "Q1_0": (41, 128, 18, None),
}


def default_kind(kind, value):
    """The type that a value of this type would get if nobody had said."""
    if isinstance(kind, list):
        items = kind[0]
        if isinstance(items, list):
            return [default_kind(items, item) for item in value][:1] if value else ["i32"]
        if not value:
            return ["i32"]
        return [pick(("i32", "u32", "i64", "u64"), value) if items[0] in "ui" else items]
    return pick(("u32", "i32", "u64", "i64"), [value]) if kind[0] in "ui" else kind


def pick(kinds, values):
    for kind in kinds:
        bits = int(kind[1:])
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if kind[0] == "i" else (0, 2**bits)
        if all(low <= value < high for value in values):
            return kind


def word(kind):
    return "[" + word(kind[0]) if isinstance(kind, list) else kind


class File:
    """Collects metadata and tensors; a type of metadata is a word, or a list of one for an array."""

    def __init__(self, version=3, order="<", alignment=None):
        self.version, self.order, self.alignment = version, order, alignment or 32
        self.metadata, self.tensors = [], []
        if alignment:
            self.value("general.alignment", "u32", alignment)

    def value(self, name, kind, value):
        self.metadata.append((name, kind, value))
        return self

    def tensor(self, name, dtype, shape, values):
        """Values are row-major numbers, or the bytes of blocks in the little-endian form."""
        self.tensors.append((name, dtype, list(shape), values))
        return self

    def u32(self, number):
        return struct.pack(self.order + "I", number)

    def u64(self, number):
        return struct.pack(self.order + "Q", number)

    def text(self, text):
        text = text if isinstance(text, bytes) else text.encode()
        return self.u64(len(text)) + text

    def packed(self, kind, value):
        if isinstance(kind, list):
            return self.u32(code(kind[0])) + self.u64(len(value)) + b"".join(self.packed(kind[0], v) for v in value)
        return self.text(value) if kind == "text" else struct.pack(self.order + CODES[kind], value)

    def data(self, dtype, values):
        if dtype in PLAIN:
            return cells.pack(dtype, values, self.order)
        data = bytearray(values)
        _, _, width, halves = BLOCKS[dtype]
        if self.order == ">":
            for block in range(0, len(data), width):
                for at in halves:
                    data[block + at:block + at + 2] = data[block + at:block + at + 2][::-1]
        return bytes(data)

    def start(self, n_tensors=None, n_values=None):
        n_tensors = len(self.tensors) if n_tensors is None else n_tensors
        n_values = len(self.metadata) if n_values is None else n_values
        return b"GGUF" + self.u32(self.version) + self.u64(n_tensors) + self.u64(n_values)

    def pairs(self):
        return b"".join(self.text(name) + self.u32(code(kind)) + self.packed(kind, value)
                        for name, kind, value in self.metadata)

    def entry(self, name, dtype, shape, offset):
        number = dtype if isinstance(dtype, int) else PLAIN[dtype] if dtype in PLAIN else BLOCKS[dtype][0]
        sizes = b"".join(map(self.u64, reversed(shape)))
        return self.text(name) + self.u32(len(shape)) + sizes + self.u32(number) + self.u64(offset)

    def padded(self, data):
        return data + bytes(-len(data) % self.alignment)

    def bytes(self):
        table, data = b"", b""
        for name, dtype, shape, values in self.tensors:
            table += self.entry(name, dtype, shape, len(data))
            data = self.padded(data + self.data(dtype, values))
        return self.padded(self.start() + self.pairs() + table) + data

    def show(self, **more):
        metadata = {name: shown_value(kind, value) for name, kind, value in self.metadata}
        if self.order == ">":
            metadata["gguf:endian"] = "big"
        if self.version != 3:
            metadata["gguf:version"] = self.version
        odd = {name: word(kind) for name, kind, value in self.metadata if kind != default_kind(kind, value)}
        if odd:
            metadata["gguf:types"] = odd
        return {"format": "gguf", "metadata": metadata, "tensors": [shown(*tensor) for tensor in self.tensors]} | more


def code(kind):
    return ARRAY if isinstance(kind, list) else KINDS[kind]


def shown_value(kind, value):
    if isinstance(kind, list):
        return [shown_value(kind[0], item) for item in value]
    if kind == "f32":
        return cells.shown("f32", [value])[0]
    if kind == "f64":
        return common.real(value)
    return bool(value) if kind == "bool" else value


def shown(name, dtype, shape, values):
    tensor = {"key": [name], "state": None, "name": name, "shape": shape, "dims": common.dims(*shape)}
    tensor["symmetries"] = []
    if dtype in PLAIN:
        return tensor | {"dtype": dtype, "storage": "dense", "data": cells.shown(dtype, values)}
    part = {"name": "data", "dtype": "u8", "data": list(values)}
    return tensor | {"dtype": "u8", "storage": "opaque", "layout": dtype, "parts": [part]}


def some(dtype, shape):
    """As many exact, repeatable values as a shape needs."""
    stream = common.lcg(seed=17)
    count = math.prod(shape)
    if dtype in BLOCKS:
        _, width, length, _ = BLOCKS[dtype]
        return bytes(next(stream) >> 24 for _ in range(count // width * length))
    if dtype[0] in "fb":
        return [(next(stream) >> 25) / 8 - 8 for _ in range(count)]
    bits = int(dtype[1:])
    return [(next(stream) << 32 | next(stream)) % 2**bits - 2 ** (bits - 1) for _ in range(count)]
