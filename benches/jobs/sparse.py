"""Sparse tensors: a million blocks of Vespa, ten million pairs of TENS, four million entries of text.

Beside each stands a plain loop on one thread that does just that and checks nothing, and for Matrix Market SciPy's reader
on two threads. The limit reads the file on two threads. Ours refuses repeated labels and indices that lie outside.
"""

import struct

from harness import Row, Target

BLOCKS, CELLS = 1_000_000, 16
PAIRS, SIDE = 10_000_000, 8192
ENTRIES, ROWS = 4_000_000, 1_000_000


def scipy_peer(path):
    import scipy.io
    from peer import timed

    def answer(what):
        seconds, matrix = timed(lambda: scipy.io.mmread(path))
        return seconds, matrix.nnz

    return answer


PEERS = {"scipy": scipy_peer}


def vespa(path, random):
    import numpy

    records = numpy.zeros(BLOCKS, [("length", "u1"), ("label", "S7"), ("cells", ">f4", (CELLS,))])
    records["length"] = 7
    records["label"] = numpy.char.mod("%07d", numpy.arange(BLOCKS))
    records["cells"] = random.standard_normal((BLOCKS, CELLS), numpy.float32)
    with open(path, "wb") as out:
        out.write(bytes([7, 1, 1, 1]) + b"k" + bytes([1, 1]) + b"x" + bytes([CELLS]))
        out.write(struct.pack(">I", BLOCKS | 1 << 31))
        records.tofile(out)


def tens(path, random):
    import numpy

    pairs = numpy.empty(PAIRS, [("index", "<u8"), ("value", "<f8")])
    pairs["index"] = numpy.sort(random.choice(SIDE * SIDE, PAIRS, replace=False))
    pairs["value"] = random.standard_normal(PAIRS)
    with open(path, "wb") as out:
        out.write(struct.pack("<4sI4sIIIII", b"TENS", 0x10000, b"IEEE", 8, 1, 2, 1, 0))
        for name in b"ab":
            out.write(struct.pack("<IBBH", SIDE, name, 1, 0))
        out.write(struct.pack("<Q", PAIRS))
        pairs.tofile(out)


def texts(matrix, tensor, random):
    import numpy

    places = numpy.unique(random.integers(0, ROWS * ROWS, ENTRIES))
    values = random.standard_normal(len(places))
    with open(matrix, "w") as one, open(tensor, "w") as other:
        one.write(f"%%MatrixMarket matrix coordinate real general\n{ROWS} {ROWS} {len(places)}\n")
        for start in range(0, len(places), 100_000):
            part = slice(start, start + 100_000)
            row, column = (places[part] % ROWS + 1).tolist(), places[part] // ROWS
            some = values[part].tolist()
            one.write("".join("%d %d %r\n" % entry for entry in zip(row, (column + 1).tolist(), some)))
            high, low = (column // 1000 + 1).tolist(), (column % 1000 + 1).tolist()
            other.write("".join("%d %d %d %r\n" % entry for entry in zip(row, high, low, some)))


def rows(bench):
    import numpy

    random = numpy.random.default_rng(0)
    paths = {name: bench.path(f"values.{name}") for name in ("tbf", "tens", "mtx", "tns")}
    vespa(paths["tbf"], random)
    tens(paths["tens"], random)
    texts(paths["mtx"], paths["tns"], random)
    cases = [
        ("vespa-read", "tbf", "Vespa, 10^6 blocks, read", 0),
        ("vespa-write", "tbf", "Vespa, 10^6 blocks, written", 0),
        ("tens-read", "tens", "TENS IX, 10^7 pairs, read", SIDE),
        ("tens-densify", "tens", "TENS IX, 10^7 pairs, made dense", SIDE),
        ("mtx-parse", "mtx", ".mtx, 4·10^6 entries", ROWS),
        ("tns-parse", "tns", ".tns, 4·10^6 entries", 1000),
    ]
    found = []
    for what, kind, words, side in cases:
        path = paths[kind]
        rust = bench.native("sparse", what, path, bench.path("made.tbf"), side)
        seen = rust.ask("tenfold")[1:], rust.ask("loop")[1:]
        assert seen[0] == seen[1], (what, seen)
        programs = {name: lambda name=name: rust.seconds(name) for name in ("tenfold", "loop", "read")}
        scipy = bench.peer("sparse", "scipy", path) if kind == "mtx" else None
        if scipy:
            assert scipy.ask("go")[1] == seen[0][0]
            programs["scipy"] = lambda: scipy.seconds("go")
        times = bench.in_turns(programs)
        ours, limit = times["tenfold"], times["read"]
        loop = {"plain loop": times["loop"]}
        found.append(Row("sparse", words, ours, limit, loop, Target(peer=1.0), reason=REASONS.get(what, "")))
        if scipy:
            peers = {"SciPy": times["scipy"]}
            found.append(Row("sparse", f"{words}, beside SciPy", ours, limit, peers, Target(peer=0.3), reason=REASONS["scipy"]))
            scipy.end()
        rust.end()
    return found


REASONS = {
    "vespa-read": "a third of the time hashes the labels and sorts the hashes to refuse repeated ones, and a fifth refills the window "
    "through which untrusted bytes are read; the loop has the file in memory and refuses nothing",
    "vespa-write": "the blocks are read out of their file again, a label and its cells at a time, while the loop has them in memory: of a profile "
    "of opening and writing a quarter is the window through which they come, and a quarter the kernel's reads and writes",
    "tens-read": "indices and values are two columns of one list of records, which is read once for each",
    "tens-densify": "the list is read twice for every slab of the result that fits the memory allowed, and half of the time copies "
    "eight bytes at a time out of its records; the loop holds the list and the whole result",
    "scipy": "two thirds of the time go into the digits of 17-digit floats and of indices, for which SciPy's reader uses the same "
    "algorithm on as many threads; the rest is page faults of the arrays that both fill",
}
