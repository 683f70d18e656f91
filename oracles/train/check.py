"""Compares trains with NumPy: what comes out of `compress` is contracted by `numpy.einsum` and held against the data.

The engine is asked through the example `workloads` of `tenfold-train`, whose path the variable `WORKLOADS` names; the
`.blz` file it saves is read here by its byte table.
"""

import os
import string
import subprocess
import tempfile

import numpy

from blz_file import read_blz

TOLERANCES = [1e-1, 1e-3, 1e-6, 1e-9, 1e-12]


def contracted(cores):
    """All cells of a train, by one sum over all bonds."""
    letters = iter(string.ascii_letters)
    bond, terms, places = next(letters), [], ""
    first = bond
    for _ in cores:
        place, after = next(letters), next(letters)
        terms.append(bond + place + after)
        places += place
        bond = after
    whole = numpy.einsum(f"{','.join(terms)}->{first}{places}{bond}", *cores, optimize=True)
    return whole[0, ..., 0]


def compressed(cells, eps, folder):
    """The cores that the engine finds, and the relative error that it proves."""
    data, train = os.path.join(folder, "data.npy"), os.path.join(folder, "train.blz")
    numpy.save(data, cells)
    said = subprocess.run(
        [os.environ["WORKLOADS"], "compress", data, repr(eps)],
        input=f"go\nsave {train}\n", check=True, capture_output=True, text=True,
    ).stdout.splitlines()
    return read_blz(train), float(said[-1].split()[0])


def tensors():
    """Names and tensors: smooth, of a low rank with noise, complex, with a spike, of noise alone, and tiny ones."""
    random = numpy.random.default_rng(5)
    i = numpy.arange(12.0)
    sums = i[:, None, None, None] + i[:, None, None] + i[:, None] + i
    yield "Hilbert", 1 / (sums + 1)
    yield "waves", numpy.exp(0.7j * sums) + 0.1 * numpy.cos(sums**2 / 50)
    factors = [random.standard_normal((5, size)) for size in (9, 10, 11, 12)]
    low = numpy.einsum("ra,rb,rc,rd->abcd", *factors)
    yield "low rank", low + 1e-7 * random.standard_normal(low.shape)
    yield "column-major", numpy.asfortranarray(low)
    spiked = low.copy()
    spiked[3, 1, 4, 1] += 100
    yield "a spike", spiked
    turned = numpy.einsum("ra,rb,rc,rd->abcd", *[factor + 1j * factor[::-1] for factor in factors])
    yield "complex", turned
    yield "tiny", low * 1e-290
    yield "binary digits", numpy.sin(numpy.arange(4096.0) ** 2 / 1e5).reshape([2] * 12)
    yield "noise", random.standard_normal((6, 1, 7, 8))
    yield "zeros", numpy.zeros((4, 5, 6))


def main():
    """Compresses everything at every tolerance."""
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, cells in tensors():
            for eps in TOLERANCES:
                cores, proven = compressed(cells, eps, folder)
                scale = numpy.abs(cells).max() or 1.0
                found = contracted(cores)
                assert found.shape == cells.shape, (name, found.shape)
                length = numpy.linalg.norm(cells / scale) or 1.0
                error = numpy.linalg.norm(found / scale - cells / scale) / length
                assert error <= eps, (name, eps, error)
                assert error <= proven * (1 + 1e-9) and proven <= eps, (name, eps, error, proven)
                count += 1
    print(f"train: {count} trains are as near as promised")


main()
