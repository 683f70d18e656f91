"""Messages of the library, with command-line flags replaced by arguments."""

from __future__ import annotations

import re
from collections.abc import Callable

_PHRASES = {
    "; --only chooses one, --out-dir writes a file for each": (
        "; only= of convert() takes one, save() each in a file of its own"
    ),
    "--rename changes names, --out-dir writes a file for each": (
        "save() takes it under another name, or in a file of its own"
    ),
    "--out-dir writes a file for each": "save() takes each in a file of its own",
    "--rename changes it": "save() takes it under another name",
    "--rename changes them": "save() takes them under others",
    ", --exclude leaves it out": ", or leave it out",
    "; --reshape gives others": "; a reshape gives others",
    ": give it more with --reshape": ": reshape it",
    "--format, or say with --raw what numbers these are": "format=",
    "--eps 1e-6 makes a train": "tenfold.compress makes a train",
    "--dense --allow labels makes positions of the labels": (
        "its labelled().dense() has positions in place of labels"
    ),
    "--dense expands it": "np.asarray() expands it",
    "; --dense=core": "; np.asarray() makes it dense",
    "--sparse keeps the cells that are not zero": (
        "scipy.sparse.coo_array() keeps the cells that are not zero"
    ),
    "--sparse permits several": "pack=False declares several",
    "--symmetry-tol 0 forgives": "tolerance=0 forgives",
    "--symmetry-tol sets": "tolerance= sets",
    "; --dims names them": "; give the array other dims",
}
"""Clauses that Python words differently without an argument, longer ones before those they contain."""


def _options(given: str) -> str:
    """`endian=big,form=hex` as a dictionary."""
    pairs = []
    for item in re.split(r",(?=[\w-]+=)", given):
        name, equals, value = item.partition("=")
        pairs.append(f'"{name}": "{value}"' if equals and value else f'"{name}": …')
    return "{" + ", ".join(pairs) + "}"


def _listed(words: str) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words.split(",")) + "]"


def _format(match: re.Match[str]) -> str:
    """A format, with its version if given."""
    name, version = match["name"], match["version"]
    return f'{name} with version="{version}"' if version else f"the format {name}"


def _mean(match: re.Match[str]) -> str:
    """The remedy for nearly symmetric integrals."""
    images = ", ".join(quoted or plain for quoted, plain in re.findall(_IMAGE, match[0]))
    doubles = 'as doubles (cast="f64"), ' if match["cast"] else ""
    return f"{doubles}the mean of it and its images under {images} is symmetric"


def _parts(match: re.Match[str]) -> str:
    return "part=" + "|".join(f'"{part}"' for part in match["value"].split("|"))


_IMAGE = r"--symmetrize (?:'(?:\w+=)?([^']+)'|(?:\w+=)?([\w*]+))"
_TO = r"(?P<name>[\w{}]+)(?:@(?P<version>[\w.{}]*\w|\{\}))?"
_VALUE = r"(?P<value>[^\s;,()']+(?:,[^\s;,()']+)*)"
_FLAGS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"(?P<cast>--cast \S+ )?(?:" + _IMAGE + r" )+takes the mean(?:, .* the first of each)?", _mean),
    (r"--opt '(?P<value>[^']+)'", lambda match: f"options={_options(match['value'])}"),
    (r"--opt " + _VALUE, lambda match: f"options={_options(match['value'])}"),
    (r"--raw " + _VALUE, lambda match: f'format="raw", options={_options(match["value"])}'),
    (r"--allow " + _VALUE, lambda match: f"allow={_listed(match['value'])}"),
    (r"--part (?P<value>[\w|]+)", _parts),
    (r"--cast (?P<value>\w+)", r'cast="\g<value>"'),
    (r"--sep (?P<value>[^\w\s])", r'sep="\g<value>"'),
    (r"--reshape (?:[^\s=]+=)?(?P<value>[\d,]+)", r"a reshape to \g<value>"),
    (r"--to " + _TO, _format),
    (r"--complex split", 'complex="split"'),
    (r"--max-(?P<value>[\w-]+)", r'limits={"\g<value>": …}'),
    (r"--memory\b", 'limits={"memory": …}'),
    (r"--sep\b", "sep="),
    (r"--no-state\b", "state=False"),
    (r"--dequantize\b", 'astype("f32")'),
    (r"--force\b", "overwrite=True"),
    (r"--lenient\b", "lenient=True"),
    (r"--alone\b", "alone=True"),
    (r"--format\b", "format="),
]  # fmt: skip
"""Flags that are arguments here, with their values."""
_RULES = [(re.compile(pattern), word) for pattern, word in _FLAGS]


def in_python(text: str) -> str:
    """A message with arguments in place of flags.

    >>> in_python("no zeros; --opt zeros=keep writes them, --allow sparsity goes without")
    'no zeros; options={"zeros": "keep"} writes them, allow=["sparsity"] goes without'
    """
    for phrase, way in _PHRASES.items():
        text = text.replace(phrase, way)
    for rule, word in _RULES:
        text = rule.sub(word, text)
    return text
