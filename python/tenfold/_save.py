"""Writing files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _tenfold
from ._dtypes import name_of, numpy_type, word_of
from ._errors import InvalidRequest, Loss, MissingPackage, Note
from ._file import Duplicates, File, Io, Origin
from ._file import open as open_file
from ._reports import formats
from ._short import fields
from ._values import core_of, module_of, package_of

Progress = Callable[[int, int], object] | bool | None
Path = str | os.PathLike[str]


@dataclass(frozen=True, repr=False)
class Report:
    """What was written, and what was lost on the way."""

    path: str
    format: str
    nbytes: int
    """How many bytes the file has."""
    losses: list[Loss] = field(default_factory=list)
    """What the format has no word for: carried as text, or said and done without."""
    notes: list[Note] = field(default_factory=list)
    """What the reader of the input had to say, and what users of the file should know."""
    seconds: float = 0.0

    __repr__ = fields


class _Bar:
    """A bar of tqdm, as a callback."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise MissingPackage("progress=True needs the package tqdm (pip install tqdm)") from error
        self._bar = tqdm(unit="B", unit_scale=True)

    def __call__(self, done: int, expected: int) -> None:
        self._bar.total = expected or None
        self._bar.update(done - self._bar.n)


def _callback(progress: Progress) -> Callable[[int, int], object] | None:
    if progress is True:
        return _Bar()
    return progress or None


def _format_named(path: Path | None, format: str | None) -> str | None:
    """The format that is meant, where the name of the file says one alone."""
    if format is not None or path is None:
        return format
    name = os.fspath(path).lower().removesuffix(".gz")
    ending = os.path.splitext(name)[1].removeprefix(".")
    meant = [known.name for known in formats() if known.versions and ending in known.extensions]
    return meant[0] if len(meant) == 1 else None


def _settings(
    format: str | None, compress: str | bool | None, checksum: str | None
) -> dict[str, str]:
    """The options of a format that `compress` and `checksum` stand for."""
    options: dict[str, str] = {}
    if isinstance(compress, bool):
        known = {own.name: own for own in formats()}.get(format or "")
        values = dict((name, values) for name, values, _ in known.writing) if known else {}
        if "compress" not in values:
            if compress:
                raise InvalidRequest(f"{format or 'this format'} has no compression")
            compress = None
        else:
            words = values["compress"].split("|")
            compress = words[-1] if compress else words[0]
    if compress is not None:
        word, _, level = compress.partition(":")
        options["compress"] = word
        if level:
            options["level"] = level
    if checksum is not None:
        options["checksum"] = checksum
    return options


def _writing(
    format: str | None,
    version: str | None,
    options: Mapping[str, object],
    allow: Iterable[str] | str,
    strict: bool,
    limits: Mapping[str, int] | None,
    sync: bool,
    replace: bool,
    complex: Literal["split"] | None = None,
) -> dict[str, Any]:
    """How a file is to be written, as the compiled half takes it."""
    return {
        "format": format,
        "version": version,
        "options": [(name, str(value)) for name, value in options.items()],
        "allow": [allow] if isinstance(allow, str) else list(allow),
        "strict": strict,
        "limits": list((limits or {}).items()),
        "sync": sync,
        "replace": replace,
        "complex": complex,
    }


Entries = dict[str, Any] | list[tuple[str | None, Any]]


def _entries(arrays: Any) -> Entries:
    """The names and values of a mapping, or the one value that it is."""
    if type(arrays) is dict:
        return arrays
    if isinstance(arrays, File):
        file = arrays._open()
        return [(name, file.tensor(place)) for name, place in arrays._places().items()]
    # One kind of SciPy's matrices is a dictionary too.
    if isinstance(arrays, Mapping) and module_of(arrays) != "scipy":
        return dict(arrays)
    if module_of(arrays) == "xarray" and hasattr(arrays, "data_vars"):
        return [(str(name), value) for name, value in arrays.data_vars.items()]
    return [(None, arrays)]


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
) -> Report:
    """Saves one array, or a mapping of names to arrays, as the file `path`.

    Takes arrays of NumPy, PyTorch, JAX, SciPy (sparse), xarray and dask (written chunk by chunk), the
    tensors of other files, `Symmetric`, `Labelled`, `TensorTrain`, and whatever has DLPack or
    `__array__`. The format is that of the file's ending unless `format` names one.

    What a format cannot hold is refused with `LossRefused`, which says what to `allow`. The file is
    there whole or not at all; `sync=True` also brings it to the disk before it gets its name.
    `compress` is `True` or a word such as `"zstd"` or `"zstd:19"`, `checksum` one such as `"sha256"`.
    `complex="split"` writes complex numbers with their parts along a last dimension, for formats without
    complex numbers.
    """
    if _has_dask(arrays):
        named = arrays if isinstance(arrays, Mapping) else {None: arrays}
        with create(
            path, format, metadata=metadata, compress=compress, checksum=checksum, allow=allow,
            version=version, options=options, strict=strict, limits=limits, sync=sync,
            overwrite=overwrite, progress=progress, complex=complex,
        ) as writer:
            for name, value in named.items():
                writer._add(name, value)
        assert writer.report is not None
        return writer.report
    begun = time.perf_counter()
    settings = options or {}
    if compress is not None or checksum is not None:
        settings = {**_settings(_format_named(path, format), compress, checksum), **settings}
    how = _writing(format, version, settings, allow, strict, limits, sync, overwrite, complex)
    return _saved(path, _entries(arrays), metadata, how, progress, begun)


