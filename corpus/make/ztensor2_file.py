"""A zTensor 2 file, laid out as the reference library lays it out unless told otherwise.

    0        89 5A 54 32 0D 0A 1A 0A
    align    blobs, each at a multiple of the alignment, zeros before it where need be
             the description: a map in deterministic CBOR, aligned as a blob
    EOF-40   u64 offset, u64 length, u64 XXH3 of the description, u32 version, u32 reserved, the first 8 bytes
"""

import struct

import cbor
import common
from cells import pack, shown
from marked import clean_len, split
from xxh3 import xxh3
from ztensor_file import dense

MAGIC = b"\x89ZT2\r\n\x1a\n"
STORED = {"bool": ("u8", "bool")}


def ordered(pairs):
    """A map whose keys are in the order of their encoding."""
    items = [(cbor.text(key), item) for key, item in pairs.items() if item is not None]
    return cbor.mapping(*sorted(items))


def digest(blob):
    return cbor.text(f"xxh3:{xxh3(blob):016x}")


class File:
    """Blobs and objects in the making. A method that adds an object gives the file back."""

    def __init__(self, align=4096, attributes=None, metadata=None):
        self.align, self.body, self.objects, self.shown = align, MAGIC, {}, []
        self.attributes, self.metadata = attributes, metadata or {}

    def next(self):
        return len(self.body) + -len(self.body) % self.align

    def part(self, dtype, blob, /, at=None, decoded=None, **fields):
        """The map of a part around a blob; a field given replaces the usual one, None leaves it out."""
        dtype, kind = STORED.get(dtype, (dtype, None))
        if at is None:
            at = self.next()
            self.body += bytes(at - len(self.body)) + blob if blob else b""
        usual = {"dtype": cbor.text(dtype), "type": cbor.text(kind) if kind else None,
                 "blob": cbor.array(cbor.integer(at), cbor.integer(len(blob))),
                 "digest": digest(blob if decoded is None else decoded)}
        if decoded is not None:
            usual |= {"encoding": cbor.text("zt.zstd-seekable/1"), "decoded_length": cbor.integer(len(decoded))}
        return ordered({**usual, **fields})

    def object(self, name, shape, layout, parts, /, **fields):
        usual = {"shape": cbor.array(*map(cbor.integer, shape)), "layout": cbor.text(layout), "parts": ordered(parts)}
        self.objects[name] = ordered({**usual, **fields})
        return self

    def tensor(self, name, dtype, shape, values, /, meta=None, fields=None, **part):
        self.shown.append(dense(name, dtype, shape, values, meta))
        data = self.part(dtype, pack(dtype, values, "<"), **part)
        return self.object(name, shape, "dense", {"data": data}, **(fields or {}))

    def sparse(self, name, dtype, shape, layout, parts, cells, /):
        seen = dense(name, dtype, shape, [])
        del seen["data"]
        seen.update(storage="sparse", cells=[{"at": list(at), "data": shown(dtype, [value])} for at, value in cells])
        self.shown.append(seen)
        return self.object(name, shape, layout, parts)

    def bytes(self, **root):
        usual = {"objects": ordered(self.objects), "attributes": self.attributes}
        return described(ordered({**usual, **root}), self.body, self.align)


def described(manifest, body=MAGIC, align=4096):
    """`body`, the description, in which a mark does not count, and the footer."""
    at = len(body) + -len(body) % align
    return body + bytes(at - len(body)) + manifest + footer(at, split(manifest)[0])


def footer(at, manifest, version=2, reserved=0, end=MAGIC, size=None, hash=None):
    size = clean_len(manifest) if size is None else size
    hash = xxh3(manifest) if hash is None else hash
    return struct.pack("<QQQII", at, size, hash, version, reserved) + end


def good(name, file, canonical=False, notes=None, gaps=None, **root):
    seen = {"format": "ztensor", "metadata": file.metadata, "tensors": file.shown}
    if notes is not None:
        seen["note_kinds"] = notes
    common.good("ztensor", name + ".zt", file.bytes(**root), seen, canonical=canonical, gaps=gaps)


def refuse(name, why, marked, **more):
    data, at = split(marked)
    common.bad("ztensor", name + ".zt", data, at, why, **more)
