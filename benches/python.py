"""How fast the Python package is, beside `safetensors` and `numpy.memmap`.

Five tables, each of runs taken in turns in one process: all of a 1 GiB file of 16 tensors into fresh arrays; opening
a file as views and touching every page; opening a file of 10 000 tensors of 1 KiB and fetching each; saving them;
and slices of a column-major tensor.

Usage: cargo xtask wheel, and in an environment with safetensors and the wheel:
       python benches/python.py [folder] [load|touch|many|save|slices …]
"""

import os
import statistics
import sys
import tempfile
import time

import numpy as np
import safetensors
import safetensors.numpy
import tenfold
import tenfold.numpy

ROUNDS = 15
MIB = 1 << 20


def in_turns(programs, limit):
    """Prints the medians of programs that take turns, the first of which the others are compared with."""
    seen = {name: [] for name in programs}
    for turn in range(ROUNDS):
        # Now forwards, now backwards, so that nobody always finds what the same one left.
        for name, program in list(programs.items())[:: 1 if turn % 2 else -1]:
            start = time.perf_counter()
            kept = program()
            seen[name].append(time.perf_counter() - start)
            del kept
    medians = {name: statistics.median(times) for name, times in seen.items()}
    first = next(iter(medians.values()))
    print(f"| program | median | times the first (limit {limit}) |\n|---|---:|---:|")
    for name, median in medians.items():
        print(f"| {name} | {median * 1e3:.1f} ms | {median / first:.2f} |")
    print(flush=True)


def large(folder):
    """A 1 GiB file of 16 tensors."""
    path = os.path.join(folder, "large.safetensors")
    if not os.path.exists(path):
        numbers = np.random.default_rng(1).random(64 * MIB // 8).reshape(-1, 1024)
        safetensors.numpy.save_file({f"t{at}": numbers + at for at in range(16)}, path)
    return path


def load(folder):
    path = large(folder)
    in_turns(
        {
            "safetensors.numpy.load_file": lambda: safetensors.numpy.load_file(path),
            "tenfold.load": lambda: tenfold.load(path),
        },
        1.0,
    )


def touch(folder):
    path = os.path.join(folder, "large.npy")
    if not os.path.exists(path):
        np.save(path, np.random.default_rng(1).random((1024, 64 * 1024)))

    def touched(array):
        return int(array.view("u1").reshape(-1)[::4096].sum())

    offset = np.lib.format.open_memmap(path, mode="r").offset
    shape = (1024, 64 * 1024)
    in_turns(
        {
            "np.memmap": lambda: touched(np.memmap(path, "f8", "c", offset, shape)),
            "tenfold.open": lambda: touched(tenfold.open(path, io="mmap").only.numpy()),
        },
        1.1,
    )


def arrays():
    return {f"layer.{at}.weight": np.full((16, 16), at, "f4") for at in range(10_000)}


def many(folder):
    path = os.path.join(folder, "many.safetensors")
    safetensors.numpy.save_file(arrays(), path)

    def theirs():
        with safetensors.safe_open(path, framework="np") as file:
            return [file.get_tensor(name) for name in file.keys()]

    def ours():
        with tenfold.open(path) as file:
            return [file[name].numpy() for name in file]

    def ours_by_name():
        with tenfold.numpy.safe_open(path) as file:
            return [file.get_tensor(name) for name in file.keys()]

    in_turns(
        {
            "safetensors.safe_open": theirs,
            "tenfold.open": ours,
            "tenfold.numpy.safe_open": ours_by_name,
            "safetensors.numpy.load_file": lambda: safetensors.numpy.load_file(path),
            "tenfold.numpy.load_file": lambda: tenfold.numpy.load_file(path),
        },
        0.6,
    )


def save(folder):
    values = arrays()
    theirs, ours = (os.path.join(folder, f"saved.{who}.safetensors") for who in ("theirs", "ours"))
    in_turns(
        {
            "safetensors.numpy.save_file": lambda: safetensors.numpy.save_file(values, theirs),
            "tenfold.save": lambda: tenfold.save(ours, values),
        },
        0.4,
    )


def slices(folder):
    path = os.path.join(folder, "column.npy")
    if not os.path.exists(path):
        np.save(path, np.asfortranarray(np.random.default_rng(1).random((4096, 8192))))
    mapped = np.lib.format.open_memmap(path, mode="c")
    tensor = tenfold.open(path, io="mmap").only

    def cut(values):
        return [np.ascontiguousarray(values[:, at : at + 64]) for at in range(0, 8192, 64)]

    in_turns({"np.memmap": lambda: cut(mapped), "tenfold": lambda: cut(tensor)}, 1.0)


TABLES = {"load": load, "touch": touch, "many": many, "save": save, "slices": slices}


def main():
    words = sys.argv[1:]
    folder = words.pop(0) if words and words[0] not in TABLES else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    for name in words or TABLES:
        print(f"## {name}\n")
        TABLES[name](folder)


main()
