"""Tensor trains from tensors in memory, to a tolerance, beside PyTorch's and NumPy's packages; the shorter workloads.

The limit is one read of the data. `trains.py` beside this folder measures all workloads, with every peer, in half an hour;
its figures are in `NOTES.md`. Every train is multiplied out and held against the data before its time counts. Time shall grow
as the tensor does, at a fixed rank; below 2^24 cells, what does not grow with it is felt.
"""

import json
import os

from harness import ROOT, Row, Target, table

# Workload: the file, the tolerance, the peers asked, and how many times faster than the best ours shall be.
WORKLOADS = {
    "Hilbert 64^4, 1e-6": ("hilbert", 1e-6, ["torchtt"], 50),
    "random 32^4, 0": ("random", 0.0, ["torchtt", "quimb"], 10),
    "complex 48^4, rank 8, 1e-8": ("complex", 1e-8, ["torchtt"], 50),
}


ROUNDS = 7


def rows(bench):
    os.environ.setdefault("WORKLOADS", os.path.join(ROOT, "target/release/examples/workloads"))
    import trains

    found = []
    for name, (file, eps, peers, times_faster) in WORKLOADS.items():
        path = trains.data(bench.folder, file)
        cells = trains.numpy.load(path)
        own = trains.ours("compress", path, eps)
        own.ask("go")
        own.ask("save " + bench.path("own.blz"))
        cores = {"tenfold": trains.read_blz(bench.path("own.blz"))}
        ranks = json.dumps([core.shape[2] for core in cores["tenfold"][:-1]])
        workers = {"tenfold": own} | {peer: trains.peer(peer, "compress", path, eps, ranks) for peer in peers}
        for peer in peers:
            workers[peer].ask("go")
            workers[peer].ask("save " + bench.path("check.npz"))
            assert not workers[peer].broken, (name, peer, workers[peer].broken)
            cores[peer] = trains.load_cores(bench.path("check.npz"))
        for program, train in cores.items():
            error = trains.error_of(train, cells)
            assert error <= max(eps, 1e-12) * 1.0001, (name, program, error)
        times = trains.in_turns(trains.of_all(workers) | {"read": (own, "read")}, ROUNDS)
        times = {name: milliseconds / 1e3 for name, milliseconds in times.items()}
        for worker in workers.values():
            worker.end()
        ours, limit = times.pop("tenfold"), times.pop("read")
        found.append(Row("trains", name, ours, limit, times, Target(peer=1 / times_faster)))
    bench.say(table(trains.GROWTH, trains.growth(bench.folder, ROUNDS)))
    return found

