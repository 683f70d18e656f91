"""Compares tenfold with a reader and a writer of cc4s' files that are made of PyYAML and NumPy alone.

cc4s itself is no package. What is written here as its manual says (binary and text, complex and real, sets, blocks)
tenfold turns into the same arrays; what tenfold writes is read here to the same bits.
"""

import itertools
import tempfile
from pathlib import Path

import numpy
import yaml

from shared import tenfold

SHAPES = [(), (1,), (7,), (3, 4), (16, 4, 4), (2, 0, 3), (2, 3, 2, 2)]
TYPES = ["AuxiliaryField", "State", "Momentum", "a: b", "yes", "12"]


def numbers(source, kind, shape):
    """Random bits: every exponent, infinities and NaNs too."""
    count = int(numpy.prod(shape)) * numpy.dtype(kind).itemsize
    return source.integers(0, 256, count, dtype=numpy.uint8).view(kind).reshape(shape, order="F").copy()


def plain(source, kind, shape):
    """Random finite numbers, for text."""
    values = source.normal(size=shape) * 10.0 ** source.integers(-300, 300, size=shape)
    return values + 1j * source.normal(size=shape) if kind == "c16" else values


def bits(values):
    """The bits of an array."""
    return values.dtype, values.shape, values.tobytes(order="F")


def spelled(value):
    if isinstance(value, complex):
        return f"({value.real:.17g},{value.imag:.17g})"
    return f"{value:.17g}"


def elements(values, is_binary):
    if is_binary:
        return values.tobytes(order="F")
    return "".join(spelled(value) + "\n" for value in values.ravel(order="F").tolist()).encode()


def parsed(data, dtype, is_binary):
    """The elements of a file, in its order."""
    if is_binary:
        return numpy.frombuffer(data, dtype)
    words = data.decode().split()
    if dtype.kind != "c":
        return numpy.array([float(word) for word in words], dtype)
    pairs = [word.strip("()").split(",") for word in words]
    parts = numpy.array([[float(part) for part in pair] for pair in pairs]).reshape(-1, 2)
    return parts.view(dtype).ravel()


def description(values, types, is_binary, is_map, unit=1.0):
    dims = [{"length": length} | ({"type": word} if word else {}) for length, word in zip(values.shape, types)]
    return {
        "version": 100, "type": "Tensor", "scalarType": "Complex64" if values.dtype.kind == "c" else "Real64",
        "dimensions": dict(enumerate(dims)) if is_map else dims,
        "elements": {"type": "IeeeBinaryFile" if is_binary else "TextFile"}, "unit": unit,
    }


def read(about, path, ending=""):
    """The array that a description and its file of elements give."""
    assert about["version"] == 100 and about["type"] == "Tensor"
    dtype = numpy.dtype({"Real64": "f8", "Complex64": "c16"}[about["scalarType"]])
    dims = about["dimensions"]
    shape = [dim["length"] for dim in dims]
    is_binary = about["elements"]["type"] == "IeeeBinaryFile"
    found = parsed((path.parent / f"{path.stem}{ending}.elements").read_bytes(), dtype, is_binary)
    if "nonZeroCondition" not in about:
        return found.reshape(shape, order="F")
    values = numpy.zeros(shape, dtype)
    cells = list(blocks(about, path.parent))
    assert len(cells) == len(found)
    for at, value in zip(cells, found):
        values[at] = value
    return values


def blocks(about, folder):
    """The indices of the cells that are there, in the order of the file: by trying all cells for every block."""
    dims, conditions = about["dimensions"], about["nonZeroCondition"]["all"]
    properties = {}
    for dim in dims:
        path = folder / f"{dim.get('type')}.yaml"
        if path.is_file():
            properties[dim["type"]] = yaml.safe_load(path.read_text())["propertyIndices"]

    def fits(at, condition, values):
        wanted = zip(condition["properties"], values)
        return all(properties[dims[p["dimension"]]["type"]][p["property"]][at[p["dimension"]]] == v for p, v in wanted)

    everywhere = [at[::-1] for at in itertools.product(*(range(dim["length"]) for dim in dims[::-1]))]
    for choice in itertools.product(*(condition["nonZeros"] for condition in conditions[::-1])):
        chosen = list(zip(conditions, choice[::-1]))
        yield from (at for at in everywhere if all(fits(at, condition, values) for condition, values in chosen))


def cases(source):
    for shape, kind, is_binary in itertools.product(SHAPES, ("f8", "c16"), (True, False)):
        values = (numbers if is_binary else plain)(source, kind, shape)
        types = [source.choice([None, *TYPES]) for _ in shape]
        yield numpy.asarray(values, kind), types, is_binary


def check_theirs(folder):
    """tenfold reads what is written here."""
    source = numpy.random.default_rng(1)
    path, array, count = folder / "theirs.yaml", folder / "ours.npy", 0
    for (values, types, is_binary), is_map, style in itertools.product(cases(source), (False, True), (None, True, False)):
        path.write_text(yaml.safe_dump(description(values, types, is_binary, is_map), default_flow_style=style))
        path.with_suffix(".elements").write_bytes(elements(values, is_binary))
        tenfold("convert", str(path), str(array), "--force", "--no-sync", "--quiet")
        assert bits(numpy.load(array)) == bits(values), (values.shape, values.dtype, is_binary)
        count += 1
    return count


