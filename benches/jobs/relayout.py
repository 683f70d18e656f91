"""Values from column to row order, from memory into memory that is there.

The limit copies as many bytes on two threads. Peers: `numpy.copyto` into an array, and `Tensor.copy_` of PyTorch on two
threads. Sizes are primes and other awkward ones as well as powers of two, some 128 MiB each.
"""

from harness import Row, Target

SHAPES = [
    ("f32", (5791, 5801)),
    ("f32", (8192, 4096)),
    ("f64", (251, 257, 263)),
    ("f64", (256, 256, 256)),
    ("c128", (199, 211, 197)),
    ("f32", (73, 79, 71, 83)),
    ("f64", (64, 64, 64, 64)),
    ("f32", (31, 33, 29, 37, 31)),
    ("f32", (17, 19, 16, 18, 20, 17)),
    ("f64", (17, 16, 13, 19, 15, 17)),
]
KINDS = {"f32": "float32", "f64": "float64", "c128": "complex128"}


def sizes_of(text):
    return tuple(int(size) for size in text.split("x"))


def numpy_peer(path, dtype, sizes):
    import zlib

    import numpy
    from peer import timed

    cells = numpy.fromfile(path, KINDS[dtype]).reshape(sizes_of(sizes), order="F")
    out = numpy.ones(cells.shape, cells.dtype)
    return lambda what: (0, zlib.crc32(out)) if what == "check" else timed(lambda: numpy.copyto(out, cells))[:1]


def torch_peer(path, dtype, sizes):
    import os
    import zlib

    import numpy
    import torch
    from peer import timed

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    cells = torch.from_numpy(numpy.fromfile(path, KINDS[dtype]).reshape(sizes_of(sizes), order="F"))
    out = torch.ones(cells.shape, dtype=cells.dtype)
    return lambda what: (0, zlib.crc32(out.numpy())) if what == "check" else timed(lambda: out.copy_(cells))[:1]


PEERS = {"numpy": numpy_peer, "torch": torch_peer}


def rows(bench):
    import os

    found = []
    for dtype, shape in SHAPES:
        sizes = "x".join(map(str, shape))
        width = {"f32": 4, "f64": 8, "c128": 16}[dtype]
        size = width
        for places in shape:
            size *= places
        path = bench.path("values")
        with open(path, "wb") as out:
            out.write(os.urandom(size))
        rust = bench.native("relayout", path, dtype, sizes)
        peers = {name: bench.peer("relayout", name, path, dtype, sizes) for name in PEERS}
        programs = {"tenfold": lambda: rust.seconds("tenfold"), "memcpy": lambda: rust.seconds("memcpy")}
        programs |= {name: lambda worker=worker: worker.seconds("go") for name, worker in peers.items()}
        rust.ask("tenfold")
        for worker in peers.values():
            worker.ask("go")
        seen = {worker.ask("check")[1] for worker in (rust, *peers.values())}
        assert len(seen) == 1, (dtype, shape, seen)
        times = bench.in_turns(programs, 3)
        for worker in (rust, *peers.values()):
            worker.end()
        ours, limit = times.pop("tenfold"), times.pop("memcpy")
        of_numpy = ours / times["numpy"]
        other = (f"≤ 0.33 of NumPy (is {of_numpy:.2f})", of_numpy <= 0.33)
        found.append(Row("relayout", f"{dtype} {sizes}", ours, limit, times, Target(limit=1 / 0.6), reason=REASON, other=other))
    return found


REASON = (
    "perf has three fifths in the loop that writes columns of a tile and a third in the copies into it: elements go one by one, "
    "without transposing in registers, and lines of the output are read before they are written, which a copy avoids; complex "
    "numbers fill a quarter of a line each, so that NumPy loses little"
)
