"""Slices `[a:b, ::s, k]` of 4 GiB of singles, once from memory and once from the disk, into new memory, which asks for large pages where NumPy does.

Ours, `numpy.memmap` and h5py read the same contiguous HDF5 file, zarr its own chunks of 64 cells each way, without
compression. *Mapped* is what the Python package does unless it is told not to, and the library's `Source::map`; *read* is what the
command does, which never maps a file. Cold means that the pages of all files are dropped before every measurement. There is
no limit but the bytes that are needed, which no program reads alone: the disk gives pages.
"""

import os

from harness import Row, Target

SHAPE = (1024, 1024, 1024)
SLICES = [
    ("100:900, ::3, 500", (slice(100, 900), slice(None, None, 3), 500)),
    ("100:116, ::2, :", (slice(100, 116), slice(None, None, 2), slice(None))),
    ("500, 10:1000:7, 100:900", (500, slice(10, 1000, 7), slice(100, 900))),
]


def sum_of(cells):
    import numpy

    return int(numpy.ascontiguousarray(cells).view(numpy.uint32).sum(dtype="u8"))


def peer_of(read):
    """A peer that reads the slice with this number."""
    from peer import timed

    def answer(number):
        seconds, cells = timed(lambda: read(SLICES[int(number)][1]))
        return seconds, sum_of(cells)

    return answer


def memmap_peer(path, offset):
    import numpy

    def read(key):
        cells = numpy.memmap(path, numpy.float32, "r", int(offset), SHAPE)
        return numpy.array(cells[key])

    return peer_of(read)


def h5py_peer(path, offset):
    import h5py

    def read(key):
        with h5py.File(path) as file:
            return file["values"][key]

    return peer_of(read)


def zarr_peer(path, offset):
    import zarr

    return peer_of(lambda key: zarr.open_array(path, mode="r")[key])


PEERS = {"numpy.memmap": memmap_peer, "h5py": h5py_peer, "zarr": zarr_peer}


def make(bench):
    import h5py
    import numpy
    import zarr

    plain, chunks = bench.path("values.h5"), bench.path("values.zarr")
    random = numpy.random.default_rng(0)
    slab = random.standard_normal((64, *SHAPE[1:]), numpy.float32)
    array = zarr.create_array(chunks, shape=SHAPE, dtype="float32", compressors=None, chunks=(64, 64, 64))
    with h5py.File(plain, "w") as file:
        cells = file.create_dataset("values", SHAPE, "float32")
        for start in range(0, SHAPE[0], 64):
            slab += 1
            cells[start : start + 64] = slab
            array[start : start + 64] = slab
        file.flush()
        return plain, cells.id.get_offset(), chunks


def drop(paths):
    """Takes the pages of files out of memory."""
    files = [os.path.join(folder, name) for path in paths for folder, _, names in os.walk(path) for name in names]
    for path in files + [path for path in paths if os.path.isfile(path)]:
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def rows(bench):
    plain, offset, chunks = make(bench)
    os.sync()
    peers = {name: bench.peer("slice", name, chunks if name == "zarr" else plain, offset) for name in PEERS}
    found = []
    for number, (text, _) in enumerate(SLICES):
        sizes = "x".join(map(str, SHAPE))
        rust = bench.native("slice", plain, offset, sizes, text.replace(" ", ""))
        seen = {rust.ask(way)[1] for way in WAYS} | {worker.ask(number)[1] for worker in peers.values()}
        assert len(seen) == 1, (text, seen)
        programs = {way: lambda way=way: rust.seconds(way) for way in WAYS}
        programs |= {name: lambda worker=worker: worker.seconds(number) for name, worker in peers.items()}
        for state, before in (("warm", None), ("cold", lambda: drop([plain, chunks]))):
            times = bench.in_turns(programs, before=before)
            theirs = {name: times[name] for name in peers}
            for way in WAYS:
                reason = REASONS.get((way, state), "")
                found.append(Row("slice", f"[{text}], {way}, {state}", times[way], None, theirs, Target(peer=1.0), reason=reason))
        rust.end()
    return found


WAYS = ["mapped", "read"]

REASONS = {
    ("mapped", "warm"): "perf has eight tenths of the time of the second slice in the kernel, which hands out and clears the pages of the new memory, and "
    "half of that of the others; the rest is copies",
    ("read", "warm"): "perf has nine tenths of the time in the kernel's reads: a system call for every run, of which the first slice has 273 600 of four "
    "bytes, where a map that is in memory costs none",
    ("read", "cold"): "of the processor's time perf has nineteen twentieths in the kernel, which fills pages and copies them; where cells lie a few pages "
    "apart the disk reads all that lies between, for NumPy as for us, while zarr's chunks, small each way, hold them in fewer bytes",
    ("mapped", "cold"): "of the processor's time perf has three quarters and more in the kernel, which reads around every page that is touched, for NumPy as "
    "for us, and a quarter in copies, where the other faults come; zarr's chunks, small each way, hold the cells in fewer bytes",
}
