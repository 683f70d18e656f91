"""Compares tenfold with PySCF's `pyscf.tools.fcidump`, both ways and bit for bit.

What PySCF writes of molecules and of random integrals, with eight-fold and four-fold symmetry, tenfold turns into the
arrays that PySCF reads from the same file; what tenfold writes of arrays, or of such a file, PySCF reads with the
same bits. Where PySCF lists (ij|kl) and (kl|ij) and its cut-off drops one of the two, `info`, `verify`, `hash`, `diff` and
`convert` agree about the file.
"""

import json
import tempfile
from pathlib import Path

import numpy
from pyscf import ao2mo, gto, scf
from pyscf.tools import fcidump

from shared import refusal, tenfold

QUIET = ("--force", "--no-sync", "--quiet")
PACKED = ("--pack", "two=bacd", "--pack", "two=abdc", "--pack", "two=cdab")


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
    # to_scf stops at a file without NELEC.
    refused = refusal("convert", str(arrays), str(ours), *QUIET)
    assert "--opt nelec=10,ms2=0" in refused, refused
    tenfold("convert", str(arrays), str(ours), "--opt", f"nelec={norb},ms2=0", *QUIET)
    read = fcidump.read(ours, verbose=False)
    assert (read["NORB"], read["NELEC"], read["MS2"]) == (norb, norb, 0)
    assert same(read["H2"], ao2mo.restore(8, two, norb)) and same(read["H1"], one) and same(read["ECORE"], core)


def molecules(path):
    """Files of molecules, as PySCF writes them."""
    for atoms, symmetry in (("H 0 0 0; H 0 0 0.74", False), ("H 0 0 0; H 0 0 0.74", True), ("O 0 0 0; H 0 1 0; H 0 0 1", False), ("Li 0 0 0; H 0 0 1.6", True)):
        molecule = gto.M(atom=atoms, basis="sto-3g", symmetry=symmetry, verbose=0)
        fcidump.from_scf(scf.RHF(molecule).run(), path, tol=1e-15)
        yield path


def check_cut_off(path, ours, arrays, source, norb):
    """A file where mirror images differ by rounding, or one of two is below PySCF's cut-off of 1e-15."""
    one, two, core = random_integrals(source, norb)
    pairs = ao2mo.restore(4, source.standard_normal(two.size), norb)
    small = source.random(pairs.shape) < 0.3
    pairs[small & small.T] = 1e-15
    pairs *= 1 + source.uniform(-4e-16, 4e-16, pairs.shape)
    fcidump.from_integrals(str(path), one, pairs, norb, norb, core, float_format=" %.17g")
    listed = {tuple(map(int, line.split()[1:])) for line in path.read_text().split("&END")[1].splitlines() if line.strip()}
    lost = [at for at in listed if 0 not in at and at[2:] + at[:2] not in listed]
    assert lost, "the cut-off has dropped nothing"
    note = tenfold("info", str(path))
    assert "four-fold; mirror images differ by up to" in note and "not listed" in note, note
    tenfold("verify", str(path), "--quiet")
    tenfold("convert", str(path), str(arrays), *QUIET)
    tenfold("diff", str(path), str(arrays), "--quiet")
    hashes = [tenfold("hash", "--dense", str(name)).split()[0] for name in (path, arrays)]
    assert hashes[0] == hashes[1]
    found = numpy.load(arrays)["two"]
    kept = numpy.where(abs(pairs) > 1e-15, pairs, 0)
    kept = ao2mo.restore(1, numpy.where(kept == 0, kept.T, kept), norb)
    assert same(found, kept), "every value at its own place, or its mirror image"
    tenfold("convert", str(path), str(ours), *QUIET)
    assert numpy.allclose(fcidump.read(ours, verbose=False)["H2"], ao2mo.restore(8, kept, norb), rtol=0, atol=1e-12)
    tenfold("verify", str(ours), "--quiet")


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
            check_rewritten(path, ours, read, alike=near)
            check_rewritten(path, ours, read, *PACKED, alike=near)
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
            check_rewritten(path, ours, check_read(path, arrays))
            theirs, written = theirs + 2, written + 3
        for norb in (4, 6):
            check_cut_off(path, ours, arrays, source, norb)
            theirs, written = theirs + 1, written + 1
    print(f"fcidump: {theirs} files of PySCF, {written + 4} files of tenfold")


if __name__ == "__main__":
    main()
