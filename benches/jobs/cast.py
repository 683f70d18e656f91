"""Numbers as another type or in the other byte order, from memory into memory that is there.

The limit copies half of the bytes that are read and written in all, on two threads: as many go over the bus. Peers:
NumPy's `copyto` with `ml_dtypes`, its `byteswap`, and `Tensor.copy_` of PyTorch on two threads. 2^24 gaussian numbers.
"""

from harness import Row, Target

COUNT = 1 << 24
WAYS = [("f32", "f64"), ("f64", "f32"), ("f32", "bf16"), ("bf16", "f32"), ("f32", "f16"), ("f16", "f32"), ("f64", "bf16")]
SWAPS = ["f32", "f64", "c128"]
WIDTHS = {"f32": 4, "f64": 8, "bf16": 2, "f16": 2, "c128": 16}


def kind(name):
    import ml_dtypes
    import numpy

    names = {"f32": numpy.float32, "f64": numpy.float64, "f16": numpy.float16, "bf16": ml_dtypes.bfloat16, "c128": numpy.complex128}
    return numpy.dtype(names[name])


def cells_of(path, name, endian):
    import numpy

    # NumPy reverses what the machine has; for bfloat16, whose type has no byte order, as bytes of that width.
    if endian == "big":
        words = {2: ">u2", 4: ">u4", 8: ">u8", 16: ">c16"}[WIDTHS[name]]
        return numpy.fromfile(path, words)
    return numpy.fromfile(path, kind(name))


def numpy_peer(path, one, other, endian):
    import zlib

    import numpy
    from peer import timed

    cells = cells_of(path, one, endian)
    out = numpy.ones(cells.shape, cells.dtype.newbyteorder("=") if endian == "big" else kind(other))
    work = lambda: numpy.copyto(out, cells, casting="unsafe")
    return lambda what: (0, zlib.crc32(out.view(numpy.uint8))) if what == "check" else timed(work)[:1]


def torch_peer(path, one, other, endian):
    import os
    import zlib

    import numpy
    import torch
    from peer import timed

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    kinds = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}
    cells = torch.from_numpy(numpy.fromfile(path, numpy.uint8)).view(kinds[one])
    out = torch.ones(cells.shape, dtype=kinds[other])
    check = lambda: zlib.crc32(out.view(torch.uint8).numpy())
    return lambda what: (0, check()) if what == "check" else timed(lambda: out.copy_(cells))[:1]


PEERS = {"numpy": numpy_peer, "torch": torch_peer}


def rows(bench):
    import numpy

    # Such as singles have: the peers round doubles twice on the way to 16 bits, which would give other numbers.
    numbers = numpy.random.default_rng(0).standard_normal(COUNT, numpy.float32).astype(numpy.float64)
    found = []
    cases = [(one, other, "little") for one, other in WAYS] + [(one, one, "big") for one in SWAPS]
    for one, other, endian in cases:
        path = bench.path("values")
        count = COUNT // 4 if one == "c128" else COUNT
        numbers[:count].astype(kind(one)).tofile(path)
        rust = bench.native("cast", path, one, other, endian)
        # PyTorch has no other byte order.
        peers = {name: bench.peer("cast", name, path, one, other, endian) for name in PEERS if endian == "little" or name == "numpy"}
        programs = {"tenfold": lambda: rust.seconds("tenfold"), "memcpy": lambda: rust.seconds("memcpy")}
        programs |= {name: lambda worker=worker: worker.seconds("go") for name, worker in peers.items()}
        rust.ask("tenfold")
        for worker in peers.values():
            worker.ask("go")
        seen = {worker.ask("check")[1] for worker in (rust, *peers.values())}
        assert len(seen) == 1, (one, other, endian, seen)
        times = bench.in_turns(programs, 5)
        for worker in (rust, *peers.values()):
            worker.end()
        ours, limit = times.pop("tenfold"), times.pop("memcpy")
        what = f"{one} → {other}" if endian == "little" else f"{one}, bytes swapped"
        found.append(Row("cast", what, ours, limit, times, Target(peer=0.5, limit=1 / 0.7), reason=REASON))
    return found


REASON = (
    "perf has nine tenths of the time in the vectorised loops, which wait for the memory: asked again and again they take 1.05 "
    "times a copy; PyTorch takes 0.6 to 0.9 of one in turns, so that nobody can take half of that"
)
