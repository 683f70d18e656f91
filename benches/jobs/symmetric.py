"""Two-electron integrals of 108 orbitals, f64, some 2^27 cells: packed by the exchange of both electrons and unpacked again.

All from memory, the first index fastest. The limit copies all cells on two threads. NumPy picks cells by lists of places
that it has already; it does not check that the cells have the symmetry, which ours does. Of the eight-fold symmetry one
generator packs: no format that is read or written stores dense cells packed by several. `symmetrize` makes the mean
of every cell and its image.
"""

from harness import Row, Target

SIZE = 108


def numpy_peer(path):
    import zlib

    import numpy
    from peer import timed

    pairs = SIZE * SIZE
    cells = numpy.fromfile(path)
    # A matrix of pairs, of which the lower triangle is stored, column by column.
    low, high = numpy.triu_indices(pairs)
    kept = low * pairs + high
    del low, high
    # Where the triangle has each cell.
    column = numpy.arange(pairs)
    begins = column * pairs - column * (column - 1) // 2 - column
    place = numpy.minimum.outer(column, column)
    place = begins[place] + numpy.maximum.outer(column, column)
    place = place.ravel()
    packed = cells[kept]
    made = {"pack": packed, "unpack": None, "symmetrize": None}

    def symmetrize():
        matrix = cells.reshape(pairs, pairs)
        return (matrix + matrix.T) / 2

    work = {"pack": lambda: cells[kept], "unpack": lambda: packed[place], "symmetrize": symmetrize}

    def answer(what, of=""):
        if what == "check":
            return 0, zlib.crc32(made[of])
        made[what] = None
        seconds, made[what] = timed(work[what])
        return (seconds,)

    return answer


PEERS = {"numpy": numpy_peer}


def rows(bench):
    import numpy

    path = bench.path("values")
    pairs = SIZE * SIZE
    cells = numpy.random.default_rng(0).standard_normal((pairs, pairs))
    (cells + cells.T).tofile(path)
    del cells
    rust, peer = bench.native("symmetric", path, SIZE), bench.peer("symmetric", "numpy", path)
    found = []
    for what in ("pack", "unpack", "symmetrize"):
        rust.ask(what), peer.ask(what)
        if what != "symmetrize":
            assert rust.ask("check", what)[1] == peer.ask("check", what)[1], what
        programs = {"tenfold": lambda: rust.seconds(what), "memcpy": lambda: rust.seconds("memcpy"), "numpy": lambda: peer.seconds(what)}
        times = bench.in_turns(programs, rounds=2)
        target = Target(peer=0.1, limit=1 / 0.3)
        found.append(Row("symmetric", what, times["tenfold"], times["memcpy"], {"numpy": times["numpy"]}, target, reason=REASONS[what]))
    return found


REASONS = {
    "pack": "all cells are compared with their images, which NumPy does not do, and what is kept is too much for memory: of a profile "
    "43 % is the kernel's, writing it to a temporary file, 39 % copies of runs into tiles and of what is kept, the rest turning tiles "
    "and the largest magnitude",
    "unpack": "the packed cells lie in a temporary file and are read twice, once for each place where they belong: of a profile 66 % is "
    "the kernel's, nearly all of it these reads, 22 % turning tiles, 6 % finding where the lines of packed cells begin",
    "symmetrize": "every cell is read twice, once across memory, and the result is too large for the memory allowed: of a profile 37 % "
    "are copies of runs into tiles, 33 % the kernel writing a temporary file, 14 % the sums, the rest turning tiles",
}
