"""A zTensor 0.1 file, laid out as the reference library lays it out unless told otherwise.

    0       "ZTEN0001"
    64 ...  blobs, each at a multiple of 64, zeros before it where need be
            the index: a CBOR array of one map a tensor
    EOF-8   u64 LE, the length of the index
"""

import hashlib
import math
import struct

import cbor
import common
from cells import CODES, pack, shown
from marked import clean_len, split

MAGIC = b"ZTEN0001"
DTYPES = {
    "bool": "bool", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
}


class File:
    """Blobs and index entries in the making. A method that adds a tensor gives the file back.

    What a tensor is comes by position; keywords are fields of its entry, as CBOR items.
    """

    def __init__(self):
        self.body, self.entries, self.shown = MAGIC, [], []

    def tensor(self, name, dtype, shape, values, /, order="<", checked_by=None, custom=None, **fields):
        """A dense tensor stored raw. `checked_by` makes its checksum; `custom` is {key: (item, shown)}."""
        blob = pack(dtype, values, order)
        usual = {}
        if struct.calcsize(CODES[dtype]) > 1:
            usual["data_endianness"] = cbor.text("little" if order == "<" else "big")
        if checked_by:
            usual["checksum"] = cbor.text(checked_by(blob))
        custom = custom or {}
        usual.update((key, item) for key, (item, _) in custom.items())
        meta = {key: seen for key, (_, seen) in custom.items() if seen is not UNSHOWN}
        self.shown.append(dense(name, dtype, shape, values, meta))
        return self.entry(name, dtype, shape, blob, **{**usual, **fields})

    def zstd(self, name, dtype, shape, values, blob, /, **fields):
        """A dense tensor whose blob is compressed. Its numbers are little-endian, and no field says so."""
        self.shown.append(dense(name, dtype, shape, values))
        return self.entry(name, dtype, shape, blob, encoding=cbor.text("zstd"), **fields)

    def sparse(self, name, dtype, shape, layout, blob, cells):
        """A tensor of (index, value) cells in a layout of its own."""
        seen = dense(name, dtype, shape, [])
        del seen["data"]
        seen.update(storage="sparse", cells=[{"at": list(at), "data": shown(dtype, [value])} for at, value in cells])
        self.shown.append(seen)
        return self.entry(name, dtype, shape, blob, layout=cbor.text(layout))

    def entry(self, name, dtype, shape, blob, /, at=None, **fields):
        """Places `blob` (or points to `at`) and lists it. A field given replaces the usual one; None leaves it out."""
        at = self.place(blob) if at is None else at
        usual = {
            "name": cbor.text(name),
            "offset": cbor.integer(at),
            "size": cbor.integer(len(blob)),
            "dtype": cbor.text(DTYPES.get(dtype, dtype)),
            "layout": cbor.text("dense"),
            "shape": cbor.array(*map(cbor.integer, shape)),
            "encoding": cbor.text("raw"),
        }
        usual.update(fields)
        self.entries.append([(cbor.text(key), item) for key, item in usual.items() if item is not None])
        return self

    def place(self, blob, padding=b"\0"):
        """Puts `blob` at the next multiple of 64 and says where that is."""
        self.body += padding * (-len(self.body) % 64)
        self.body += blob
        return len(self.body) - len(blob)

    def bytes(self, root=cbor.array, each=cbor.open_mapping, padding=b""):
        """The whole file. The reference writes every map with an open end, so that is the usual form."""
        index = root(*(each(*entry) for entry in self.entries))
        return with_index(index, self.body + padding)


def with_index(index, body=MAGIC):
    """`body`, the index, and its length, in which a mark does not count."""
    return body + index + struct.pack("<Q", clean_len(index))


UNSHOWN = object()  # a custom field whose shown form is not laid down


def dense(name, dtype, shape, values, meta=None):
    dims = common.dims(*shape)
    return {"key": [name], "state": None, "name": name, "dtype": dtype, "shape": list(shape), "dims": dims,
            "storage": "dense", "symmetries": [], "metadata": meta or {}, "data": shown(dtype, values)}


def opaque(name, dtype, shape, layout, blob):
    dims = common.dims(*shape)
    return {"key": [name], "state": None, "name": name, "dtype": dtype, "shape": list(shape), "dims": dims,
            "storage": "opaque", "symmetries": [], "metadata": {}, "layout": layout,
            "parts": [{"name": "data", "dtype": "u8", "data": list(blob)}]}


def good(name, file, canonical=False, notes=None, gaps=None, **form):
    """A readable file; `form` says how its index is spelt."""
    seen = {"format": "ztensor", "metadata": {}, "tensors": file.shown}
    if notes is not None:
        seen["note_kinds"] = notes
    common.good("ztensor", name + ".zt", file.bytes(**form), seen, canonical=canonical, gaps=gaps)


def refuse(name, why, marked, **more):
    """A file that is refused where it is marked."""
    data, at = split(marked)
    common.bad("ztensor", name + ".zt", data, at, why, **more)


def crc32c(data):
    """The CRC of Castagnoli, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def crc(blob):
    """A checksum as the reference writes it."""
    return f"crc32c:0x{crc32c(blob):08X}"


def sha256(blob):
    return "sha256:" + hashlib.sha256(blob).hexdigest()


def ramp(shape):
    """0, 1, 2, … for every cell of `shape`."""
    return list(range(math.prod(shape)))
