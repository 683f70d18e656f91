"""The exceptions, and what they carry. Everything here is also in `tenfold` itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Loss(NamedTuple):
    """One thing that a format cannot hold."""

    key: str | None
    """The tensor it concerns; `None` for the file as a whole."""
    aspect: str
    """What kind of thing, such as `labels` or `precision`: the word that `allow` takes."""
    detail: str
    """What exactly."""
    tier: str
    """`carried`, `said`, `refused` or `impossible`; see `docs/carried.md`."""


class Note(NamedTuple):
    """A remark about a file that could be read."""

    kind: str
    key: str | None
    at: int | None
    text: str
    len: int | None = None
    file: str | None = None


class TenfoldError(Exception):
    """Everything that this package raises of its own."""

    __module__ = "tenfold"

    def __init_subclass__(cls) -> None:
        # Messages call it by its public name.
        cls.__module__ = "tenfold"


class SafetensorError(TenfoldError):
    """The name by which programs written for safetensors catch a bad file or a bad request."""


class FileError(TenfoldError, OSError):
    """The system said no."""


class MissingFile(FileError, FileNotFoundError):
    """There is no such file."""


class ForbiddenFile(FileError, PermissionError):
    """The file may not be read, or not be written."""


class FolderGiven(FileError, IsADirectoryError):
    """A folder stands where a file is wanted."""


class OutOfMemory(TenfoldError, MemoryError):
    """The system has not enough memory for what was asked for."""


class MalformedFile(SafetensorError, ValueError):
    """The file breaks the rules of its format."""

    def __init__(self, message: str, format: str | None = None, at: int | None = None) -> None:
        super().__init__(message)
        self.format = format
        """The format it was read as."""
        self.at = at
        """The first byte that is wrong."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.format, self.at)


class UnsupportedFeature(SafetensorError, ValueError):
    """The file is sound, but asks for something that is not done."""

    def __init__(self, message: str, format: str | None = None) -> None:
        super().__init__(message)
        self.format = format


class UnrecognisedFile(SafetensorError, ValueError):
    """No format claims the file, or several do."""

    def __init__(
        self, candidates: Sequence[str] = (), content: str | None = None, file: str | None = None
    ) -> None:
        which = f"could be {' or '.join(candidates)}" if candidates else "no known format"
        where = f"{file}: " if file else ""
        super().__init__(where + (content or f"{which}: name one with format="))
        self.candidates = tuple(candidates)
        self.content = content
        """What the file is, where it is known: `an HDF5 file, which is not read yet`."""
        self.file = file
        """The file, where it has a name."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.candidates, self.content, self.file)


_MOST_COUNTED = ((1 << 64) - 1, (1 << 128) - 1)
"""Where counts of the library end: what it gives for more."""


class LimitExceeded(SafetensorError, ValueError):
    """A limit stands in the way; `limits={name: value}` raises it."""

    def __init__(self, why: str, limit: str, wanted: int, allowed: int) -> None:
        # No limit is as large as what is beyond counting.
        advice = f"; limits={{{limit!r}: {wanted}}} raises it" if wanted < _MOST_COUNTED[0] else ""
        beyond = next((f"2^{most.bit_length()} or more" for most in _MOST_COUNTED if wanted == most), None)
        super().__init__(f"{why} ({beyond or wanted} wanted, {allowed} allowed{advice})")
        self.why = why
        self.limit = limit
        self.wanted = wanted
        """How much would be needed; 2^64 - 1 and 2^128 - 1 stand for more than was counted."""
        self.allowed = allowed

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.why, self.limit, self.wanted, self.allowed)


_MOST_LISTED = 20
"""How many losses a message names one by one."""


class LossRefused(SafetensorError, ValueError):
    """The format cannot hold everything, and nothing was written.

    `losses` lists what it is; `allow=[…]` with the words of their aspects goes ahead all the same.
    """

    def __init__(self, format: str, losses: Sequence[Loss]) -> None:
        self.format = format
        self.losses = list(losses)
        lines = [f"{format} cannot hold all of it; nothing was written"]
        for loss in self.losses[:_MOST_LISTED]:
            where = f"{loss.key}: " if loss.key else ""
            lines.append(f"  {loss.aspect}: {where}{loss.detail}")
        if len(self.losses) > _MOST_LISTED:
            lines.append(f"  … and {len(self.losses) - _MOST_LISTED} more, in `losses`")
        if any(loss.tier == "impossible" for loss in self.losses):
            lines.append("there is no way to write this as " + format)
        else:
            aspects = list(dict.fromkeys(loss.aspect for loss in self.losses))
            lines.append(f"to go ahead: allow={aspects}")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.format, self.losses)


class RankLimitReached(TenfoldError, ValueError):
    """A tolerance and a largest rank exclude each other; `best_effort=True` takes what there is."""

    def __init__(self, message: str, needed: int, allowed: int, reached: float) -> None:
        super().__init__(f"{message}; best_effort=True takes that")
        self._message = message
        self.needed = needed
        self.allowed = allowed
        self.reached = reached
        """The relative error that the rank allows."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._message, self.needed, self.allowed, self.reached)


class InvalidRequest(SafetensorError, ValueError):
    """The caller asked for something that makes no sense."""


class TensorNotFound(SafetensorError, KeyError):
    """The file has no tensor of that name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class MissingPackage(TenfoldError, ImportError):
    """A package that is not installed would be needed."""
