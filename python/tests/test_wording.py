"""Messages of the library, in the words of this package."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import tenfold
from samples import cells
from tenfold._wording import in_python

CRATES = Path(__file__).parents[2] / "crates"
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
FLAG = re.compile(r"(?<![\w-])--[a-z]")
# Of one sentence of FCIDUMP, which is put together of them; a test below reads it.
PIECES = {
    "--symmetrize", "--pack", "--sparse ", "--sparse={name} ",
    "--cast {own}f64 ", ", {cast}{sparse}{kept} --symmetry-tol {share} the first of each",
}  # fmt: skip


def without_tests(text: str) -> str:
    """A source without comments and without the tests at its end."""
    text = text.split("#[cfg(test)]\nmod tests {")[0]
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))


def messages() -> list[str]:
    """Every text of the library that names a flag."""
    found = []
    for crate in ("tenfold", "tenfold-train"):
        for path in sorted((CRATES / crate / "src").rglob("*.rs")):
            if path.name == "tests.rs" or "tests" in path.parts:
                continue
            for literal in LITERAL.findall(without_tests(path.read_text())):
                text = re.sub(r"\\\n\s*", "", literal).replace('\\"', '"')
                if FLAG.search(text) and text not in PIECES:
                    # Numbers stand for what is filled in.
                    found.append(re.sub(r"\{[^{}]*\}", "1", text))
    return found


def test_every_message_of_the_library_names_what_python_has():
    found = messages()
    assert len(found) > 50
    functions = (tenfold.save, tenfold.convert, tenfold.open, tenfold.Symmetric, tenfold.load)
    known = {name for function in functions for name in inspect.signature(function).parameters}
    for text in found:
        told = in_python(text)
        assert not FLAG.search(told), (text, told)
        # Arguments that replace flags are some that functions take.
        arguments = set(re.findall(r"\b([a-z]+)=(?=[\"{\[A-Z ]|$)", told)) - set(
            re.findall(r"\b([a-z]+)=", text)
        )
        assert arguments <= known, (told, arguments - known)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("--opt labels=decimal,shape=3x4", 'options={"labels": "decimal", "shape": "3x4"}'),
        ("with --opt 'type=tensor<float>(x[3])'", 'with options={"type": "tensor<float>(x[3])"}'),
        ("--raw dtype=f32,shape=2,3 does", 'format="raw", options={"dtype": "f32", "shape": "2,3"} does'),
        ("--to ztensor@2 keeps it, --exclude leaves it out", 'ztensor with version="2" keeps it, or leave it out'),
        ("--to tens keeps them", "the format tens keeps them"),
        ("--part re|abs keeps one", 'part="re"|"abs" keeps one'),
        ("go ahead: --allow labels,precision", 'go ahead: allow=["labels", "precision"]'),
        ("--reshape core=1,3 fits", "a reshape to 1,3 fits"),
        ("raise it with --max-ndim", 'raise it with limits={"ndim": …}'),
        ("--force replaces it", "overwrite=True replaces it"),
        ("--cast f64 --symmetrize ba takes the mean",
         'as doubles (cast="f64"), the mean of it and its images under ba is symmetric'),
        ("--symmetrize 'two=k l i j' takes the mean, --pack 'two=k l i j' --symmetry-tol 0 the first of each",
         "the mean of it and its images under k l i j is symmetric"),
    ],
)
def test_flags_become_arguments(text, told):
    assert in_python(text) == told


def test_the_ways_that_refusals_name_lead_on(tmp_path):
    number = np.array([[1 + 2j, 3]])
    path = tmp_path / "a.mtx"
    with pytest.raises(tenfold.LossRefused, match="part=") as caught:
        tenfold.save(tmp_path / "a.npz", {"a": number.astype("c8")}, format="vespa")
    assert 'complex="split"' in str(caught.value) and "--" not in str(caught.value)
    for part, wanted in {"re": number.real, "im": number.imag, "abs": abs(number)}.items():
        tenfold.save(path, number, part=part)
        assert np.array_equal(tenfold.read(path), wanted)
    with pytest.raises(tenfold.LossRefused, match='cast="i64" gives numbers'):
        tenfold.save(path, cells("?", (2, 3)))
    tenfold.save(path, cells("?", (2, 3)), cast="i64")
    assert np.array_equal(tenfold.read(path), cells("?", (2, 3)))
    nearly = [[1.0, 2.0], [2.1, 1.0]]
    with pytest.raises(tenfold.LossRefused, match="tolerance= sets what is tolerated"):
        tenfold.save(tmp_path / "s.tens", tenfold.Symmetric(nearly, [(1, 0)]))
    tenfold.save(tmp_path / "s.tens", tenfold.Symmetric(nearly, [(1, 0)], tolerance=0.1))
    assert tenfold.open(tmp_path / "s.tens").only.symmetries[0].packed


def test_integrals_that_are_nearly_symmetric_say_what_is(tmp_path):
    one = np.array([[1.0, 0.5], [0.5 + 1e-6, 1.0]])
    with pytest.raises(tenfold.LossRefused, match="the mean of it and its images under ba is symmetric") as caught:
        tenfold.save(tmp_path / "FCIDUMP", {"one": one}, format="fcidump", options={"nelec": 2, "ms2": 0})
    assert "--" not in str(caught.value)
