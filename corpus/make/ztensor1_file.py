"""A zTensor 1.0, 1.1 or 1.2 file, laid out as the reference libraries lay it out unless told otherwise.

    0       "ZTEN1000"
    64 ...  blobs, each at a multiple of 64, zeros before it where need be
            the index: a CBOR map
            u64 LE, the length of the index
    EOF-8   "ZTEN1000", but not in 1.0
"""

import struct

import cbor
import common
from cells import pack, shown
from marked import clean_len, split
from ztensor_file import DTYPES, dense

MAGIC = b"ZTEN1000"


def text_map(pairs):
    return cbor.mapping(*((cbor.text(key), item) for key, item in pairs.items() if item is not None))


class File:
    """Blobs and objects in the making. A method that adds an object gives the file back."""

    def __init__(self, version="1.2", attributes=None, shown_attributes=None):
        self.version, self.body, self.objects, self.shown = version, MAGIC, [], []
        self.attributes, self.metadata = attributes, shown_attributes or {}

    def place(self, blob):
        self.body += bytes(-len(self.body) % 64) + blob
        return len(self.body) - len(blob)

    def component(self, dtype, blob, /, **fields):
        """The map of a component around a blob; a field given replaces the usual one, None leaves it out."""
        usual = {} if self.version == "1.0" else {"dtype": cbor.text(dtype)}
        usual |= {"offset": cbor.integer(self.place(blob)), "length": cbor.integer(len(blob))}
        return text_map({**usual, **fields})

    def object(self, name, dtype, shape, format, components, /, **fields):
        usual = {"dtype": cbor.text(DTYPES.get(dtype, dtype))} if self.version == "1.0" else {}
        usual |= {"shape": cbor.array(*map(cbor.integer, shape)), "format": cbor.text(format),
                  "attributes": None, "components": text_map(components)}
        self.objects.append((cbor.text(name), text_map({**usual, **fields})))
        return self

    def tensor(self, name, dtype, shape, values, /, blob=None, meta=None, fields=None, **component):
        """A dense tensor; `blob` is what is stored if that is not the values as they are."""
        stored = pack(dtype, values, "<") if blob is None else blob
        self.shown.append(dense(name, dtype, shape, values, meta))
        data = self.component(dtype, stored, **component)
        return self.object(name, dtype, shape, "dense", {"data": data}, **(fields or {}))

    def sparse(self, name, dtype, shape, format, components, cells, /):
        seen = dense(name, dtype, shape, [])
        del seen["data"]
        seen.update(storage="sparse", cells=[{"at": list(at), "data": shown(dtype, [value])} for at, value in cells])
        self.shown.append(seen)
        return self.object(name, dtype, shape, format, components)

    def bytes(self, **root):
        """The whole file; `root` replaces fields of the index."""
        objects = cbor.mapping(*self.objects)
        if self.version == "1.0":
            usual = {"version": cbor.text("1.0"), "generator": cbor.text("zTensor-Rust v0.1.0"),
                     "attributes": self.attributes or cbor.mapping(), "tensors": objects}
        else:
            usual = {"version": cbor.text(self.version + ".0"), "attributes": self.attributes, "objects": objects}
        return with_index(text_map({**usual, **root}), self.body, self.version)


def with_index(index, body=MAGIC, version="1.2"):
    """`body`, the index, its length, in which a mark does not count, and what comes after."""
    after = b"" if version == "1.0" else MAGIC
    return body + index + struct.pack("<Q", clean_len(index)) + after


def good(name, file, notes=None, gaps=None, **root):
    seen = {"format": "ztensor", "metadata": file.metadata, "tensors": file.shown}
    if notes is not None:
        seen["note_kinds"] = notes
    common.good("ztensor", name + ".zt", file.bytes(**root), seen, gaps=gaps)


def refuse(name, why, marked, **more):
    data, at = split(marked)
    common.bad("ztensor", name + ".zt", data, at, why, **more)
