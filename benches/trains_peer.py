"""One peer of `tenfold-train`, doing one piece of work again and again as `trains.py` tells it.

Usage: trains_peer.py NAME compress FILE.npy EPS RANKS | trains_peer.py NAME reconstruct | trains_peer.py NAME arithmetic
"""

import json
import os
import sys
import time

import numpy

SHAPE = [8] * 8 + [4]


def timed(work):
    """Milliseconds that something takes, and what it gives."""
    start = time.perf_counter()
    result = work()
    return (time.perf_counter() - start) * 1e3, result


def serve(answer):
    """Answers the lines of the standard input."""
    print("ready", flush=True)
    for line in sys.stdin:
        print(answer(line.strip()), flush=True)


def torch_of_two_threads():
    """PyTorch, on as many threads as the others."""
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    return torch


def compressor(name, cells, eps, ranks):
    """A function that gives a train, and one that gives its cores."""
    if name == "torchtt":
        torch = torch_of_two_threads()
        import torchtt

        tensor = torch.from_numpy(cells)
        return lambda: torchtt.TT(tensor, eps=eps), lambda train: [core.numpy() for core in train.cores]
    if name == "tntorch":
        torch = torch_of_two_threads()
        import tntorch

        tensor = torch.from_numpy(cells)
        return lambda: tntorch_tt(tntorch, tensor, eps), lambda train: [core.numpy() for core in train.cores]
    if name == "ttpy":
        import tt

        turned = numpy.asfortranarray(cells)
        return lambda: tt.vector(turned, eps), lambda train: tt.vector.to_list(train)
    if name == "quimb":
        from quimb.tensor import MatrixProductState

        shape = list(cells.shape)
        cutoff = eps / numpy.sqrt(len(shape) - 1)
        make = lambda: MatrixProductState.from_dense(cells, dims=shape, cutoff=cutoff**2, cutoff_mode="rsum2")
        return make, quimb_cores
    if name == "scikit_tt":
        from scikit_tt import TT

        ones = [1] * cells.ndim
        wide = cells.reshape(list(cells.shape) + ones)
        return lambda: TT(wide, threshold=eps), lambda train: [core.reshape(core.shape[0], -1, core.shape[3]) for core in train.cores]
    if name == "teneva":
        import teneva

        # Its tolerance is an absolute one.
        allowed = eps * numpy.linalg.norm(cells)
        return lambda: teneva.svd(cells, e=allowed), lambda train: train
    import tensorly
    from tensorly.decomposition import tensor_train

    # It takes ranks, not a tolerance: it is given those that we found.
    return lambda: tensor_train(tensorly.tensor(cells), rank=[1, *ranks, 1]), lambda train: list(train.factors)


def tntorch_tt(tntorch, tensor, eps):
    """A train within a tolerance, as tntorch makes it: exactly, then rounded."""
    train = tntorch.Tensor(tensor)
    train.round_tt(eps=eps)
    return train


def quimb_cores(train):
    """The cores of a matrix product state, their bonds first and last."""
    cores = []
    for place in range(train.L):
        one = train[place]
        bonds = [train.bond(place - 1, place)] if place else []
        after = [train.bond(place, place + 1)] if place + 1 < train.L else []
        values = one.transpose(*bonds, train.site_ind(place), *after).data
        cores.append(values.reshape(values.shape[0] if place else 1, -1, values.shape[-1] if after else 1))
    return cores


def compress(name, path, eps, ranks):
    """Compresses a file's tensor, held in memory."""
    cells = numpy.load(path)
    make, cores_of = compressor(name, cells, float(eps), json.loads(ranks))
    last = []

    def answer(line):
        if line == "go":
            milliseconds, train = timed(make)
            last[:] = [train]
            return milliseconds
        cores = [numpy.asarray(core) for core in cores_of(last[0])]
        numpy.savez(line.split()[1], **{f"{place:03}": core for place, core in enumerate(cores)})
        return "saved"

    serve(answer)


def random_cores(shape, rank, seed):
    """A random train of a rank."""
    random = numpy.random.default_rng(seed)
    ranks = [1]
    for place in range(1, len(shape)):
        before, after = numpy.prod(shape[:place], dtype=float), numpy.prod(shape[place:], dtype=float)
        ranks.append(int(min(rank, before, after)))
    ranks.append(1)
    sizes = zip(ranks, shape, ranks[1:])
    return [random.standard_normal(size) / numpy.sqrt(size[0]) for size in sizes]


def norm(cores):
    """The norm of a train."""
    between = numpy.ones((1, 1))
    for core in cores:
        half = numpy.tensordot(between, core, 1)
        between = numpy.tensordot(core, half, ((0, 1), (0, 1)))
    return between.item() ** 0.5


def reconstruct(name):
    """Multiplies a train of rank 10 out."""
    cores = random_cores(SHAPE, 10, 2)
    if name == "numpy":

        def half(parts, is_right):
            whole = numpy.ones((1, 1))
            for core in parts[::-1] if is_right else parts:
                if is_right:
                    whole = (core.reshape(-1, core.shape[2]) @ whole).reshape(core.shape[0], -1)
                else:
                    whole = (whole @ core.reshape(core.shape[0], -1)).reshape(-1, core.shape[2])
            return whole

        def at(split):
            return half(cores[:split], False) @ half(cores[split:], True)

        # Often enough that a slow moment does not choose for it.
        best = min(range(2, 8), key=lambda split: min(timed(lambda: at(split))[0] for _ in range(6)))
        work = lambda: at(best)
    elif name == "tensorly":
        import tensorly

        work = lambda: tensorly.tt_to_tensor([tensorly.tensor(core) for core in cores])
    else:
        torch = torch_of_two_threads()
        import torchtt

        train = torchtt.TT([torch.from_numpy(core) for core in cores])
        work = train.full
    work()
    serve(lambda _: timed(work)[0])


def arithmetic(name):
    """Computes with trains of rank 50."""
    shape = [4] * 30
    one, two = random_cores(shape, 50, 7), random_cores(shape, 50, 8)
    if name == "torchtt":
        torch = torch_of_two_threads()
        import torchtt

        first = torchtt.TT([torch.from_numpy(core) for core in one])
        second = torchtt.TT([torch.from_numpy(core) for core in two])
        both = first + second
        double = first + first * 0.5
        works = {"dot": lambda: torchtt.dot(first, second), "add": lambda: first + second, "round": lambda: both.round(1e-10),
                 "halve": lambda: double.round(1e-10)}
    else:
        import teneva

        both = teneva.add(one, two)
        double = teneva.add(one, teneva.mul(one, 0.5))
        # Its own norm takes minutes at this rank.
        allowed, of_double = 1e-10 * norm(both), 1e-10 * norm(double)
        works = {"dot": lambda: teneva.mul_scalar(one, two), "add": lambda: teneva.add(one, two),
                 "round": lambda: teneva.truncate(both, e=allowed), "halve": lambda: teneva.truncate(double, e=of_double)}
    serve(lambda line: timed(works[line.split(",")[0]])[0])


{"compress": compress, "reconstruct": reconstruct, "arithmetic": arithmetic}[sys.argv[2]](sys.argv[1].split()[0], *sys.argv[3:])