def _saved(
    path: Path,
    entries: Entries,
    metadata: Mapping[str, Any] | None,
    how: dict[str, Any],
    progress: Progress,
    begun: float,
) -> Report:
    described = None if metadata is None else dict(metadata)
    name = os.fspath(path)
    said = _tenfold.save(name, entries, core_of, described, how, _callback(progress))
    return Report(name, said[0], said[1], said[2], _remarks(said[3]), time.perf_counter() - begun)


def _remarks(remark: str | None) -> list[Note]:
    return [] if remark is None else [Note("remark", None, None, remark)]


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
) -> bytes:
    """The bytes of a file with one array, or a mapping of names to arrays; as `save`.

    >>> import tenfold
    >>> tenfold.load(tenfold.dumps({"a": [1.0, 2.0]}, format="safetensors"))
    {'a': array([1., 2.])}
    """
    settings = {**_settings(format, compress, checksum), **(options or {})}
    how = _writing(format, version, settings, allow, strict, None, False, True, complex)
    described = None if metadata is None else dict(metadata)
    return _tenfold.save_bytes(_entries(arrays), core_of, described, how)


def convert(
    src: Origin | File,
    dst: Path,
    to: str | None = None,
    only: str | Iterable[str] | None = None,
    cast: str | Mapping[str, str] | None = None,
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
    part: str | Mapping[str, str] | None = None,
    duplicates: Duplicates | None = None,
) -> Report:
    """Converts a file of any format to any other, in bounded memory.

    `to` names the target format, else the ending of `dst` does; `format` that of the source, which
    is found out. `only` keeps the tensors that a glob such as `"enc.*"` names, `cast` brings all
    numbers to a type (`"f16"`), or those that globs name (`{"*.weight": "bf16"}`). `part` keeps one part of
    complex numbers, `"re"`, `"im"`, `"abs"` or `"arg"`; `complex="split"` writes them with their parts along a
    last dimension, for formats without complex numbers. `duplicates` resolves cells of sparse tensors that are
    given more than once. What would be lost is refused unless `allow` says otherwise. `progress` is called with the bytes done and to
    do; `True` shows a bar of tqdm.
    """
    begun = time.perf_counter()
    bounds = dict(limits or {})
    if memory is not None:
        bounds["memory"] = memory
    globs = [only] if isinstance(only, str) else list(only or ())
    casts = [("*", cast)] if isinstance(cast, str) else list((cast or {}).items())
    words = [(glob, word_of(number)) for glob, number in casts]
    parts = [("*", part)] if isinstance(part, str) else list((part or {}).items())
    file = open_file(
        src, format=format, lenient=lenient, limits=bounds, io=io, duplicates=duplicates
    )
    settings = {**_settings(_format_named(dst, to), compress, checksum), **(options or {})}
    how = _writing(to, version, settings, allow, strict, bounds, sync, overwrite, complex)
    name = os.fspath(dst)
    changes = {"only": globs, "cast": words, "part": parts}
    said = _tenfold.convert(file._open(), name, changes, how, _callback(progress))
    notes = [*file.notes, *_remarks(said[3])]
    if file is not src:
        file.close()
    return Report(name, said[0], said[1], said[2], notes, time.perf_counter() - begun)


class Stream:
    """A tensor that comes in pieces: `write` adds the next cells in row-major order."""

    def __init__(
        self,
        writer: Writer,
        key: str | None,
        shape: Sequence[int],
        word: str,
        dims: Sequence[str | None] | None,
    ) -> None:
        self._writer = writer
        self._key = key
        self._name = key or ""
        self._shape = tuple(int(size) for size in shape)
        self._word = word
        self._dims = None if dims is None else list(dims)
        self._start = writer._shelf.at
        dtype, parts = numpy_type(word) if word != "bf16" else (np.dtype("<u2"), 0)
        self._cells = int(np.prod(self._shape, dtype=object)) * (parts or 1)
        self._dtype = dtype
        self._done = 0

    @property
    def left(self) -> int:
        """How many cells are still to come."""
        return self._cells - self._done

    def write(self, piece: npt.ArrayLike) -> None:
        """Adds cells; their type has to be the one that was announced."""
        array = np.ascontiguousarray(piece)
        word = name_of(array.dtype)
        if word != self._word and not (self._word == "bf16" and word == "u16"):
            if not np.can_cast(array.dtype, self._dtype, "safe"):
                raise InvalidRequest(f"{self._name!r} is {self._word}, the piece is {word}")
            array = array.astype(self._dtype)
        if array.size > self.left:
            raise InvalidRequest(f"{array.size} cells for {self._name!r}, which lacks {self.left}")
        self._writer._is_streaming(self)
        self._writer._shelf.append(array.view(np.uint16) if word == "bf16" else array)
        self._done += array.size

    def close(self) -> None:
        """Ends the tensor, which must be complete."""
        if self.left:
            raise InvalidRequest(f"{self._name!r} lacks {self.left} of its {self._cells} cells")
        self._writer._end(self)

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()


