"""A zTensor file compressed with Zstandard at level 3, written from memory and read into memory, without the disk.

The limit is the library on two threads that write and read frames of 16 MiB. Peers: the packages `ztensor` 1.2.3 and
2.1.2, and `zstandard` with two threads. 64 MiB of gaussian singles, and of integers below a thousand.
"""

import os

from harness import Row, Target

COUNT = 1 << 24


def ztensor_peer(path, dtype, folder):
    import numpy
    from peer import timed
    from ztensor.numpy import load_file, save_file

    cells = numpy.fromfile(path, {"f32": "f4", "i32": "i4"}[dtype])
    file = os.path.join(folder, f"peer-{os.getpid()}.zt")

    def answer(what):
        if what == "write":
            seconds, _ = timed(lambda: save_file({"values": cells}, file, compression=True))
        else:
            seconds, found = timed(lambda: load_file(file)["values"])
            assert numpy.array_equal(numpy.asarray(found).ravel(), cells)
        return seconds, os.path.getsize(file)

    return answer


def zstandard_peer(path, dtype, folder):
    import zstandard
    from peer import timed

    with open(path, "rb") as file:
        values = file.read()
    target = os.path.join(folder, "peer.zst")

    def write():
        compressed = zstandard.ZstdCompressor(level=3, threads=2).compress(values)
        with open(target, "wb") as out:
            out.write(compressed)

    def read():
        with open(target, "rb") as file:
            return zstandard.ZstdDecompressor().decompress(file.read())

    def answer(what):
        seconds, found = timed(write if what == "write" else read)
        assert what == "write" or found == values
        return seconds, os.path.getsize(target)

    return answer


PEERS = {"ztensor": ztensor_peer, "zstandard": zstandard_peer}


def make(path, dtype):
    import numpy

    random = numpy.random.default_rng(0)
    cells = random.standard_normal(COUNT, numpy.float32) if dtype == "f32" else random.integers(0, 1000, COUNT, numpy.int32)
    cells.tofile(path)


def rows(bench):
    found = []
    for dtype, name in (("f32", "gaussian f32"), ("i32", "integers")):
        path = bench.path("values")
        make(path, dtype)
        rust = bench.native("zstd", path, dtype, bench.folder)
        peers = {
            "ztensor 1.2.3": bench.peer("zstd", "ztensor", path, dtype, bench.folder, older="ztensor-1.2.3"),
            "ztensor 2.1.2": bench.peer("zstd", "ztensor", path, dtype, bench.folder),
            "zstandard": bench.peer("zstd", "zstandard", path, dtype, bench.folder),
        }
        sizes = {peer: int(worker.ask("write")[1]) for peer, worker in peers.items()}
        library = int(rust.ask("library-write")[1])
        for way in ("write", "read"):
            programs = {f"tenfold {version}": lambda version=version: rust.seconds(way, version) for version in ("0.1", "2")}
            programs |= {"library": lambda: rust.seconds(f"library-{way}")}
            programs |= {peer: lambda worker=worker: worker.seconds(way) for peer, worker in peers.items()}
            times = bench.in_turns(programs, 3)
            limit = times.pop("library")
            for version in ("0.1", "2"):
                ours = times.pop(f"tenfold {version}")
                size = os.path.getsize(bench.path(f"ours-{version}.zt"))
                # Each beside what has frames of its size: the seekable ones of version 2 are of 1 MiB.
                least = min(sizes.values())
                ratio = size / least
                other = ("size ≤ 1.01 of the smallest", ratio <= 1.01) if way == "write" else None
                remark = f"size {ratio:.3f} of the smallest" if way == "write" else ""
                rest = {peer: seconds for peer, seconds in times.items() if not peer.startswith("tenfold")}
                what = f"{way}, {name}, zt {version}"
                found.append(Row("zstd", what, ours, limit, rest, Target(peer=0.6), reason=REASONS.get(way, ""), remark=remark, other=other))
        for worker in (rust, *peers.values()):
            worker.end()
    return found


REASONS = {
    "write": "perf has half of the time in the library (matches, histograms, Huffman codes), which alone, on two threads, takes as long as we do; "
    "the rest is copies into frames and into the pages of the file",
    "read": "the library decodes where the numbers belong, on both cores, and nothing is copied; what is left is its own time",
}
