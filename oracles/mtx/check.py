"""Compares tenfold with SciPy's `mmread` and `mmwrite`, both ways and bit for bit.

What SciPy writes of random bits, of every type, layout and symmetry it has, tenfold turns into the same
array; what tenfold writes of such arrays, SciPy reads with the same bits (of a NaN, that it is one; of -0.0, that it is zero).
"""

import io
import os
import subprocess
import tempfile
from pathlib import Path

import numpy
from scipy import sparse
from scipy.io import mmread, mmwrite

from shared import tenfold

CORPUS = Path(__file__).resolve().parent.parent.parent / "corpus" / "mtx"
KINDS = ["f8", "i8", "u8", "c16"]
SYMMETRIES = ["general", "symmetric", "skew-symmetric", "hermitian"]


def numbers(source, kind, shape):
    """Random bits: every exponent, infinities and NaNs too."""
    count = int(numpy.prod(shape)) * numpy.dtype(kind).itemsize
    values = source.integers(0, 256, count, dtype=numpy.uint8).view(kind).reshape(shape).copy()
    if values.dtype.kind in "fc" and values.size > 4:
        values.ravel()[:3] = [numpy.nan, numpy.inf, -0.0]
    return values


def with_symmetry(values, symmetry):
    """The matrix that the lower triangle of `values` gives."""
    below = numpy.tril(numpy.ones(values.shape, dtype=bool), -1)
    images = {"symmetric": values, "skew-symmetric": -values, "hermitian": values.conj()}
    if symmetry == "general":
        return values
    made = numpy.where(below, values, images[symmetry].T)
    diagonal = numpy.arange(len(values))
    own = values.diagonal()
    if symmetry == "skew-symmetric":
        own = 0
    if symmetry == "hermitian":
        own = own.real
    made[diagonal, diagonal] = own
    return made


def bits(values):
    """The bits of an array, where all NaNs are one."""
    values = numpy.ascontiguousarray(values)
    if values.dtype.kind == "c":
        values = values.view(values.real.dtype)
    if values.dtype.kind == "f":
        values = numpy.where(numpy.isnan(values), numpy.nan, values)
    return values.dtype, values.shape, values.tobytes()


def as_read(values):
    """The bits of an array, where -0.0 is 0.0: SciPy adds what it reads to zeros."""
    return bits(values + 0.0 if values.dtype.kind in "fc" else values)


def cases(source):
    for kind in KINDS:
        for symmetry in SYMMETRIES:
            dtype = numpy.dtype(kind)
            if symmetry == "hermitian" and dtype.kind != "c" or symmetry == "skew-symmetric" and dtype.kind == "u":
                continue
            for shape in [(1, 1), (5, 5), (30, 30)] + ([(3, 7), (40, 1)] if symmetry == "general" else []):
                values = numbers(source, kind, shape)
                if dtype.kind == "i":
                    values[values == numpy.iinfo(dtype).min] = 1  # it has no negative
                yield symmetry, with_symmetry(values, symmetry)


def check_theirs(folder):
    """tenfold reads what SciPy writes."""
    source = numpy.random.default_rng(1)
    text, array = folder / "theirs.mtx", folder / "ours.npy"
    count = 0
    for symmetry, values in cases(source):
        stored = source.random(values.shape) < 0.3
        stored |= stored.T if symmetry != "general" else stored
        for matrix in (values, sparse.coo_array(numpy.where(stored, values, 0))):
            if sparse.issparse(matrix) and matrix.nnz == 0:
                continue  # SciPy writes whatever has no entries as real
            mmwrite(text, matrix, symmetry=symmetry)
            wanted = matrix.toarray() if sparse.issparse(matrix) else matrix
            tenfold("verify", "--lenient", str(text))
            tenfold("convert", str(text), str(array), "--force", "--no-sync", "--quiet")
            assert bits(numpy.load(array)) == bits(wanted), (symmetry, values.dtype, values.shape)
            count += 1
    return count


def check_ours(folder):
    """SciPy reads what tenfold writes."""
    source = numpy.random.default_rng(2)
    array, text, again = folder / "theirs.npy", folder / "ours.mtx", folder / "again.mtx"
    count = 0
    for symmetry, values in cases(source):
        numpy.save(array, values)
        tenfold("convert", str(array), str(text), "--force", "--no-sync", "--quiet")
        assert as_read(mmread(text)) == as_read(values), (symmetry, values.dtype, values.shape)
        count += 1
        # Once more from what SciPy wrote with a symmetry, dense and sparse.
        for matrix in (values, sparse.coo_array(values)):
            if sparse.issparse(matrix) and matrix.nnz == 0:
                continue
            mmwrite(again, matrix, symmetry=symmetry)
            tenfold("convert", str(again), str(text), "--force", "--no-sync", "--quiet")
            assert text.read_bytes().split()[:5] == again.read_bytes().split()[:5]
            found = mmread(text, spmatrix=False)
            found = found.toarray() if sparse.issparse(found) else found
            wanted = matrix.toarray() if sparse.issparse(matrix) else matrix
            assert as_read(found) == as_read(wanted), (symmetry, values.dtype, values.shape)
            count += 1
    return count


def check_pattern(folder):
    """Patterns, and the words that a banner is written with."""
    matrix = sparse.coo_array(numpy.random.default_rng(3).random((20, 20)) < 0.2)
    text, ours = folder / "pattern.mtx", folder / "ours.mtx"
    mmwrite(text, matrix.astype(float), field="pattern")
    tenfold("convert", str(text), str(ours), "--force", "--no-sync", "--quiet")
    assert b"pattern" in ours.read_bytes()
    assert (mmread(ours).toarray() == matrix.toarray()).all()
    return 1


def check_refused():
    """tenfold refuses the bad files of the corpus; which of the good ones SciPy refuses is known."""
    for path in sorted(CORPUS.glob("bad/*.mtx")):
        ran = subprocess.run([os.environ["TENFOLD"], "verify", str(path)], capture_output=True, text=True)
        assert ran.returncode == 1, path
    refused = set()
    for path in sorted(CORPUS.glob("good/*.mtx")):
        if "none" in path.name or "array_empty" in path.name or "skew_of_one" in path.name:
            continue  # SciPy divides by zero
        try:
            mmread(io.BytesIO(path.read_bytes()))
        except (ValueError, OverflowError, UnicodeDecodeError):
            refused.add(path.stem)
    # A plus sign, a comment that is no UTF-8, a banner in small letters.
    known = {"spellings", "integer_spellings", "comment_not_utf8", "any_case"}
    assert refused <= known, refused - known
    return len(refused)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        theirs, ours, patterns = check_theirs(folder), check_ours(folder), check_pattern(folder)
        print(f"mtx: {theirs} files of SciPy, {ours + patterns} files of tenfold; {check_refused()} good ones SciPy refuses")


if __name__ == "__main__":
    main()