def check_ours(folder):
    """What tenfold writes is read here."""
    source = numpy.random.default_rng(2)
    array, path, count = folder / "theirs.npy", folder / "ours.yaml", 0
    for values, _, is_binary in cases(source):
        numpy.save(array, values)
        word = "binary" if is_binary else "text"
        tenfold("convert", str(array), str(path), "--opt", f"elements={word}", "--force", "--no-sync", "--quiet")
        found = read(yaml.safe_load(path.read_text()), path)
        assert bits(found) == bits(values), (values.shape, values.dtype, word)
        count += 1
    return count


def check_rewritten(folder):
    """Types, units and metadata come back as PyYAML reads them."""
    values, again = numpy.arange(6.0).reshape(2, 3), folder / "again.yaml"
    data = {"halfGrid": 1, "fermiEnergy": -4.448494444346819, "energies": [1e-5, 1e300, -0.5], "a b": {"x": None, "é": "yes"},
            "text": ["1", "~", "", "- a", "#", "\t\n\"'\\"], "truth": True}
    about = description(values, ["State", "a: b"], True, False, unit=0.1917011272153577) | {"metaData": data}
    path = folder / "meta.yaml"
    path.write_text(yaml.safe_dump(about, allow_unicode=True))
    path.with_suffix(".elements").write_bytes(elements(values, True))
    tenfold("convert", str(path), str(again), "--no-sync", "--quiet")
    assert yaml.safe_load(again.read_text()) == about
    return 1


def check_sets(folder):
    arrays = {"hh": numpy.arange(4.0), "pp": numpy.arange(6.0).reshape(2, 3) * 1j}
    path, npz, again = folder / "set.yaml", folder / "set.npz", folder / "set2.yaml"
    parts = {key: description(values, [None] * values.ndim, True, False) for key, values in arrays.items()}
    path.write_text(yaml.safe_dump({"version": 100, "type": "TensorSet", "components": parts}))
    for key, values in arrays.items():
        (folder / f"set.components.{key}.elements").write_bytes(elements(values, True))
    tenfold("convert", str(path), str(npz), "--no-sync", "--quiet")
    with numpy.load(npz) as found:
        assert {key: bits(found[key]) for key in found} == {key: bits(values) for key, values in arrays.items()}
    tenfold("convert", str(npz), str(again), "--no-sync", "--quiet")
    about = yaml.safe_load(again.read_text())
    for key, values in arrays.items():
        assert bits(read(about["components"][key], again, f".components.{key}")) == bits(values)
    return 2


def check_blocks(folder):
    source = numpy.random.default_rng(3)
    count = 0
    for number in range(20):
        word, size = f"Momentum{number}", int(source.integers(1, 6))
        indices = {name: source.integers(0, 3, size).tolist() for name in ("k", "s")}
        (folder / f"{word}.yaml").write_text(yaml.safe_dump({"dimensionType": word, "propertyIndices": indices}))
        tuples = list(itertools.product(range(3), repeat=2))
        conditions = []
        for name in ("k", "s")[:int(source.integers(1, 3))]:
            chosen = source.permutation(len(tuples))[:int(source.integers(0, 6))]
            properties = [{"dimension": place, "property": name} for place in (2, 0)]
            conditions.append({"name": name, "properties": properties, "nonZeros": [list(tuples[n]) for n in chosen]})
        values = numpy.zeros((size, 2, size))
        about = description(values, [word, None, word], True, False) | {"nonZeroCondition": {"all": conditions}}
        path, array, again = folder / f"blocks{number}.yaml", folder / "blocks.npy", folder / f"blocks{number}b.yaml"
        path.write_text(yaml.safe_dump(about))
        stored = source.normal(size=len(list(blocks(about, folder))))
        path.with_suffix(".elements").write_bytes(stored.tobytes())
        wanted = read(about, path)
        tenfold("convert", str(path), str(array), "--force", "--no-sync", "--quiet")
        assert bits(numpy.load(array)) == bits(wanted), conditions
        # Once more in another folder, where the file of properties is written too.
        other = folder / f"other{number}"
        other.mkdir()
        again = other / "blocks.yaml"
        tenfold("convert", str(path), str(again), "--no-sync", "--quiet")
        found = yaml.safe_load(again.read_text())
        assert found["nonZeroCondition"] == about["nonZeroCondition"]
        assert again.with_suffix(".elements").read_bytes() == stored.tobytes()
        assert bits(read(found, again)) == bits(wanted)
        count += 2
    return count


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        theirs, ours = check_theirs(folder), check_ours(folder)
        more = check_rewritten(folder) + check_sets(folder) + check_blocks(folder)
        print(f"cc4s: {theirs} files of PyYAML and NumPy, {ours} files of tenfold, {more} with metadata, sets and blocks")


if __name__ == "__main__":
    main()
