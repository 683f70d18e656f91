"""The exceptions and their attributes. Everything here is also in `tenfold` itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Loss(NamedTuple):
    """One thing that a format cannot hold."""

    key: str | None
    """The tensor; `None` for the file as a whole."""
    aspect: str
    """The aspect, such as `labels` or `precision`: the value to pass to `allow`."""
    detail: str
    """A description."""
    tier: str
    """`carried`, `said`, `refused` or `impossible`; see `docs/carried.md`."""


class Note(NamedTuple):
    """A note about a file that could be read."""

    kind: str
    key: str | None
    at: int | None
    text: str
    len: int | None = None
    file: str | None = None


class TenfoldError(Exception):
    """Base class of all exceptions of this package."""

    __module__ = "tenfold"

    def __init_subclass__(cls) -> None:
        # Messages use its public name.
        cls.__module__ = "tenfold"


class SafetensorError(TenfoldError):
    """The exception of safetensors for an invalid file or request."""


class FileError(TenfoldError, OSError):
    """An error of the operating system."""


class MissingFile(FileError, FileNotFoundError):
    """The file does not exist."""


class ForbiddenFile(FileError, PermissionError):
    """Permission to read or write the file was denied."""


class FolderGiven(FileError, IsADirectoryError):
    """The path is a folder, not a file."""


class OutOfMemory(TenfoldError, MemoryError):
    """The system does not have enough memory."""


class MalformedFile(SafetensorError, ValueError):
    """The file violates the rules of its format."""

    def __init__(self, message: str, format: str | None = None, at: int | None = None) -> None:
        super().__init__(message)
        self.format = format
        """The format of the reader."""
        self.at = at
        """The offset of the first invalid byte."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.format, self.at)


class UnsupportedFeature(SafetensorError, ValueError):
    """The file is valid, but uses an unsupported feature."""

    def __init__(self, message: str, format: str | None = None) -> None:
        super().__init__(message)
        self.format = format


class UnrecognisedFile(SafetensorError, ValueError):
    """No format matches the file, or several do."""

    def __init__(
        self, candidates: Sequence[str] = (), content: str | None = None, file: str | None = None
    ) -> None:
        which = f"could be {' or '.join(candidates)}" if candidates else "no known format"
        where = f"{file}: " if file else ""
        super().__init__(where + (content or f"{which}: name one with format="))
        self.candidates = tuple(candidates)
        self.content = content
        """The kind of file, if known: `an HDF5 file, which is not read yet`."""
        self.file = file
        """The path of the file, if it has one."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.candidates, self.content, self.file)


_MOST_COUNTED = ((1 << 64) - 1, (1 << 128) - 1)
"""Where the library's counts saturate."""


class LimitExceeded(SafetensorError, ValueError):
    """A limit was exceeded; `limits={name: value}` raises it."""

    def __init__(self, why: str, limit: str, wanted: int, allowed: int) -> None:
        # No limit can be raised to a saturated count.
        advice = f"; limits={{{limit!r}: {wanted}}} raises it" if wanted < _MOST_COUNTED[0] else ""
        beyond = next((f"2^{most.bit_length()} or more" for most in _MOST_COUNTED if wanted == most), None)
        super().__init__(f"{why} ({beyond or wanted} wanted, {allowed} allowed{advice})")
        self.why = why
        self.limit = limit
        self.wanted = wanted
        """The required value; 2^64 - 1 and 2^128 - 1 stand for saturated counts."""
        self.allowed = allowed

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.why, self.limit, self.wanted, self.allowed)


_MOST_LISTED = 20
"""Most losses that a message lists individually."""


class LossRefused(SafetensorError, ValueError):
    """The format cannot hold everything; nothing was written.

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
    """A tolerance and a maximum rank exclude each other; `best_effort=True` accepts the best result."""

    def __init__(self, message: str, needed: int, allowed: int, reached: float) -> None:
        super().__init__(f"{message}; best_effort=True takes that")
        self._message = message
        self.needed = needed
        self.allowed = allowed
        self.reached = reached
        """The relative error that the rank permits."""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._message, self.needed, self.allowed, self.reached)


class InvalidRequest(SafetensorError, ValueError):
    """An invalid request."""


class TensorNotFound(SafetensorError, KeyError):
    """The file has no tensor with that name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class MissingPackage(TenfoldError, ImportError):
    """A required package is not installed."""
