"""safetensors, from the section "Format" of its documentation.

    0       length of the header, u64 little-endian
    8       header: a JSON object in UTF-8 that begins with "{", padded with spaces
            {"NAME": {"dtype": ..., "shape": [...], "data_offsets": [begin, end]}, ..., "__metadata__": {...}}
    8 + n   values of all tensors, little-endian, row-major, without holes

The reference writes tensors by type, in the order of `ORDER` from its end, then by name, `__metadata__`
first, nothing between the tokens, and pads the header to a multiple of 8.
"""

import json
import struct

import cells
import common

# dtype of the file: dtype of the model, None where it has no word for it; bits.
TYPES = {
    "BOOL": ("bool", 8), "F4": (None, 4), "F6_E2M3": (None, 6), "F6_E3M2": (None, 6), "U8": ("u8", 8),
    "I8": ("i8", 8), "F8_E5M2": (None, 8), "F8_E4M3": (None, 8), "F8_E8M0": (None, 8), "F8_E4M3FNUZ": (None, 8),
    "F8_E5M2FNUZ": (None, 8), "I16": ("i16", 16), "U16": ("u16", 16), "F16": ("f16", 16), "BF16": ("bf16", 16),
    "I32": ("i32", 32), "U32": ("u32", 32), "F32": ("f32", 32), "C64": ("c64", 64), "F64": ("f64", 64),
    "I64": ("i64", 64), "U64": ("u64", 64),
}
ORDER = list(TYPES)
OPAQUE = [name for name, (dtype, _) in TYPES.items() if dtype is None]


def number(dtype):
    return "f32" if dtype == "C64" else TYPES[dtype][0]


def compact(value):
    """JSON as the reference writes it: nothing between tokens, only ASCII control characters escaped."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def framed(text, data=b"", align=8):
    """A file of a header and its data."""
    text = text.encode() if isinstance(text, str) else text
    text += b" " * (-len(text) % align)
    return struct.pack("<Q", len(text)) + text + data


class File:
    """Collects tensors; values are row-major, complex ones (real, imaginary), opaque ones bytes."""

    def __init__(self, metadata=None):
        self.metadata, self.tensors = metadata, []

    def tensor(self, name, dtype, shape, values):
        if TYPES[dtype][0] is None:
            data = bytes(values)
        else:
            flat = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
            data = cells.pack(number(dtype), flat, "<")
        self.tensors.append((name, dtype, list(shape), values, data))
        return self

    def in_order(self):
        """As the reference writes them."""
        self.tensors.sort(key=lambda tensor: (-ORDER.index(tensor[1]), tensor[0].encode()))
        return self

    def object(self):
        """The header as an object."""
        header, offset = {}, 0
        if self.metadata is not None:
            header["__metadata__"] = self.metadata
        for name, dtype, shape, _, data in self.tensors:
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
            offset += len(data)
        return header

    def data(self):
        return b"".join(tensor[4] for tensor in self.tensors)

    def bytes(self):
        return framed(compact(self.object()), self.data())

    def show(self, **more):
        tensors = [shown(*tensor) for tensor in self.tensors]
        return {"format": "safetensors", "metadata": self.metadata or {}, "tensors": tensors} | more


def shown(name, dtype, shape, values, data):
    tensor = {"key": [name], "state": None, "name": name, "shape": shape, "dims": common.dims(*shape)}
    tensor |= {"symmetries": [], "dtype": TYPES[dtype][0] or "u8"}
    if TYPES[dtype][0] is None:
        part = {"name": "data", "dtype": "u8", "data": list(data)}
        return tensor | {"storage": "opaque", "layout": dtype, "parts": [part]}
    if dtype == "C64":
        flat = cells.shown("f32", [part for value in values for part in value])
        return tensor | {"storage": "dense", "data": [list(pair) for pair in zip(flat[::2], flat[1::2])]}
    return tensor | {"storage": "dense", "data": cells.shown(number(dtype), values)}
