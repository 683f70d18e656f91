"""Representations that stay short however large what they stand for is."""

from __future__ import annotations

import reprlib

_SHORT = reprlib.Repr()
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = 12
_SHORT.maxstring = _SHORT.maxother = 200
short = _SHORT.repr
"""The representation of a value, with dots for what is beyond the first dozen."""


def fields(value: object) -> str:
    """The representation of a dataclass."""
    shown = ", ".join(f"{name}={short(own)}" for name, own in vars(value).items())
    return f"{type(value).__name__}({shown})"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """How many there are of something."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
