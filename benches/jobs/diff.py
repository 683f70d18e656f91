"""Two files of 1 GiB of singles compared cell by cell; both are in memory already.

The limit reads both on two threads. Peers: `numpy.allclose` on memory maps, as our tolerance is asked for, and
`numpy.array_equal`, which only says whether all is equal and is what the equal files are put beside as well.
"""

from harness import Row, Target

SIDE = 1 << 14


def numpy_peer(one, other):
    import numpy
    from peer import timed

    def answer(what):
        a, b = (numpy.load(path, mmap_mode="r") for path in (one, other))
        compare = {"allclose": lambda: numpy.allclose(a, b, rtol=1e-5, atol=1e-8), "equal": lambda: numpy.array_equal(a, b)}
        return timed(compare[what])

    return answer


PEERS = {"numpy": numpy_peer}


def make(bench):
    import numpy

    random = numpy.random.default_rng(0)
    cells = random.standard_normal((SIDE, SIDE), numpy.float32)
    paths = [bench.path(f"{name}.npy") for name in ("one", "same", "few", "all")]
    for path in paths[:2]:
        numpy.save(path, cells)
    few = cells.copy()
    few.ravel()[random.integers(0, cells.size, 1000)] += 1
    numpy.save(paths[2], few)
    # The last bit of every other cell.
    cells.view(numpy.uint32)[:, ::2] ^= 1
    numpy.save(paths[3], cells)
    return paths


def rows(bench):
    one, *others = make(bench)
    names = ["equal", "1000 cells differ", "every other cell differs in its last bit"]
    found = []
    for name, other in zip(names, others):
        rust = bench.native("diff", one, other)
        peer = bench.peer("diff", "numpy", one, other)
        verdicts = {"equal": ("Identical", "True"), names[1]: ("Changed", "False"), names[2]: ("Near", "True")}
        seen = rust.ask("near")[1], peer.ask("allclose")[1]
        assert seen == verdicts[name], (name, seen)
        programs = {"near": lambda: rust.seconds("near"), "exact": lambda: rust.seconds("exact"), "read": lambda: rust.seconds("read")}
        programs |= {"allclose": lambda: peer.seconds("allclose"), "equal": lambda: peer.seconds("equal")}
        times = bench.in_turns(programs)
        for worker in (rust, peer):
            worker.end()
        allclose = {"NumPy allclose": times["allclose"]}
        found.append(Row("diff", f"{name}, with a tolerance", times["near"], times["read"], allclose, Target(peer=0.33)))
        if name == "equal":
            exact = {"NumPy array_equal": times["equal"]}
            found.append(Row("diff", "equal, exactly", times["exact"], times["read"], exact))
    return found
