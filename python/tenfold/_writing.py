"""Writing options, and reports on written files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _tenfold
from ._dtypes import word_of
from ._errors import InvalidRequest, Loss, MissingPackage, Note
from ._file import File
from ._reports import formats
from ._short import fields
from ._values import core_of, module_of

Progress = Callable[[int, int], object] | bool | None
Path = str | os.PathLike[str]


@dataclass(frozen=True, repr=False)
class Report:
    """The written files and the losses."""

    path: str
    format: str
    nbytes: int
    """The size of the file and its companions."""
    losses: list[Loss] = field(default_factory=list)
    """Losses: carried as text, or dropped and reported."""
    notes: list[Note] = field(default_factory=list)
    """Notes of the reader, and notes for users of the file."""
    seconds: float = 0.0
    beside: list[str] = field(default_factory=list)
    """Companion files, such as the elements of cc4s."""

    __repr__ = fields


class _Bar:
    """A tqdm progress bar as a callback."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise MissingPackage("progress=True needs the package tqdm (pip install tqdm)") from error
        self._bar = tqdm(unit="B", unit_scale=True)

    def __call__(self, done: int, expected: int) -> None:
        self._bar.total = expected or None
        self._bar.update(done - self._bar.n)


def callback(progress: Progress) -> Callable[[int, int], object] | None:
    if progress is True:
        return _Bar()
    return progress or None


def format_named(path: Path | None, format: str | None) -> str | None:
    """The format, if the file name alone gives one."""
    if format is not None or path is None:
        return format
    name = os.fspath(path).lower().removesuffix(".gz")
    ending = os.path.splitext(name)[1].removeprefix(".")
    meant = [known.name for known in formats() if known.versions and ending in known.extensions]
    return meant[0] if len(meant) == 1 else None


def settings(
    format: str | None, compress: str | bool | None, checksum: str | None
) -> dict[str, str]:
    """The format options for `compress` and `checksum`."""
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


PerTensor = str | Mapping[str, str]
"""One choice for all tensors, or one per glob."""


def _per_tensor(choice: PerTensor | None) -> list[tuple[str, str]]:
    return [("*", choice)] if isinstance(choice, str) else list((choice or {}).items())


def writing(
    format: str | None,
    version: str | None,
    options: Mapping[str, object],
    allow: Iterable[str] | str,
    strict: bool,
    limits: Mapping[str, int] | None,
    sync: bool,
    overwrite: bool,
    complex: Literal["split"] | None,
    part: PerTensor | None,
    cast: PerTensor | None,
    sep: str | None,
    state: bool,
) -> dict[str, Any]:
    """Writing options for the compiled half."""
    if sep is not None and len(sep) != 1:
        raise InvalidRequest(f"sep is one character, not {sep!r}")
    return {
        "format": format,
        "version": version,
        "options": [(name, str(value)) for name, value in options.items()],
        "allow": [allow] if isinstance(allow, str) else list(allow),
        "strict": strict,
        "limits": list((limits or {}).items()),
        "sync": sync,
        "replace": overwrite,
        "complex": complex,
        "part": _per_tensor(part),
        "cast": [(glob, word_of(number)) for glob, number in _per_tensor(cast)],
        "sep": sep,
        "state": state,
    }


Entries = dict[str, Any] | list[tuple[str | None, Any]]


def entries_of(arrays: Any) -> Entries:
    """The names and values of a mapping, or the single value."""
    if type(arrays) is dict:
        return arrays
    if isinstance(arrays, File):
        file = arrays._open()
        return [(name, file.tensor(place)) for name, place in arrays._places().items()]
    # One kind of SciPy matrix is a dictionary as well.
    if isinstance(arrays, Mapping) and module_of(arrays) != "scipy":
        return dict(arrays)
    if module_of(arrays) == "xarray" and hasattr(arrays, "data_vars"):
        return [(str(name), value) for name, value in arrays.data_vars.items()]
    return [(None, arrays)]


def report(path: Path, said: _tenfold._Saved, begun: float, notes: Iterable[Note] = ()) -> Report:
    """The report, from the result of the compiled half."""
    format, nbytes, beside, losses, remark = said
    remarks = [] if remark is None else [Note("remark", None, None, remark)]
    seconds = time.perf_counter() - begun
    paths = [os.fspath(path) for path in beside]
    return Report(os.fspath(path), format, nbytes, losses, [*notes, *remarks], seconds, paths)


def saved(
    path: Path,
    entries: Entries,
    metadata: Mapping[str, Any] | None,
    how: dict[str, Any],
    progress: Progress,
    begun: float,
) -> Report:
    """Saves named tensors."""
    described = None if metadata is None else dict(metadata)
    said = _tenfold.save(os.fspath(path), entries, core_of, described, how, callback(progress))
    return report(path, said, begun)
