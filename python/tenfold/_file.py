"""Open files."""

from __future__ import annotations

import builtins
import difflib
import os
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Literal

import numpy.typing as npt

from . import _tenfold
from ._errors import InvalidRequest, Note, TensorNotFound
from ._tensor import Tensor
from ._values import Labelled

Io = Literal["auto", "mmap", "read"]
Duplicates = Literal["sum", "last"]
Origin = str | os.PathLike[str] | bytes | bytearray | memoryview | Any


def reading(
    format: str | None = None,
    io: str = "auto",
    lenient: bool = False,
    limits: Mapping[str, int] | None = None,
    options: Mapping[str, str] | None = None,
    alone: bool = False,
    duplicates: Duplicates | None = None,
    callables: bool = False,
) -> dict[str, Any]:
    """Reading options for the compiled half; `callables` asks for the functions that loading would call."""
    if io == "auto":
        io = os.environ.get("TENFOLD_IO", io)
    return {
        "format": format,
        "io": io,
        "lenient": lenient,
        "limits": list((limits or {}).items()),
        "options": [(name, str(value)) for name, value in (options or {}).items()],
        "alone": alone,
        "duplicates": duplicates,
        "callables": callables,
    }


class File(Mapping[str, Tensor]):
    """An open file: its tensors by name, in file order.

    A file that is its only tensor, such as `.npy`, names it after itself without the extension. After
    `close()` tensors and arrays that were taken out stay as they are.
    """

    __slots__ = ("__weakref__", "_core", "_how", "_index", "_path")

    def __init__(self, core: _tenfold.FileCore, how: dict[str, Any]) -> None:
        self._core: _tenfold.FileCore | None = core
        self._how = how
        self._index: dict[str, int] | None = None
        path = core.path
        self._path = None if path is None else os.fspath(path)

    def _open(self) -> _tenfold.FileCore:
        if self._core is None:
            raise InvalidRequest("the file is closed")
        return self._core

    def _places(self) -> dict[str, int]:
        if self._index is None:
            self._index = self._open().index()
        return self._index

    @property
    def format(self) -> str:
        """The name of its format."""
        return self._open().format

    @property
    def path(self) -> str | None:
        """Its path; `None` for data in memory."""
        return self._path

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the file."""
        return self._open().metadata

    @property
    def notes(self) -> list[Note]:
        """Notes of the reader: tensors skipped, fields repaired or doubtful."""
        return [Note(*fields) for fields in self._open().notes]

    @property
    def only(self) -> Tensor:
        """The only tensor; an error if there are none or several."""
        places = self._places()
        if len(places) != 1:
            names = _listed(places)
            why = f"{len(places)} tensors where one is wanted{names}"
            raise InvalidRequest(self._named(why))
        return self[next(iter(places))]

    def _place(self, key: str) -> int:
        place = self._places().get(key)
        if place is None and isinstance(key, str):
            place = self._open().place(key)
        if place is None:
            raise TensorNotFound(self._named(_not_found(key, self._places())))
        return place

    def _named(self, why: str) -> str:
        """An error message about the file."""
        return why if self._path is None else f"{self._path}: {why}"

    def __getitem__(self, key: str) -> Tensor:
        core = self._core
        # The common case by the shortest path: files may have very many tensors.
        if core is None or self._index is None or (place := self._index.get(key)) is None:
            place = self._place(key)
            core = self._open()
        return Tensor(core.tensor(place), key, self._path, self._how)

    def array(self, key: str) -> npt.NDArray[Any]:
        """All values of one tensor: `f[key].numpy()`, slightly faster."""
        core = self._open()
        found = core.array(self._place(key))
        return self[key].numpy() if found is None else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places())

    def __len__(self) -> int:
        return len(self._places())

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and (
            key in self._places() or self._open().place(key) is not None
        )

    def __enter__(self) -> File:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; arrays and tensors taken from it stay valid."""
        self._core = None
        self._index = None

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._core is None

    def __repr__(self) -> str:
        if self._core is None:
            return "<closed File>"
        where = f"{self.path!r} " if self.path else ""
        count = len(self)
        return f"<File {where}{self.format}, {count} tensor{'' if count == 1 else 's'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        path = self.path
        if path is None:
            raise TypeError("only a file on disk can be pickled: it is opened again there")
        return _reopened, (os.path.abspath(path), self._how)


def _reopened(path: str, how: dict[str, Any]) -> File:
    return open(path, **how)


