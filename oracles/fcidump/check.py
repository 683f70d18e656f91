"""Compares tenfold with PySCF's `pyscf.tools.fcidump`, both ways and bit for bit.

What PySCF writes of molecules and of random integrals, with eight-fold and four-fold symmetry, tenfold turns into the
arrays that PySCF reads from the same file; what tenfold writes of arrays, or of such a file, PySCF reads with the
same bits.
"""

import json
import tempfile
from pathlib import Path

import numpy
from pyscf import ao2mo, gto, scf
from pyscf.tools import fcidump

from shared import tenfold

QUIET = ("--force", "--no-sync", "--quiet")
PACKED = ("--pack", "one=ba", "--pack", "two=bacd", "--pack", "two=abdc", "--pack", "two=cdab")


def same(found, wanted):
    """Whether arrays have the same bits; the sign of a zero is not written by PySCF."""
    found, wanted = numpy.asarray(found) + 0.0, numpy.asarray(wanted) + 0.0
    return found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


def near(found, wanted):
    return numpy.allclose(found, wanted, rtol=0, atol=1e-14)


def check_read(path, arrays, *options):
    """What tenfold makes of a file is what PySCF reads from it."""
    read = fcidump.read(path, verbose=False)
    tenfold("convert", str(path), str(arrays), *options, *QUIET)
    found = numpy.load(arrays)
    norb = read["NORB"]
    # Where a file has (ij|kl) and (kl|ij), PySCF takes the later, ij > kl; tenfold keeps both.
    pair = numpy.add.outer(numpy.arange(norb) * norb, numpy.arange(norb))
    pair = numpy.maximum(pair, pair.T)
    is_kept = pair[:, :, None, None] >= pair[None, None]
    wanted = ao2mo.restore(1, read["H2"], norb)
    assert same(found["two"][is_kept], wanted[is_kept]) and near(found["two"], wanted), path
    assert same(found["one"], read["H1"]), path
    assert same(found["core"], read["ECORE"]), path
    settings = json.loads(tenfold("info", "--json", str(path), *options))["metadata"]
    for name in ("NELEC", "MS2", "ORBSYM", "ISYM"):
        assert settings[f"fcidump:{name}"] == read[name], name
    return read


def check_rewritten(path, ours, read, *options, alike=same):
    """What tenfold writes of a file says the same to PySCF."""
    tenfold("convert", str(path), str(ours), *options, *QUIET)
    again = fcidump.read(ours, verbose=False)
    assert read.keys() == again.keys()
    for name, value in read.items():
        assert alike(again[name], value) if name == "H2" else same(again[name], value), name


def check_written(ours, arrays, one, two, core):
    """What tenfold writes of arrays has the same bits for PySCF."""
    norb = len(one)
    numpy.savez(arrays, one=one, two=ao2mo.restore(1, two, norb), core=numpy.float64(core))
    tenfold("convert", str(arrays), str(ours), "--sparse=???", *PACKED, *QUIET)
    read = fcidump.read(ours, verbose=False)
    assert read["NORB"] == norb
    assert same(read["H2"], ao2mo.restore(8, two, norb)) and same(read["H1"], one) and same(read["ECORE"], core)


def molecules(path):
    """Files of molecules, as PySCF writes them."""
    for atoms, symmetry in (("H 0 0 0; H 0 0 0.74", False), ("H 0 0 0; H 0 0 0.74", True), ("O 0 0 0; H 0 1 0; H 0 0 1", False), ("Li 0 0 0; H 0 0 1.6", True)):
        molecule = gto.M(atom=atoms, basis="sto-3g", symmetry=symmetry, verbose=0)
        fcidump.from_scf(scf.RHF(molecule).run(), path, tol=1e-15)
        yield path


def random_integrals(source, norb):
    pairs = norb * (norb + 1) // 2
    one = source.standard_normal((norb, norb))
    one = one + one.T
    two = source.standard_normal(pairs * (pairs + 1) // 2) * 10.0 ** source.integers(-12, 6, pairs * (pairs + 1) // 2)
    return one, two, source.standard_normal()


def main():
    source = numpy.random.default_rng(11)
    theirs = written = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        path, ours, arrays = folder / "theirs.fcidump", folder / "ours.fcidump", folder / "arrays.npz"
        for file in molecules(str(path)):
            read = check_read(path, arrays)
            check_rewritten(path, ours, read, *PACKED, "--symmetry-tol", "1e-12", alike=near)
            theirs += 1
        for norb in (1, 2, 3, 5, 8):
            one, two, core = random_integrals(source, norb)
            # Digits enough for every bit.
            fcidump.from_integrals(str(path), one, two, norb, norb, core, tol=0, float_format=" %.17g")
            read = check_read(path, arrays)
            assert same(read["H2"], two)
            check_rewritten(path, ours, read)
            check_written(ours, arrays, one, two, core)
            # Four-fold: (ij|kl) and (kl|ij) both stand in the file.
            fcidump.from_integrals(str(path), one, ao2mo.restore(4, two, norb), norb, norb, core, tol=0, float_format=" %.17g")
            check_read(path, arrays, "--opt", "symmetry=4")
            assert same(numpy.load(arrays)["two"], ao2mo.restore(1, two, norb))
            check_rewritten(path, ours, check_read(path, arrays), *PACKED)
            theirs, written = theirs + 2, written + 3
    print(f"fcidump: {theirs} files of PySCF, {written + 4} files of tenfold")


if __name__ == "__main__":
    main()
