"""PyTorch's checkpoints, from what `torch.save` writes; PyTorch itself is not needed.

    zip      FOLDER/data.pkl, FOLDER/byteorder, FOLDER/data/KEY for each storage, FOLDER/version
    legacy   pickles of 0x1950a86a20f9469cfc6c, 1001, a dict, the object, the keys of all storages;
             for each of these its number of elements, i64, and its values

The pickles are written an opcode at a time, as `pickletools` names them:

    80 PROTO   }]) empty dict, list, tuple   K J 8a int   X text   G float   N 88 89 None True False
    c GLOBAL   R REDUCE   81 NEWOBJ   b BUILD   Q BINPERSID   ( MARK   t TUPLE   e APPENDS   u SETITEMS
    q BINPUT   h BINGET   . STOP
"""

import struct
import zlib
from typing import NamedTuple

import cells
import common
from marked import split
from zip_file import Archive

MAGIC = 0x1950A86A20F9469CFC6C

# dtype of the model: its name in PyTorch, the class of its storages.
TYPES = {
    "f64": ("float64", "DoubleStorage"), "f32": ("float32", "FloatStorage"), "f16": ("float16", "HalfStorage"),
    "bf16": ("bfloat16", "BFloat16Storage"), "i64": ("int64", "LongStorage"), "i32": ("int32", "IntStorage"),
    "i16": ("int16", "ShortStorage"), "i8": ("int8", "CharStorage"), "u8": ("uint8", "ByteStorage"),
    "bool": ("bool", "BoolStorage"), "c64": ("complex64", "ComplexFloatStorage"),
    "c128": ("complex128", "ComplexDoubleStorage"), "u16": ("uint16", None), "u32": ("uint32", None),
    "u64": ("uint64", None), "complex<f16>": ("complex32", None),
}
# Numbers that the model has no word for: their names in PyTorch and in safetensors.
OPAQUE = {
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0",
}
PARTS = {"c64": "f32", "c128": "f64", "complex<f16>": "f16"}


class Global(NamedTuple):
    module: str
    name: str


class Call(NamedTuple):
    """A function or class, its arguments, and what is added to what it makes."""

    function: Global
    args: tuple
    state: object = None
    pairs: dict = {}
    items: list = []
    new: bool = False


class Kept(NamedTuple):
    """A persistent id."""

    parts: tuple


class Raw(NamedTuple):
    """Opcodes as they are."""

    data: bytes


def call(name, *args, **more):
    module, _, name = name.rpartition(".")
    return Call(Global(module, name), args, **more)


def ordered(pairs):
    return call("collections.OrderedDict", pairs=pairs)


def whole(value):
    if 0 <= value < 256:
        return b"K" + bytes([value])
    if -(2**31) <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def opcodes(value):
    many = lambda values: b"".join(opcodes(each) for each in values)
    match value:
        case Raw(data):
            return data
        case Global(module, name):
            return b"c" + module.encode() + b"\n" + name.encode() + b"\n"
        case Kept(parts):
            return opcodes(parts) + b"Q"
        case Call(function, args, state, pairs, items, new):
            made = opcodes(function) + opcodes(args) + (b"\x81" if new else b"R")
            made += b"(" + many(x for pair in pairs.items() for x in pair) + b"u" if pairs else b""
            made += b"(" + many(items) + b"e" if items else b""
            return made + (opcodes(state) + b"b" if state is not None else b"")
        case bool():
            return b"\x88" if value else b"\x89"
        case None:
            return b"N"
        case int():
            return whole(value)
        case float():
            return b"G" + struct.pack(">d", value)
        case str():
            return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
        case bytes():
            return b"B" + struct.pack("<I", len(value)) + value
        case dict():
            inside = many(x for pair in value.items() for x in pair)
            return b"}" + (b"(" + inside + b"u" if inside else b"")
        case list():
            return b"]" + (b"(" + many(value) + b"e" if value else b"")
        case tuple():
            return b"(" + many(value) + b"t" if value else b")"
    raise TypeError(value)


