"""1 GiB of unchanged values into another format, beside `cp`: with `--no-sync`, and brought to the disk.

Limit and peer are the same: `cp`, and `cp && sync`, of a file of as many bytes on the same file system. Processes are
started anew for every run.
"""

import os

from harness import Row, Target

MIB = 1 << 20
CELLS = 1 << 28
WAYS = {
    "safetensors → zt": ("a.safetensors", "out.zt", []),
    "zt → safetensors": ("a.zt", "out.safetensors", []),
    "npy → zt": ("a.npy", "out.zt", []),
    "zt → npy": ("a.zt", "out.npy", ["--allow", "keys"]),
}


def npy(path):
    """An npy file of singles that do not repeat."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({CELLS},), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
        for _ in range(CELLS * 4 // (32 * MIB)):
            out.write(os.urandom(32 * MIB))


def rows(bench):
    npy(bench.path("a.npy"))
    for name in ("a.zt", "a.safetensors"):
        bench.quietly(bench.tenfold, "convert", "--no-sync", bench.path("a.npy"), bench.path(name))
    peaks = {}

    def before():
        for name in os.listdir(bench.folder):
            if name.startswith("out"):
                os.remove(bench.path(name))
        os.sync()

    def ours(name, extra):
        source, target, more = WAYS[name]

        def measure():
            seconds, peaks[name] = bench.run(bench.tenfold, "convert", *extra, *more, bench.path(source), bench.path(target))
            return seconds

        return measure

    found = []
    quick = ["cp", bench.path("a.npy"), bench.path("out")]
    safe = ["sh", "-c", 'cp "$0" "$1" && sync "$1"', bench.path("a.npy"), bench.path("out")]
    for words, extra, rounds in ((quick, ["--no-sync"], 7), (safe, [], 7)):
        programs = {"cp": lambda words=words: bench.run(*words)[0]}
        programs |= {name: ours(name, extra) for name in WAYS}
        times = bench.in_turns(programs, rounds, before)
        limit = times.pop("cp")
        for name, seconds in times.items():
            what = " ".join([name, *extra])
            peer = {" ".join(["cp"] + ([] if extra else ["&& sync"])): limit}
            found.append(Row("copy", what, seconds, limit, peer, Target(peer=1.1), peaks[name], reason=REASON))
    return found


REASON = (
    "perf has two thirds of the time in the copies out of the cached pages and into new ones, which cp leaves to the kernel, and which can "
    "go on side by side only where two cores are free; of a slow run it has four fifths in filling new pages, which the host of a virtual machine "
    "has to give first: some of our runs take twice as long as the others, hardly one of cp's does"
)
