"""Representations that stay short, however large the object."""

from __future__ import annotations

import reprlib

_SHORT = reprlib.Repr()
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = 12
_SHORT.maxstring = _SHORT.maxother = 200
short = _SHORT.repr
"""The representation of a value, abbreviated after the first dozen items."""


def fields(value: object) -> str:
    """The representation of a dataclass."""
    shown = ", ".join(f"{name}={short(own)}" for name, own in vars(value).items())
    return f"{type(value).__name__}({shown})"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
