"""Compares trains with torchTT: each program multiplies out, sizes, rounds and multiplies what the other one made."""

import json
import os
import tempfile

import numpy
import torch
import torchtt

from blz_file import read_blz, write_blz
from shared import tenfold

TOLERANCES = [1e-1, 1e-3, 1e-6, 1e-9]


def tensors():
    """Names and tensors."""
    random = numpy.random.default_rng(8)
    i = numpy.arange(14.0)
    sums = i[:, None, None, None] + i[:, None, None] + i[:, None] + i
    yield "Hilbert", 1 / (sums + 1)
    yield "waves", numpy.exp(0.7j * sums) + 0.1 * numpy.cos(sums**2 / 50)
    factors = [random.standard_normal((5, size)) for size in (9, 10, 11, 12)]
    low = numpy.einsum("ra,rb,rc,rd->abcd", *factors)
    yield "low rank", low + 1e-7 * random.standard_normal(low.shape)
    yield "noise", random.standard_normal((6, 5, 7, 8))
    yield "binary digits", numpy.sin(numpy.arange(4096.0) ** 2 / 1e5).reshape([2] * 12)


def of_torch(cores):
    """Cores as a train of torchTT."""
    return torchtt.TT([torch.from_numpy(numpy.array(core)) for core in cores])


def of_ours(train):
    """A train of torchTT as cores."""
    return [core.numpy() for core in train.cores]


def size(cores):
    """The numbers in cores."""
    return sum(core.size for core in cores)


def distance(one, other):
    """How far two arrays are apart, as a part of the norm of the second."""
    return numpy.linalg.norm(one - other) / numpy.linalg.norm(other)


def check(name, cells, eps, folder):
    """One tensor at one tolerance, in both directions; gives our cores."""
    path = {what: os.path.join(folder, what) for what in ("data.npy", "ours.blz", "theirs.blz", "back.npy")}
    numpy.save(path["data.npy"], cells)
    tenfold("compress", path["data.npy"], path["ours.blz"], "--eps", repr(eps), "--force", "--quiet")
    ours = read_blz(path["ours.blz"])
    assert distance(of_torch(ours).full().numpy(), cells) <= eps, (name, eps)
    theirs = torchtt.TT(torch.from_numpy(numpy.array(cells)), eps=eps)
    assert size(ours) <= 1.1 * size(of_ours(theirs)), (name, eps, size(ours), size(of_ours(theirs)))
    write_blz(path["theirs.blz"], of_ours(theirs))
    tenfold("reconstruct", path["theirs.blz"], path["back.npy"], "--force", "--quiet")
    assert distance(numpy.load(path["back.npy"]), theirs.full().numpy()) < 1e-13, (name, eps)
    return ours


def arithmetic(name, one, two, folder):
    """The inner product, the norm and the rounding of two trains."""
    first, second, both, less = (os.path.join(folder, what) for what in ("a.blz", "b.blz", "both.blz", "less.blz"))
    write_blz(first, one)
    write_blz(second, two)
    said = json.loads(tenfold("tt", "dot", first, second, "--json"))
    found = complex(said["re"], said["im"])
    wanted = numpy.vdot(of_torch(one).full().numpy(), of_torch(two).full().numpy())
    scale = of_torch(one).norm().item() * of_torch(two).norm().item()
    assert abs(found - wanted) <= 1e-12 * scale, (name, found, wanted)
    norm = json.loads(tenfold("tt", "norm", first, "--json"))["norm"]
    assert abs(norm - of_torch(one).norm().item()) <= 1e-10 * norm, (name, norm)
    total = of_torch(one) + of_torch(two)
    write_blz(both, of_ours(total))
    tenfold("tt", "round", both, less, "--eps", "1e-8", "--force", "--quiet")
    rounded = read_blz(less)
    assert distance(of_torch(rounded).full().numpy(), total.full().numpy()) <= 1e-8, name
    assert size(rounded) <= 1.1 * size(of_ours(total.round(1e-8))), name


def main():
    """Every tensor at every tolerance."""
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, cells in tensors():
            made = []
            for eps in TOLERANCES:
                made.append(check(name, cells, eps, folder))
                count += 1
            arithmetic(name, made[0], made[-1], folder)
    print(f"torchtt: {count} trains agree")


main()
