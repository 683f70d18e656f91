"""Matrix Market files, and what `show --json` says of them; from the page of NIST alone."""

import common

FIELDS = {"real": "f64", "integer": "i64", "unsigned-integer": "u64", "complex": "c128", "pattern": "bool"}
# The word of the banner, and what files here are called.
OPERATIONS = {"general": "general", "symmetric": "symmetric", "skew-symmetric": "skew", "hermitian": "hermitian"}
CODES = {"symmetric": "x", "skew-symmetric": "-x", "hermitian": "x*"}


def number(text):
    return float("nan") if "nan" in text.lower() else float(text)


def value(field, text):
    """An entry as a number, a pair of numbers or True."""
    if field == "pattern":
        return True
    if field == "complex":
        real, imaginary = text.split()
        return (number(real), number(imaginary))
    return number(text) if field == "real" else int(text)


def image(symmetry, entry):
    """What stands at the other side of the diagonal."""
    if symmetry == "symmetric":
        return entry
    if symmetry == "hermitian":
        return (entry[0], -entry[1])
    return tuple(-part for part in entry) if isinstance(entry, tuple) else -entry


def shown(field, entry):
    if isinstance(entry, tuple):
        return [common.real(part) for part in entry]
    return common.real(entry) if field == "real" else entry


def shown_value(field, text):
    return shown(field, value(field, text))


def zero(field):
    return (0.0, 0.0) if field == "complex" else 0.0 if field == "real" else 0


def places(symmetry, rows, columns):
    """The places (from 1) of the entries of an array, the first column first."""
    first = {"general": lambda column: 1, "skew-symmetric": lambda column: column + 1}.get(symmetry, lambda column: column)
    return [(row, column) for column in range(1, columns + 1) for row in range(first(column), rows + 1)]


def everything(field, symmetry, entries):
    """All entries by their places from 0, the images of those that are stored too."""
    found = {}
    for row, column, text in entries:
        entry = value(field, text)
        found[row - 1, column - 1] = entry
        if symmetry != "general" and row != column:
            found[column - 1, row - 1] = image(symmetry, entry)
    return found


def file(layout, field, symmetry, rows, columns, entries, comments=None):
    """The bytes of a file and what is shown of it; `entries` are (row, column, text)."""
    lines = [f"%%MatrixMarket matrix {layout} {field} {symmetry}"]
    if layout == "array":
        lines += [f"{rows} {columns}"] + [text for _, _, text in entries]
    else:
        lines += [f"{rows} {columns} {len(entries)}"]
        lines += [f"{row} {column} {text}".rstrip() for row, column, text in entries]
    found = everything(field, symmetry, entries)
    if layout == "array":
        everywhere = [(row, column) for row in range(rows) for column in range(columns)]
        content = {"storage": "dense", "data": [shown(field, found.get(at, zero(field))) for at in everywhere]}
    else:
        cells = [{"at": list(at), "data": [shown(field, entry)]} for at, entry in found.items()]
        content = {"storage": "sparse", "cells": cells}
    packed = [{"permutation": [1, 0], "operation": CODES[symmetry], "packed": True}] if symmetry in CODES else []
    tensor = {
        "key": [],
        "state": None,
        "name": "",
        "dtype": FIELDS[field],
        "shape": [rows, columns],
        "dims": common.dims(rows, columns),
        "symmetries": packed,
        **content,
    }
    metadata = {}
    if comments is not None:
        metadata["mtx:comments"] = common.b64(comments) if isinstance(comments, bytes) else comments
    return "".join(line + "\n" for line in lines).encode(), {"format": "mtx", "metadata": metadata, "tensors": [tensor]}


def put(name, made, **more):
    common.good("mtx", f"{name}.mtx", *made, **more)


def sparse(name, field, symmetry, rows, columns, entries, **more):
    put(name, file("coordinate", field, symmetry, rows, columns, entries), **more)


def dense(name, field, symmetry, rows, columns, texts, **more):
    at = places(symmetry, rows, columns)
    assert len(at) == len(texts), f"{len(at)} entries are stored"
    entries = [(row, column, text) for (row, column), text in zip(at, texts)]
    put(name, file("array", field, symmetry, rows, columns, entries), **more)
