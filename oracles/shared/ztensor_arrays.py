"""Arrays that every oracle of zTensor writes and reads, and how tenfold has to show them."""

import json

import ml_dtypes
import numpy

from shared import same_number, shown, tenfold

NAMES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "bool"}
NAMES |= {f"{kind}int{bits}": f"{kind or 'i'}{bits}" for kind in ("", "u") for bits in (8, 16, 32, 64)}

def tensors():
    """Every type in several shapes, with all the bit patterns that tend to get lost."""
    random = numpy.random.default_rng(7)
    found = {}
    for name in NAMES:
        dtype = numpy.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
        for shape in [(1,), (5,), (2, 3), (3, 1, 4), (2, 0, 3), (40, 50)]:
            count = int(numpy.prod(shape))
            raw = random.integers(0, 256, count * dtype.itemsize, dtype=numpy.uint8)
            if name == "bool":
                raw &= 1
            array = raw.view(dtype).reshape(shape)
            found[f"{name} {'x'.join(map(str, shape))}"] = array
    for name, bits in {"f32": numpy.uint32, "f64": numpy.uint64, "f16": numpy.uint16}.items():
        size = numpy.dtype(bits).itemsize
        special = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan]
        found[f"special {name}"] = numpy.array(special, dtype=f"f{size}")
    found["名前/with.dots@and\\more"] = numpy.arange(3, dtype="int16")
    found["large"] = random.standard_normal((700, 900)).astype("float32")
    return found


def check_reading(path, arrays, in_order=True):
    """tenfold reads what a reference wrote; later generations sort names."""
    tenfold("verify", path)
    seen = json.loads(tenfold("show", "--json", path))
    found = {tensor["name"]: tensor for tensor in seen["tensors"]}
    assert list(found) == list(arrays) if in_order else sorted(found) == sorted(arrays), "names"
    for name, array in arrays.items():
        tensor = found[name]
        assert tensor["dtype"] == NAMES[str(array.dtype)], name
        assert tuple(tensor["shape"]) == array.shape, name
        wanted = [shown(value, array.dtype.kind) for value in array.ravel()]
        pairs = zip(tensor["data"], wanted, strict=True)
        assert all(same_number(found, value, array.dtype) for found, value in pairs), name


def check_migration(path, arrays):
    """What an older generation has becomes version 2 with the same bits."""
    new = path + ".new.zt"
    tenfold("convert", path, new, "--to", "ztensor@2", "--opt", "align=4096")
    with open(new, "rb") as file:
        assert file.read(4) == b"\x89ZT2", "the version"
    check_reading(new, arrays, in_order=False)


def check_cells(path, names, cells):
    """Sparse tensors have these cells."""
    seen = json.loads(tenfold("show", "--json", path))
    for tensor in seen["tensors"]:
        if tensor["name"] in names:
            found = {tuple(cell["at"]): cell["data"][0] for cell in tensor["cells"]}
            assert found == cells, tensor["name"]