def _listed(places: Mapping[str, int]) -> str:
    if not places:
        return ""
    names = list(places)[:5]
    more = ", …" if len(places) > len(names) else ""
    return ": " + ", ".join(map(repr, names)) + more


def _not_found(key: str, places: Mapping[str, int]) -> str:
    alike = difflib.get_close_matches(str(key), list(places)[:10_000], n=3, cutoff=0.5)
    if alike:
        return f"no tensor is called {key!r}; there is {' or '.join(map(repr, alike))}"
    return f"no tensor is called {key!r}; there are {len(places)}{_listed(places)}"


def open(
    file: Origin,
    *,
    format: str | None = None,
    io: Io = "auto",
    lenient: bool = False,
    limits: Mapping[str, int] | None = None,
    options: Mapping[str, str] | None = None,
    alone: bool = False,
    duplicates: Duplicates | None = None,
) -> File:
    """Opens a tensor file of any format: reads its headers, leaves its numbers where they are.

    `file` is a path, the bytes of a file, or a file object in binary mode, which is read to its end. A
    path may also be a folder, an index such as `model.safetensors.index.json`, a glob, or any file of
    a numbered set, whose files are opened as one, or `FILE:KEY[0:3]`; `alone` opens a file of a set by
    itself.

    `io` says how values come: `"mmap"` as views of the file wherever its bytes are what NumPy wants,
    `"auto"` the same but for tensors with a checksum, which are read so that it is compared, and
    `"read"` never as views. A file that another program shortens while it is mapped kills the
    process that touches what is gone; use `"read"`, or set the environment variable `TENFOLD_IO` to
    `read`, where that may happen.

    `lenient` turns harmless violations of a format into notes. `limits` raises what an untrusted
    file may ask for, `options` are those of the format (`tenfold.formats()` lists them). Cells of a sparse
    tensor that are given more than once are an error when values are read, unless `duplicates` says
    `"sum"` (add the values up) or `"last"` (keep the last).
    """
    how: dict[str, Any] = {
        "format": format,
        "io": io,
        "lenient": lenient,
        "limits": limits,
        "options": options,
        "alone": alone,
        "duplicates": duplicates,
    }
    return file if isinstance(file, File) else File(core_of_file(file, reading(**how)), how)


def core_of_file(file: Origin, rules: dict[str, Any]) -> _tenfold.FileCore:
    """Opens what `open` takes."""
    if isinstance(file, (str, os.PathLike)):
        return _tenfold.FileCore.open(os.fspath(file), rules)
    if isinstance(file, (bytes, bytearray, memoryview)):
        return _tenfold.FileCore.of_bytes(file, rules)
    if hasattr(file, "read"):
        return _tenfold.FileCore.of_reader(file, rules)
    kind = builtins.type(file).__name__
    raise TypeError(f"a path, bytes or a file object is wanted, not {kind}")


def load(
    file: Origin, *, io: Io = "read", dtype: npt.DTypeLike | None = None, **how: Any
) -> dict[str, Any]:
    """All tensors of a file, read into arrays by name.

    A file that is its one tensor gives its stem as the name. Tensors with labels come as
    `Labelled`; quantized ones need a `dtype` to be worked out in. Takes what `open` takes besides.
    """
    with open(file, io=io, **how) as opened:
        if dtype is None:
            found = opened._open().arrays()
        else:
            found = {key: _value(tensor, dtype) for key, tensor in opened.items()}
        for key, value in found.items():
            if isinstance(value, _tenfold.TensorCore):
                found[key] = _value(Tensor(value, key), dtype)
        return found


def _value(tensor: Tensor, dtype: npt.DTypeLike | None) -> npt.NDArray[Any] | Labelled:
    return tensor.labelled() if tensor.storage == "labelled" else tensor.numpy(dtype)


def read(
    file: Origin,
    key: str | None = None,
    index: Any = None,
    *,
    dtype: npt.DTypeLike | None = None,
    io: Io = "read",
    **how: Any,
) -> Any:
    """One tensor of a file as an array: the only one, or that called `key`; of it, what `index` takes.

    >>> import numpy as np, tenfold
    >>> data = tenfold.dumps(np.arange(6.0).reshape(2, 3), format="npy")
    >>> tenfold.read(data, index=np.s_[:, 1])
    array([1., 4.])
    """
    with open(file, io=io, **how) as opened:
        tensor = opened.only if key is None else opened[key]
        if dtype is not None and tensor.storage != "labelled":
            tensor = tensor.astype(dtype)
        return _value(tensor, None) if index is None else tensor[index]
