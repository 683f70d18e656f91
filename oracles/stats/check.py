"""Compares the statistics of tenfold with NumPy's, over small arrays and over such as take several passes."""

import json
import os
import sys
import tempfile

import numpy

from shared import tenfold

PERCENTS = [1, 5, 25, 50, 75, 95, 99]


def arrays():
    random = numpy.random.default_rng(7)
    for kind in ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
        for shape in [(1,), (7,), (20, 30), (700_001,)]:
            raw = random.integers(0, 256, int(numpy.prod(shape)) * numpy.dtype(kind).itemsize, dtype=numpy.uint8)
            if kind == "b1":
                raw &= 1
            if numpy.dtype(kind).kind in "fc":
                # Half of the exponents, so that squares stay within what NumPy can add.
                width = numpy.dtype(kind).itemsize // (2 if kind[0] == "c" else 1)
                raw.reshape(-1, width)[:, -1] &= 0xBF
            yield raw.view("<" + kind).reshape(shape)
    yield random.standard_normal(1_500_000).astype("<f4")
    yield random.standard_normal((1000, 800))
    yield (1 + random.integers(0, 5000, 700_000) * 2.0**-52).reshape(700, 1000)
    yield numpy.repeat(numpy.float32([0, 0, 0, 1.5]), 300_000)
    with_odd = random.standard_normal(600_000).astype(">f4")
    with_odd[::1000], with_odd[7::5000], with_odd[9::7000] = numpy.nan, numpy.inf, -numpy.inf
    yield with_odd
    yield numpy.float64([numpy.finfo(float).max] * 3)
    yield numpy.float32([numpy.nan, numpy.inf])


def near(found, wanted, allowed):
    assert abs(found - wanted) <= allowed, (found, wanted, allowed)


def check(path, array):
    numpy.save(path, array)
    (tensor,) = json.loads(tenfold("stats", "--json", path))["tensors"]
    stats, values = tensor["stats"], array.ravel()
    if array.dtype.kind == "c":
        values = abs(values.astype(complex))
    assert stats["of"] == ("moduli" if array.dtype.kind == "c" else "values")
    is_float = values.dtype.kind == "f"
    if is_float:
        counts = [numpy.isnan(values).sum(), numpy.isposinf(values).sum(), numpy.isneginf(values).sum()]
        assert [stats["nan"], stats["positive_infinite"], stats["negative_infinite"]] == counts
        values = values[numpy.isfinite(values)]
    assert stats["cells"] == array.size
    assert stats["zeros"] == (values == 0).sum()
    assert stats["negative"] == (values < 0).sum()
    if values.size == 0:
        assert stats["finite"] is None
        return
    finite = stats["finite"]
    for name, wanted in [("min", values.min()), ("max", values.max())]:
        if array.dtype.kind == "c":
            near(finite[name], wanted, 1e-15 * wanted)
        else:
            # A decimal of the right width reads back to the same bits.
            assert values.dtype.type(finite[name]) == wanted, (finite[name], wanted)
    unit = max(abs(float(values.min())), abs(float(values.max())), 1e-300)
    scaled = values.astype(numpy.float64) / unit
    near(finite["mean"] / unit, scaled.mean(), 1e-12 * abs(scaled).mean())
    near(finite["std"] / unit, scaled.std(), 1e-12 * scaled.std() + 1e-15 * abs(scaled).mean())
    norm = numpy.sqrt((scaled**2).sum())
    if norm * unit < numpy.finfo(float).max:
        near(finite["norm"] / unit, norm, 1e-12 * norm)
    wanted = numpy.quantile(values.astype(numpy.float64), [percent / 100 for percent in PERCENTS])
    for quantile, percent, value in zip(finite["quantiles"], PERCENTS, wanted, strict=True):
        assert quantile["percent"] == percent
        near(quantile["value"], value, 1e-12 * unit)


def main():
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for array in arrays():
            try:
                check(os.path.join(folder, "array.npy"), array)
            except AssertionError:
                print("at fault:", array.dtype.str, array.shape, file=sys.stderr)
                raise
            count += 1
    print(f"{count} arrays have the statistics that NumPy says")


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    sys.exit(main())
