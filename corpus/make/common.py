"""Where the corpus makers put their files.

A maker is a module with a `make()` that calls `good`, `bad` and `huge` once per file and ends with

    if __name__ == "__main__":
        raise SystemExit(common.run(make))

Nothing touches the disk before `run`: it writes every file and its sibling `<file name>.json` below
`corpus/<format>/`, and removes what no maker makes any more. With `--check` it compares instead, and
returns 1 if anything differs, is missing, or is stale.
"""

import base64
import json
import math
import struct
import sys
from pathlib import Path

CORPUS = Path(__file__).resolve().parent.parent
FOLDERS = ("good", "bad", "huge")  # the folders that belong to the makers alone

_files = {}  # path below corpus/ -> bytes


def good(format, name, data, show, lenient=False, options=None, canonical=False, strict_at=None, beside=None, unwritable=None, gaps=None):
    """A file that reads. `canonical`: rewriting it in its own format gives the same bytes; `unwritable`: doing so
    is refused with these words.

    With `lenient`, only a lenient read accepts it and a strict one refuses at `strict_at`. `beside` are the
    files that lie beside it, by name. `gaps` are places whose bytes belong to nothing: the first byte, and how many
    there are: None for a member of an archive, whose entry is at that byte, and for a text; the byte is None in another file.
    """
    note = {"show": show, "canonical": canonical, "lenient": lenient, "options": options or {}}
    if lenient:
        note["strict_at"] = strict_at
    if unwritable:
        note["unwritable"] = unwritable
    if gaps:
        note["gaps"] = [list(gap) for gap in gaps]
    _put(format, "good", name, data, note, beside)


def bad(format, name, data, at, why, lenient_ok=False, options=None, kind="malformed", by="open", beside=None):
    """A file that is refused at byte `at` (None: no single field is to blame).

    `by` is "open", or "verify" when only looking at every value can tell.
    """
    assert kind in ("malformed", "unsupported", "limit") and by in ("open", "verify")
    note = {"at": at, "why": why, "lenient_ok": lenient_ok, "kind": kind, "by": by, "options": options or {}}
    _put(format, "bad", name, data, note, beside)


def bad_text(format, name, text, part, why, nth=0, **more):
    """A text that is refused where `part` stands (for the `nth` time from 0), or at a byte."""
    data = text if isinstance(text, bytes) else text.encode()
    at = part
    if isinstance(part, str):
        at = -1
        for _ in range(nth + 1):
            at = data.index(part.encode(), at + 1)
    bad(format, f"{name}.{format}", data, at, why, **more)


def huge(format, name, data, cells, options=None, beside=None):
    """A small file that stands for `cells` elements: it opens, verifies and rewrites, unexpanded."""
    note = {"huge": True, "cells": str(cells), "options": options or {}}
    _put(format, "huge", name, data, note, beside)


def _put(format, folder, name, data, note, beside=None):
    if beside:
        note["beside"] = sorted(beside)
    text = json.dumps(note, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    files = {name: bytes(data), name + ".json": text.encode(), **(beside or {})}
    for path, content in files.items():
        path = f"{format}/{folder}/{path}"
        assert path not in _files, f"{path} is made twice"
        _files[path] = content


def dims(*sizes, names=None):
    """The `dims` of a shown tensor; unnamed unless `names` are given."""
    return [{"name": name, "size": size} for name, size in zip(names or [None] * len(sizes), sizes)]


def real(value):
    """A Python float as `show --json` prints it: what JSON has no number for becomes a string."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def f32(value):
    """The nearest f32, as a Python float: its decimal reads back to the same 32 bits."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def b64(data):
    """Bytes as they stand in shown metadata."""
    return {"$bytes": base64.b64encode(data).decode()}


def lcg(seed=1):
    """An endless, repeatable stream of 32-bit integers (Numerical Recipes' generator)."""
    while True:
        seed = (seed * 1664525 + 1013904223) % 2**32
        yield seed


def run(*makers, argv=None):
    """Runs the makers, then writes their files or (`--check`) compares them; gives the exit code."""
    for make in makers:
        make()
    formats = sorted({path.split("/")[0] for path in _files})
    stale = [path for path in _on_disk(formats) if path not in _files]
    if "--check" in (sys.argv[1:] if argv is None else argv):
        wrong = [path for path, data in _files.items() if _read(path) != data]
        for path in wrong:
            print(f"{path}: differs from what its maker makes, or is missing")
        for path in stale:
            print(f"{path}: no maker makes it")
        _print_counts()
        return 1 if wrong or stale else 0
    for path in stale:
        (CORPUS / path).unlink()
    for path, data in _files.items():
        (CORPUS / path).parent.mkdir(parents=True, exist_ok=True)
        (CORPUS / path).write_bytes(data)
    _print_counts()
    return 0


def _on_disk(formats):
    folders = [CORPUS / format / folder for format in formats for folder in FOLDERS]
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path.relative_to(CORPUS).as_posix() for path in paths]


def _read(path):
    path = CORPUS / path
    return path.read_bytes() if path.is_file() else None


def _print_counts():
    siblings = [path for path in _files if path.endswith(".json") and path[:-5] in _files]
    folders = [path.rsplit("/", 1)[0] for path in siblings]
    for folder in sorted(set(folders)):
        print(f"{folder}: {folders.count(folder)} files")
