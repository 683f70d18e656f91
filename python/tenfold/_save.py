"""Saving files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from . import _tenfold
from ._file import Duplicates, File, Io, Origin
from ._file import open as open_file
from ._values import core_of, package_of
from ._writer import create
from ._writing import (
    Path,
    PerTensor,
    Progress,
    Report,
    callback,
    entries_of,
    format_named,
    report,
    saved,
    settings,
    writing,
)


def _has_dask(arrays: Any) -> bool:
    kinds = set(map(type, arrays.values())) if type(arrays) is dict else {type(arrays)}
    return any(package_of(kind) == "dask" for kind in kinds)


def save(
    path: Path,
    arrays: Any,
    format: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    compress: str | bool | None = None,
    checksum: str | None = None,
    allow: Iterable[str] | str = (),
    *,
    version: str | None = None,
    options: Mapping[str, object] | None = None,
    strict: bool = False,
    limits: Mapping[str, int] | None = None,
    sync: bool = False,
    overwrite: bool = True,
    progress: Progress = None,
    complex: Literal["split"] | None = None,
    part: PerTensor | None = None,
    cast: PerTensor | None = None,
    sep: str | None = None,
    state: bool = True,
) -> Report:
    """Saves one array, or a mapping of names to arrays, as the file `path`.

    Takes arrays of NumPy, PyTorch, JAX, SciPy (sparse), xarray and dask (written chunk by chunk), the
    tensors of other files, `Symmetric`, `Labelled`, `TensorTrain`, and any object with DLPack or
    `__array__`. The format is that of the file's ending unless `format` names one.

    What a format cannot hold is refused with `LossRefused`, which says what to `allow`. The file is
    there whole or not at all; `sync=True` also brings it to the disk before it gets its name.
    `compress` is `True` or a word such as `"zstd"` or `"zstd:19"`, `checksum` one such as `"sha256"`.
    `complex="split"` writes complex numbers with their parts along a last dimension, for formats without
    complex numbers; `part` keeps one part of them, `"re"`, `"im"`, `"abs"` or `"arg"`. `cast` brings all
    numbers to a type (`"f16"`). Either may be for the tensors that globs name, `{"*.weight": "bf16"}`. `sep`
    stands between the parts of names, `state=False` leaves out statistics and what a training run keeps.
    """
    if _has_dask(arrays):
        named = arrays if isinstance(arrays, Mapping) else {None: arrays}
        with create(
            path, format, metadata=metadata, compress=compress, checksum=checksum, allow=allow,
            version=version, options=options, strict=strict, limits=limits, sync=sync,
            overwrite=overwrite, progress=progress, complex=complex, part=part, cast=cast, sep=sep,
            state=state,
        ) as writer:
            for name, value in named.items():
                writer._add(name, value)
        assert writer.report is not None
        return writer.report
    begun = time.perf_counter()
    chosen = options or {}
    if compress is not None or checksum is not None:
        chosen = {**settings(format_named(path, format), compress, checksum), **chosen}
    how = writing(
        format, version, chosen, allow, strict, limits, sync, overwrite, complex, part, cast, sep, state
    )  # fmt: skip
    return saved(path, entries_of(arrays), metadata, how, progress, begun)


def dumps(
    arrays: Any,
    format: str,
    metadata: Mapping[str, Any] | None = None,
    compress: str | bool | None = None,
    checksum: str | None = None,
    allow: Iterable[str] | str = (),
    *,
    version: str | None = None,
    options: Mapping[str, object] | None = None,
    strict: bool = False,
    complex: Literal["split"] | None = None,
    part: PerTensor | None = None,
    cast: PerTensor | None = None,
    sep: str | None = None,
    state: bool = True,
) -> bytes:
    """The bytes of a file with one array, or a mapping of names to arrays; as `save`.

    >>> import tenfold
    >>> tenfold.load(tenfold.dumps({"a": [1.0, 2.0]}, format="safetensors"))
    {'a': array([1., 2.])}
    """
    chosen = {**settings(format, compress, checksum), **(options or {})}
    how = writing(
        format, version, chosen, allow, strict, None, False, True, complex, part, cast, sep, state
    )  # fmt: skip
    described = None if metadata is None else dict(metadata)
    return _tenfold.save_bytes(entries_of(arrays), core_of, described, how)


def convert(
    src: Origin | File,
    dst: Path,
    to: str | None = None,
    only: str | Iterable[str] | None = None,
    cast: PerTensor | None = None,
    memory: int | None = None,
    allow: Iterable[str] | str = (),
    progress: Progress = None,
    *,
    format: str | None = None,
    version: str | None = None,
    options: Mapping[str, object] | None = None,
    compress: str | bool | None = None,
    checksum: str | None = None,
    strict: bool = False,
    lenient: bool = False,
    limits: Mapping[str, int] | None = None,
    sync: bool = True,
    overwrite: bool = True,
    io: Io = "read",
    complex: Literal["split"] | None = None,
    part: PerTensor | None = None,
    sep: str | None = None,
    state: bool = True,
    alone: bool = False,
    duplicates: Duplicates | None = None,
) -> Report:
    """Converts a file of any format to any other, in bounded memory.

    `to` names the target format, else the ending of `dst` does; `format` that of the source, which
    is found out. `only` keeps the tensors that a glob such as `"enc.*"` names; `cast`, `part`, `complex`,
    `sep` and `state` are as for `save`, `alone` and `duplicates` as for `open`. What would be lost is refused
    unless `allow` says otherwise. `progress` is called with the bytes done and to do; `True` shows a bar of
    tqdm.
    """
    begun = time.perf_counter()
    bounds = dict(limits or {})
    if memory is not None:
        bounds["memory"] = memory
    globs = [only] if isinstance(only, str) else list(only or ())
    file = open_file(
        src, format=format, lenient=lenient, limits=bounds, io=io, alone=alone, duplicates=duplicates
    )
    chosen = {**settings(format_named(dst, to), compress, checksum), **(options or {})}
    how = writing(
        to, version, chosen, allow, strict, bounds, sync, overwrite, complex, part, cast, sep, state
    )  # fmt: skip
    said = _tenfold.convert(file._open(), os.fspath(dst), globs, how, callback(progress))
    found = report(dst, said, begun, file.notes)
    if file is not src:
        file.close()
    return found
