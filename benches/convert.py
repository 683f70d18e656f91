"""How fast and in how much memory `tenfold convert` works, beside `cp` and NumPy.

Three tables, each of runs taken in turns: rewriting 1 GiB of unchanged values beside `cp`, with and without
bringing them to the disk; a cube of 512³ doubles from column to row order in memory beside NumPy; and the
peak memory of the same with 4 GiB and `--memory 256MiB`.

Usage: cargo build --release -p tenfold-cli && cargo build --release -p tenfold --example relayout
       PYTHON benches/convert.py [path to tenfold] [folder] [copies|relayout|memory …]
where PYTHON has NumPy, such as target/oracles/numpy/bin/python after `cargo xtask test`.
"""

import os
import statistics
import subprocess
import sys
import time

ROUNDS = 5
MIB = 1 << 20


def header(shape, column):
    """The start of an npy file of doubles, as the page of the format has it."""
    text = f"{{'descr': '<f8', 'fortran_order': {column}, 'shape': {tuple(shape)}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def make(path, shape, column=False):
    """An npy file of doubles that do not repeat."""
    size = 8
    for places in shape:
        size *= places
    with open(path, "wb") as out:
        out.write(header(shape, column))
        for _ in range(size // (32 * MIB)):
            out.write(os.urandom(32 * MIB))


def run(words):
    """Seconds and peak bytes of a program."""
    start = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    assert status == 0, words
    return seconds, usage.ru_maxrss * 1024


def in_turns(programs, before):
    """The median seconds and the greatest peak of each program."""
    seen = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, words in programs.items():
            before()
            seen[name].append(run(words))
    return {
        name: (statistics.median(seconds for seconds, _ in runs), min(runs)[0], max(peak for _, peak in runs))
        for name, runs in seen.items()
    }


def copies(tenfold, folder):
    """1 GiB of unchanged values."""
    plain, zt, checked, out = (os.path.join(folder, name) for name in ("a.npy", "a.zt", "b.zt", "out"))
    make(plain, [128, 1024, 1024])
    convert = [tenfold, "convert", "--no-sync"]
    subprocess.run([*convert, plain, zt], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([*convert, plain, checked, "--opt", "checksum=crc32c"], check=True, stderr=subprocess.DEVNULL)

    def before():
        for name in (out, out + ".npy", out + ".zt"):
            if os.path.exists(name):
                os.remove(name)
        os.sync()

    cases = {
        "npy to npy": [plain, out + ".npy"],
        "npy to ztensor": [plain, out + ".zt"],
        "ztensor to npy": [zt, out + ".npy"],
        "ztensor with crc32c to npy": [checked, out + ".npy"],
    }
    quick = {"cp": ["cp", plain, out], "cp --reflink=never": ["cp", "--reflink=never", plain, out]}
    quick |= {name + " --no-sync": [*convert, *words] for name, words in cases.items()}
    safe = {"cp && sync": ["sh", "-c", 'cp "$0" "$1" && sync "$1"', plain, out]}
    safe |= {name: [tenfold, "convert", *words] for name, words in cases.items()}
    for programs in (quick, safe):
        table(in_turns(programs, before), next(iter(programs)), 1 << 30)
    before()
    for name in (plain, zt, checked):
        os.remove(name)


def table(found, against, size):
    """One line a program, and its ratio to one of them."""
    print(f"| program | median | best | GB/s | times {against} | peak memory |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, (median, best, peak) in found.items():
        ratio = median / found[against][0]
        print(f"| {name} | {median:.2f} s | {best:.2f} s | {size / median / 1e9:.1f} | {ratio:.2f} | {peak / MIB:.0f} MiB |")
    print(flush=True)


def relayout(tenfold, _):
    """512³ doubles from column to row order, in memory."""
    import numpy

    size = 512
    example = os.path.join(os.path.dirname(tenfold), "examples", "relayout")
    cube = numpy.arange(size**3, dtype="<f8").reshape(size, size, size, order="F")
    seen = {"np.ascontiguousarray": [], "tenfold": []}
    for _ in range(ROUNDS):
        start = time.perf_counter()
        fresh = numpy.ascontiguousarray(cube)
        seen["np.ascontiguousarray"].append(time.perf_counter() - start)
        del fresh
        ran = subprocess.run([example, str(size), "1"], check=True, capture_output=True)
        seen["tenfold"].append(float(ran.stdout))
    theirs, ours = seen.values()
    print("| 512³ doubles, column to row | median | best | times faster, by median | by best |")
    print("|---|---:|---:|---:|---:|")
    for name, runs in seen.items():
        median, best = statistics.median(runs), min(runs)
        ratios = f"{statistics.median(theirs) / median:.1f} | {min(theirs) / best:.1f}"
        print(f"| {name} | {median:.2f} s | {best:.2f} s | {ratios} |")
    print(flush=True)


def memory(tenfold, folder):
    """4 GiB from column to row order, in 256 MiB."""
    column, row = (os.path.join(folder, name) for name in ("column.npy", "row.zt"))
    make(column, [512, 1024, 1024], column=True)
    convert = [tenfold, "convert", "--memory", "256MiB", "--force", column, row]
    print("| 4 GiB of doubles, column to row in 256 MiB | seconds | GB/s | peak memory |")
    print("|---|---:|---:|---:|")
    for _ in range(2):
        seconds, peak = run(convert)
        print(f"| npy to ztensor | {seconds:.1f} | {(4 << 30) / seconds / 1e9:.2f} | {peak / MIB:.0f} MiB |", flush=True)
        assert peak < 320 * MIB
    print()
    os.remove(column)
    os.remove(row)


def main():
    tenfold = sys.argv[1] if len(sys.argv) > 1 else "target/release/tenfold"
    folder = sys.argv[2] if len(sys.argv) > 2 else "target"
    measurements = {"copies": copies, "relayout": relayout, "memory": memory}
    for name in sys.argv[3:] or measurements:
        measurements[name](tenfold, folder)


if __name__ == "__main__":
    main()
