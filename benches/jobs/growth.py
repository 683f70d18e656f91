"""How time and memory grow: with the bytes of one tensor, with the number of tensors, with the number of dimensions.

Processes, with their files in the page cache and nothing brought to the disk. The exponent is that of a power law through
the times of the three largest, less that of a process that does nothing, and beside it that from the last but one to the
last alone; 1 is linear, which nothing that reads or writes shall exceed (1.05 with noise). Memory shall stay where it is
once a tensor does not fit into the pieces it is worked on in.
"""

import json
import math
import os
import statistics

from harness import table

MIB = 1 << 20
SIZES = [1, 10, 100, 1000]
COUNTS = [10, 100, 1000, 10_000, 100_000, 1_000_000]
RANKS = [1, 2, 3, 4, 6, 8, 10, 12]
MOST = 1.05
# What is known of those that were above it; shown only then.
CHANCE = (
    "perf has four fifths of a slow run in filling new pages of the output, which the host of a virtual machine has to give first; it comes by chance, and "
    "other runs had 0.4 to 1.0 at the end"
)
ABOVE = {
    "convert, unchanged": CHANCE,
    "convert, cast to f32": CHANCE,
    "convert, column to row": "what does not fit twice into the memory that may be used (512 MiB) goes through a file in two passes, where "
    "smaller tensors need one; both are linear",
    "convert to zstd": CHANCE,
    "verify": "perf has a tenth of the time in hashing names, where of a tenth as many it has some hundredths:"
    " tables of a million names do not fit into the caches",
    "convert to zt": "perf has a sixth of the time in hashing names, where of a tenth as many it has a twentieth: tables of a million names do "
    "not fit into the caches",
}


def npy(path, shape, column=False, descr="<f8"):
    """An npy file of random bits that are no NaNs."""
    import numpy

    random = numpy.random.default_rng(0)
    cells = math.prod(shape)
    text = f"{{'descr': '{descr}', 'fortran_order': {column}, 'shape': {tuple(shape)}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    block = random.standard_normal(min(cells, MIB)).astype(descr).tobytes()
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
        left = cells * int(descr[-1])
        while left > 0:
            out.write(block[:left])
            left -= len(block)


def safetensors(path, count):
    """A file of so many tensors of 32 bytes."""
    header, at = {}, 0
    for number in range(count):
        header[f"layers.{number // 768}.{number % 768}.w"] = {"dtype": "F32", "shape": [2, 4], "data_offsets": [at, at + 32]}
        at += 32
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text + bytes(at))


def exponent(sizes, times):
    """The slope of a line through the logarithms."""
    points = [(math.log(size), math.log(max(time, 1e-6))) for size, time in zip(sizes, times)]
    mean_x, mean_y = (statistics.mean(axis) for axis in zip(*points))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def measured(bench, words, rounds=5):
    """Median seconds, and the greatest peak in MiB."""
    target = bench.path("out.zt")
    runs = []
    for _ in range(rounds):
        if os.path.exists(target):
            os.remove(target)
        runs.append(bench.run(bench.tenfold, *words))
    return statistics.median(seconds for seconds, _ in runs), max(peak for _, peak in runs) / MIB


def by_size(bench):
    """One tensor, ever larger."""
    row, column, checked, packed, out = (bench.path(name) for name in ("row.npy", "column.npy", "checked.zt", "packed.zt", "out.zt"))
    works = {
        "convert, unchanged": ["convert", "--no-sync", row, out],
        "convert, column to row": ["convert", "--no-sync", column, out],
        "convert, cast to f32": ["convert", "--no-sync", "--cast", "f32", row, out],
        "convert to zstd": ["convert", "--no-sync", "--opt", "compress=zstd", row, out],
        "convert from zstd": ["convert", "--no-sync", "--opt", "compress=none", packed, out],
        "verify, crc32c": ["verify", checked],
        "stats": ["stats", row],
        "diff with itself": ["diff", row, checked],
    }
    seen = {name: [] for name in works}
    for size in SIZES:
        for path, is_column in ((row, False), (column, True)):
            npy(path, (size, 256, 512), is_column)
        bench.quietly(bench.tenfold, "convert", "--no-sync", "--force", "--to", "ztensor@0.1", "--opt", "checksum=crc32c", row, checked)
        bench.quietly(bench.tenfold, "convert", "--no-sync", "--force", "--opt", "compress=zstd", row, packed)
        for name, words in works.items():
            seen[name].append(measured(bench, words))
    say(bench, "one tensor", SIZES, [f"{size} MiB" for size in SIZES], seen)


def say(bench, what, sizes, words, seen):
    """Adds a table of how each work grows, and why those do that grow too much."""
    idle, _ = measured(bench, ["--version"], 9)
    lines, above = [], []
    for name, runs in seen.items():
        times = [seconds - idle for seconds, _ in runs]
        slopes = [exponent(sizes[-last:], times[-last:]) for last in (3, 2)]
        is_met = max(slopes) <= MOST
        if not is_met:
            above.append(f"- {name}: {ABOVE.get(name, 'not looked into yet')}.")
        lines.append([name, *(f"{slope:.2f}" for slope in slopes), "yes" if is_met else "**no**", *(f"{peak:.0f} MiB" for _, peak in runs)])
    bench.say(table([what, "exponent", "at the end", "met", *(f"peak at {word}" for word in words)], lines))
    if above:
        bench.say("Above linear:\n\n" + "\n".join(above))


def by_count(bench):
    """Ever more tensors."""
    source, out = bench.path("many.safetensors"), bench.path("out.zt")
    works = {"list": ["info", "--json", source], "verify": ["verify", source], "convert to zt": ["convert", "--no-sync", source, out]}
    seen = {name: [] for name in works}
    for count in COUNTS:
        safetensors(source, count)
        for name, words in works.items():
            seen[name].append(measured(bench, words, 1 if count == COUNTS[-1] else 3))
    say(bench, "many tensors", COUNTS, COUNTS, seen)


def by_rank(bench):
    """The same cells in ever more dimensions."""
    seen = []
    for rank in RANKS:
        sizes = [2 ** (24 * (place + 1) // rank - 24 * place // rank) for place in range(rank)]
        npy(bench.path("column.npy"), sizes, True, "<f4")
        seen.append(measured(bench, ["convert", "--no-sync", bench.path("column.npy"), bench.path("out.zt")]))
    least = seen[0][0]
    names = ["2^24 singles from column to row order", *(f"rank {rank}" for rank in RANKS)]
    times = ["times rank 1", *(f"{seconds / least:.2f}" for seconds, _ in seen)]
    bench.say(table(names, [times, ["peak", *(f"{peak:.0f} MiB" for _, peak in seen)]]))


def rows(bench):
    for part in (by_size, by_count, by_rank):
        part(bench)
        for name in os.listdir(bench.folder):
            os.remove(bench.path(name))
    return []
