"""cc4s' yaml with files of elements, and what `show --json` says of them; from the manual and the programs."""

import itertools
import math
import struct

import common

WIDTHS = {"Real64": 1, "Complex64": 2}


def doubles(values):
    """Elements as bytes: numbers, or pairs of them."""
    flat = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    return struct.pack(f"<{len(flat)}d", *flat)


def spelled(value):
    """The shortest decimal, as it is written."""
    if math.isnan(value):
        return "nan"
    text = repr(float(value))
    return text.replace("e+", "e").replace("e-0", "e-") if "e" in text else text


def text(values):
    """Elements as lines of text."""
    lines = [f"({spelled(v[0])},{spelled(v[1])})" if isinstance(v, tuple) else spelled(v) for v in values]
    return "".join(line + "\n" for line in lines).encode()


def description(scalar, dims, kind="IeeeBinaryFile", unit="1.0", more=""):
    """The yaml of a tensor as tenfold writes it; `dims` are (length, type or None)."""
    lines = ["version: 100", "type: Tensor", f"scalarType: {scalar}"]
    lines.append("dimensions:" if dims else "dimensions: []")
    for length, word in dims:
        lines += [f"  - length: {length}"]
        lines += [f"    type: {word}"] if word else []
    lines += ["elements:", f"  type: {kind}", f"unit: {unit}"]
    return "".join(line + "\n" for line in lines) + more


def indented(text, depth=1):
    return "".join("  " * depth + line + "\n" for line in text.splitlines())


def shown(value):
    return [common.real(part) for part in value] if isinstance(value, tuple) else common.real(value)


def tensor(scalar, dims, values, key=(), metadata=None):
    """What is shown of a dense tensor whose elements have the first index fastest."""
    sizes = [length for length, _ in dims]
    at = {index[::-1]: place for place, index in enumerate(itertools.product(*(range(size) for size in sizes[::-1])))}
    rows = itertools.product(*(range(size) for size in sizes))
    content = {"storage": "dense", "data": [shown(values[at[index]]) for index in rows]}
    return about(scalar, dims, content, key, metadata)


def about(scalar, dims, content, key=(), metadata=None):
    return {
        "key": list(key), "state": None, "name": "/".join(key), "dtype": "f64" if scalar == "Real64" else "c128",
        "shape": [length for length, _ in dims],
        "dims": [{"name": word, "size": length} for length, word in dims],
        "symmetries": [], "metadata": metadata or {}, **content,
    }


def show(*tensors, metadata=None, **more):
    return {"format": "cc4s", "metadata": metadata or {}, "tensors": list(tensors)} | more


def put(name, yaml, shown, beside, **more):
    common.good("cc4s", f"{name}.yaml", yaml.encode(), shown, beside=beside, **more)


def one(name, scalar, dims, values, yaml=None, elements=None, metadata=None, notes=None, **more):
    """A tensor in a file of its own; `more` goes to `common.good`."""
    yaml = description(scalar, dims) if yaml is None else yaml
    elements = doubles(values) if elements is None else elements
    noted = {"note_kinds": notes} if notes else {}
    put(name, yaml, show(tensor(scalar, dims, values, metadata=metadata), **noted), {f"{name}.elements": elements}, **more)


def blocks(dims, conditions, properties):
    """The indices of all cells that are there, in their order. `conditions` are (properties, nonZeros)."""
    choices = itertools.product(*(nonzeros for _, nonzeros in conditions[::-1]))
    for choice in choices:
        choice = choice[::-1]
        along = []
        for place, (length, word) in enumerate(dims):
            fits = range(length)
            for (wanted, _), values in zip(conditions, choice):
                for (dimension, name), value in zip(wanted, values):
                    if dimension == place:
                        fits = [index for index in fits if properties[word][name][index] == value]
            along.append(fits)
        yield from (index[::-1] for index in itertools.product(*along[::-1]))


def condition(conditions):
    """What a yaml says of conditions."""
    lines = ["nonZeroCondition:", "  all:"]
    for number, (wanted, nonzeros) in enumerate(conditions):
        lines += [f"    - name: c{number}", "      properties:"]
        for dimension, name in wanted:
            lines += [f"        - dimension: {dimension}", f"          property: {name}"]
        lines += ["      nonZeros:"] if nonzeros else ["      nonZeros: []"]
        lines += [f"        - [{', '.join(map(str, values))}]" for values in nonzeros]
    return "".join(line + "\n" for line in lines)


def condition_value(conditions):
    return {"all": [
        {"name": f"c{number}", "properties": [{"dimension": d, "property": p} for d, p in wanted], "nonZeros": nonzeros}
        for number, (wanted, nonzeros) in enumerate(conditions)
    ]}


def property_file(word, lists):
    lines = [f"dimensionType: {word}", "propertyIndices:"]
    lines += [f"  {name}: [{', '.join(map(str, values))}]" for name, values in lists.items()]
    return "".join(line + "\n" for line in lines).encode()


def block_sparse(name, scalar, dims, conditions, properties, element, **more):
    """A tensor with blocks: `element` gives the value of the cell number n."""
    cells = list(blocks(dims, conditions, properties))
    values = [element(number) for number in range(len(cells))]
    words = [word for wanted, _ in conditions for word in [dims[dimension][1] for dimension, _ in wanted]]
    types = {word: {"dimensionType": word, "propertyIndices": properties[word]} for word in dict.fromkeys(words)}
    metadata = {"cc4s:nonZeroCondition": condition_value(conditions), "cc4s:dimensionTypes": types}
    content = {"storage": "sparse", "cells": [{"at": list(at), "data": [shown(v)]} for at, v in zip(cells, values)]}
    beside = {f"{name}.elements": doubles(values)}
    beside |= {f"{word}.yaml": property_file(word, properties[word]) for word in types}
    yaml = description(scalar, dims, more=condition(conditions))
    put(name, yaml, show(about(scalar, dims, content, metadata=metadata)), beside, **more)