def pickled(value, protocol=2):
    return b"\x80" + bytes([protocol]) + opcodes(value) + b"."


def flat(dtype, values):
    return [part for value in values for part in value] if dtype in PARTS else list(values)


def strides(shape):
    out = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        out[axis] = out[axis + 1] * shape[axis + 1]
    return out


class File:
    """Collects storages; `tensor` gives what stands in the pickle for a tensor."""

    def __init__(self, order="<"):
        self.order, self.storages = order, []

    def keep(self, data, width=1):
        """Adds the bytes of a storage; gives its key and how many elements it has."""
        self.storages.append((str(len(self.storages)), data, width))
        return self.storages[-1][0], len(data) // width

    def storage(self, dtype, values, **more):
        number = PARTS.get(dtype, dtype)
        data = cells.pack(number, flat(dtype, values), self.order)
        name, kind = TYPES[dtype]
        if kind is None:
            return self.raw_storage(data)
        width = len(data) // max(len(values), 1)
        key, count = self.keep(data, width)
        return Kept(("storage", Global("torch", kind), key, "cpu", more.pop("count", count), *more.pop("view", ())))

    def raw_storage(self, data):
        key, count = self.keep(data)
        return Kept(("storage", Global("torch.storage", "UntypedStorage"), key, "cpu", count))

    def of(self, storage, shape, stride=None, first=0, dtype="f32", metadata=()):
        """A tensor of a storage that is there."""
        place = (storage, first, tuple(shape), tuple(strides(shape) if stride is None else stride), False, ordered({}))
        name, kind = TYPES.get(dtype, (dtype, None))
        if kind is None:
            return call("torch._utils._rebuild_tensor_v3", *place, Global("torch", name), *metadata)
        return call("torch._utils._rebuild_tensor_v2", *place, *metadata)

    def tensor(self, dtype, shape, values):
        return self.of(self.storage(dtype, values), shape, dtype=dtype)

    def zip(self, root, folder="archive/", wide=False, crc=True, **more):
        """The archive; the pickle may have a fault marked in it."""
        marked = root if isinstance(root, bytes) else pickled(root)
        clean = split(marked)[0]
        said = {} if crc else {"crc": 0}
        archive = Archive()
        about = {"crc": zlib.crc32(clean), "stored": len(clean), "size": len(clean)} | said | more.pop("pickle", {})
        archive.member(folder + "data.pkl", marked, wide=wide, **about)
        order = more.pop("byteorder", {"<": b"little", ">": b"big"}[self.order])
        if order is not None:
            archive.member(folder + "byteorder", order, **said)
        for key, data, _ in self.storages:
            archive.member(f"{folder}data/{key}", data, wide=wide, **said, **more)
        return archive.member(folder + "version", b"3\n", **said).bytes()

    def legacy(self, root, protocol=1001, magic=MAGIC, keys=None, behind=b""):
        about = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
        keys = [key for key, _, _ in self.storages] if keys is None else keys
        root = root if isinstance(root, bytes) else pickled(root)
        out = pickled(magic) + pickled(protocol) + pickled(about) + root + pickled(keys)
        for _, data, width in self.storages:
            out += struct.pack("<q", len(data) // width) + data
        return out + behind


def seen(path, dtype, shape, values):
    """A dense tensor as it is shown."""
    path = [str(part) for part in path]
    tensor = {"key": path, "state": None, "name": "/".join(path), "shape": list(shape), "dims": common.dims(*shape)}
    tensor |= {"symmetries": [], "dtype": dtype, "storage": "dense"}
    number = PARTS.get(dtype, dtype)
    data = cells.shown(number, flat(dtype, values))
    return tensor | {"data": [list(pair) for pair in zip(data[::2], data[1::2])] if dtype in PARTS else data}


def show(*tensors, metadata=None, **more):
    return {"format": "torch", "metadata": metadata or {}, "tensors": [seen(*tensor) if isinstance(tensor, tuple) else tensor for tensor in tensors]} | more
