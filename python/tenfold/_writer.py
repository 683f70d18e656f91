"""Incremental writing of files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _tenfold
from ._dtypes import name_of, numpy_type, word_of
from ._errors import InvalidRequest
from ._values import core_of, module_of
from ._writing import Entries, Path, PerTensor, Progress, Report, format_named, saved, settings, writing


class Stream:
    """A tensor written in pieces: `write` adds the next cells in row-major order."""

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
        """The number of remaining cells."""
        return self._cells - self._done

    def write(self, piece: npt.ArrayLike) -> None:
        """Adds cells; their type must be the declared one, or cast to it safely."""
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
        """Completes the tensor."""
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
        self._entries: list[tuple[str | None, _tenfold.TensorCore | _tenfold.SpooledTensor]] = []
        self._names: set[str | None] = set()
        self._shelf = _tenfold.SpoolFile(os.path.dirname(os.path.abspath(os.fspath(path))))
        self._stream: Stream | None = None
        self._is_open = True
        self.metadata: dict[str, Any] | None = None if metadata is None else dict(metadata)
        """The metadata of the file; may be changed until it is closed."""
        self.report: Report | None = None
        """The result, once the file is written."""

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
        """Computes runs of chunks along the first dimension, one after the other."""
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
        """Begins a tensor that is written in pieces, and may be larger than memory."""
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
        put = [entry for _, entry in self._entries if isinstance(entry, _tenfold.SpooledTensor)]
        cores = iter(self._shelf.tensors(put))
        entries: Entries = [
            (name, next(cores) if isinstance(entry, _tenfold.SpooledTensor) else entry)
            for name, entry in self._entries
        ]
        self.report = saved(
            self._path, entries, self.metadata, self._how, self._progress, begun
        )
        return self.report

    def abort(self) -> None:
        """Discards everything; no file is written."""
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
    part: PerTensor | None = None,
    cast: PerTensor | None = None,
    sep: str | None = None,
    state: bool = True,
) -> Writer:
    """Begins a file to which tensors are added one by one; see `Writer`, and `save` for the rest."""
    meant = format_named(path, format)
    if meant is None:
        raise InvalidRequest(f"{os.fspath(path)}: the name says no one format: name it with format=")
    chosen = {**settings(meant, compress, checksum), **(options or {})}
    how = writing(
        meant, version, chosen, allow, strict, limits, sync, overwrite, complex, part, cast, sep, state
    )  # fmt: skip
    return Writer(path, metadata, how, progress)
