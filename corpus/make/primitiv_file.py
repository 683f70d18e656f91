"""A primitiv file, written out and as it must be shown."""

import math
from itertools import product

import common
from cells import pack, shown
from marked import split
from messagepack import array, binary, f32, mapping, string, u32

TYPES = {"shape": 0x000, "tensor": 0x100, "parameter": 0x200, "model": 0x300, "optimizer": 0x400}
EXTENSIONS = {"shape": "shape", "tensor": "tensor", "parameter": "param", "model": "model", "optimizer": "optimizer"}


class Tensor:
    """`stored` are the values as they stand in the file: first index fastest, the batch slowest."""

    def __init__(self, dims, stored, batch=1):
        assert len(stored) == math.prod(dims) * batch
        self.dims, self.stored, self.batch = dims, stored, batch

    def data(self):
        return pack("f32", self.stored, "<")

    def shown_dims(self):
        """Trailing ones are dropped; a batch becomes a last dimension of that name."""
        sizes = without_trailing_ones(self.dims)
        return common.dims(*sizes) + ([{"name": "batch", "size": self.batch}] if self.batch > 1 else [])


def header(data_type):
    return u32(0) + u32(1) + u32(TYPES[data_type])


def shape(dims, batch=1):
    return array([u32(size) for size in dims]) + u32(batch)


def tensor(value):
    return shape(value.dims, value.batch) + binary(value.data())


def parameter(value, stats=()):
    return tensor(value) + u32(len(stats)) + b"".join(string(name) + tensor(stat) for name, stat in stats)


def entry(key, value, stats=()):
    """One parameter of a model, under its path."""
    return array([string(segment) for segment in key]) + parameter(value, stats)


def model(*entries):
    return u32(len(entries)) + b"".join(entries)


def optimizer(uints, floats, form=None):
    return (mapping([(string(key), u32(value)) for key, value in uints.items()], form)
            + mapping([(string(key), f32(value)) for key, value in floats.items()], form))


def file(name, data_type, body, tensors=(), **more):
    """A readable file: `tensors` are (key, state, value) as `show` must list them."""
    whole(name, data_type, header(data_type) + body, tensors, **more)


def lenient(name, data_type, body, tensors=(), meta=None):
    """A file that only a lenient read accepts, with a note; the mark is where a strict one stops."""
    whole(name, data_type, header(data_type) + body, tensors, meta, lenient=True, notes=["lenient"])


def whole(name, data_type, marked, tensors=(), meta=None, notes=None, canonical=False, lenient=False):
    data, at = split(marked)
    meta = {"primitiv:type": data_type, **(meta or {})}
    seen = {"format": "primitiv", "metadata": meta, "tensors": [show(*each) for each in tensors]}
    if notes is not None:
        seen["note_kinds"] = notes
    name = f"{name}.{EXTENSIONS[data_type]}"
    common.good("primitiv", name, data, seen, lenient=lenient, canonical=canonical, strict_at=at)


def refuse(name, why, data_type, body, **more):
    """A file that is refused where it is marked."""
    refuse_whole(name, why, data_type, header(data_type) + body, **more)


def refuse_whole(name, why, data_type, marked, **more):
    data, at = split(marked)
    common.bad("primitiv", f"{name}.{EXTENSIONS[data_type]}", data, at, why, **more)


def configs(uints, floats):
    """An optimizer as metadata: it has no tensors."""
    return {"primitiv:uint_configs": uints, "primitiv:float_configs": floats}


def show(key, state, value):
    dims = value.shown_dims()
    sizes = [dim["size"] for dim in dims]
    values = shown("f32", row_major(sizes, value.stored))
    return {"key": key, "state": state, "name": written(key, state), "dtype": "f32", "shape": sizes, "dims": dims,
            "storage": "dense", "symmetries": [], "metadata": {}, "data": values}


def written(key, state):
    """A path as one name: segments joined by "/", and what could be mistaken within one escaped."""
    segments = ["".join("\\" + char if char in "\\/@" else char for char in segment) for segment in key]
    return "/".join(segments) + (f"@{state}" if state is not None else "")


def row_major(sizes, stored):
    """The values of a column-major array in row-major order."""
    strides = [math.prod(sizes[:axis]) for axis in range(len(sizes))]
    return [stored[sum(map(int.__mul__, index, strides))] for index in product(*map(range, sizes))]


assert row_major([2, 3], [11, 21, 12, 22, 13, 23]) == [11, 12, 13, 21, 22, 23]


def without_trailing_ones(dims):
    while dims and dims[-1] == 1:
        dims = dims[:-1]
    return list(dims)