class Writer:
    """A file that is being written; made by `create`.

    What is added waits in a file without a name beside the target, which is there whole after
    `close`, or, if something is raised on the way, not at all.
    """

    def __init__(
        self, path: Path, metadata: Mapping[str, Any] | None, how: dict[str, Any], progress: Progress
    ) -> None:
        self._path = path
        self._how = how
        self._progress = progress
        self._entries: list[tuple[str | None, _tenfold.TensorCore | _tenfold.Put]] = []
        self._names: set[str | None] = set()
        self._shelf = _tenfold.Shelf(os.path.dirname(os.path.abspath(os.fspath(path))))
        self._stream: Stream | None = None
        self._is_open = True
        self.metadata: dict[str, Any] | None = None if metadata is None else dict(metadata)
        """What the file will say about itself; may be changed until it is closed."""
        self.report: Report | None = None
        """What was written, once it is."""

    def _announce(self, name: str | None) -> None:
        if not self._is_open:
            raise InvalidRequest("the writer is closed")
        if self._stream is not None:
            raise InvalidRequest(f"{self._stream._name!r} is not complete yet")
        if name in self._names:
            raise InvalidRequest(f"a tensor is called {name!r} already")
        self._names.add(name)

    def add(self, name: str, array: Any) -> None:
        """Adds a tensor: everything that `save` takes. An array may be changed afterwards."""
        self._add(name, array)

    def _add(self, name: str | None, value: Any) -> None:
        if module_of(value) == "dask":
            self._add_dask(name, value)
            return
        self._announce(name)
        core = core_of(value)
        is_lent = core.storage == "dense" and not hasattr(value, "_tenfold_core")
        self._entries.append((name, self._shelf.put(core) if is_lent else core))

    def _add_dask(self, name: str | None, value: Any) -> None:
        """Computes one run of chunks along the first dimension after the other."""
        with self._begin(name, value.shape, word_of(value.dtype), None) as stream:
            if value.ndim == 0:
                stream.write(value.compute())
            else:
                start = 0
                for size in value.chunks[0]:
                    stream.write(value[start : start + size].compute())
                    start += size

    def stream(
        self,
        name: str,
        shape: Sequence[int],
        dtype: npt.DTypeLike,
        dims: Sequence[str | None] | None = None,
    ) -> Stream:
        """Begins a tensor that comes in pieces, and may be larger than memory."""
        return self._begin(name, shape, word_of(dtype), dims)

    def _begin(
        self, name: str | None, shape: Sequence[int], word: str, dims: Sequence[str | None] | None
    ) -> Stream:
        self._announce(name)
        self._stream = Stream(self, name, shape, word, dims)
        return self._stream

    def _is_streaming(self, stream: Stream) -> None:
        if self._stream is not stream:
            raise InvalidRequest(f"{stream._name!r} is closed")

    def _end(self, stream: Stream) -> None:
        self._is_streaming(stream)
        self._stream = None
        put = self._shelf.piece(stream._start, stream._word, list(stream._shape), stream._dims)
        self._entries.append((stream._key, put))

    def close(self) -> Report:
        """Writes the file."""
        if self.report is not None:
            return self.report
        if not self._is_open:
            raise InvalidRequest("the writer is closed")
        if self._stream is not None:
            if self._stream.left:
                raise InvalidRequest(f"{self._stream._name!r} is not complete yet")
            self._stream.close()
        begun = time.perf_counter()
        self._is_open = False
        put = [entry for _, entry in self._entries if isinstance(entry, _tenfold.Put)]
        cores = iter(self._shelf.tensors(put))
        entries: Entries = [
            (name, next(cores) if isinstance(entry, _tenfold.Put) else entry)
            for name, entry in self._entries
        ]
        self.report = _saved(
            self._path, entries, self.metadata, self._how, self._progress, begun
        )
        return self.report

    def abort(self) -> None:
        """Forgets everything; no file is written."""
        self._is_open = False
        self._entries.clear()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


def create(
    path: Path,
    format: str | None = None,
    *,
    metadata: Mapping[str, Any] | None = None,
    compress: str | bool | None = None,
    checksum: str | None = None,
    allow: Iterable[str] | str = (),
    version: str | None = None,
    options: Mapping[str, object] | None = None,
    strict: bool = False,
    limits: Mapping[str, int] | None = None,
    sync: bool = False,
    overwrite: bool = True,
    progress: Progress = None,
    complex: Literal["split"] | None = None,
) -> Writer:
    """Begins a file to which tensors are added one by one; see `Writer`, and `save` for the rest."""
    meant = _format_named(path, format)
    if meant is None:
        raise InvalidRequest(f"{os.fspath(path)}: the name says no one format: name it with format=")
    settings = {**_settings(meant, compress, checksum), **(options or {})}
    how = _writing(meant, version, settings, allow, strict, limits, sync, overwrite, complex)
    return Writer(path, metadata, how, progress)
