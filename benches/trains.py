"""How fast `tenfold-train` compresses, reconstructs and computes, beside its peers.

Every program holds the same data in memory and does the work when it is told, all in turns, on two threads. The
train that comes out is multiplied out by NumPy and compared with the data before a time counts: a peer whose error
exceeds the tolerance is listed as broken. Medians; the data is made once, below FOLDER.

Usage: cargo build --release -p tenfold-train --example workloads
       python3 -m venv target/peers && target/peers/bin/pip install -r benches/peers.txt
       target/peers/bin/python benches/trains.py [--rounds N] [--folder F] [compress|reconstruct|arithmetic|file|refuse …]

`cargo xtask bench trains` measures the shorter workloads and the growth with size.

`--beside NAME=PROGRAM` has one more program take part in the six workloads: another build of `workloads`, or whatever
answers the same lines (`PROGRAM compress FILE EPS`, then `go` and `save FILE.blz` on its standard input).
"""

import argparse
import json
import os
import select
import statistics
import subprocess
import sys
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.environ.get("WORKLOADS", os.path.join(HERE, "../target/release/examples/workloads"))
THREADS = "2"
# Seconds after which a program counts as stuck.
PATIENCE = 60
# Seconds before every turn: the threads of some peers spin for a while when their work is done.
REST = 0.3
# Seconds of a turn: a processor that has rested takes some milliseconds to wake up.
TURN = 0.3
# Words before every program, such as `chrt -r 1` where others use the machine too.
BEFORE = os.environ.get("RUN_WITH", "").split()

# Name, file, tolerance.
WORKLOADS = [
    ("2^26 as (2)^26, rank 10, 1e-8", "binary", 1e-8),
    ("2^26 as (8)^8 x 4, rank 10, 1e-8", "octal", 1e-8),
    ("Hilbert 64^4, 1e-6", "hilbert", 1e-6),
    ("field 256^3 x 3, 1e-2", "field", 1e-2),
    ("random 32^4, 0", "random", 0.0),
    ("complex 48^4, rank 8, 1e-8", "complex", 1e-8),
]
PEERS = ["torchtt", "ttpy", "tntorch", "quimb", "scikit_tt", "teneva", "tensorly (ranks given)"]


# The data.


def expand(cores):
    """All cells of a train."""
    whole = numpy.ones((1, 1), cores[0].dtype)
    for core in cores:
        whole = (whole @ core.reshape(core.shape[0], -1)).reshape(-1, core.shape[2])
    return whole.reshape([core.shape[1] for core in cores])


def random_train(random, shape, rank, is_complex=False):
    """A random train of a rank."""
    ranks = [1]
    for place in range(1, len(shape)):
        before, after = numpy.prod(shape[:place], dtype=float), numpy.prod(shape[place:], dtype=float)
        ranks.append(int(min(rank, before, after)))
    ranks.append(1)
    cores = []
    for place, size in enumerate(shape):
        sizes = (ranks[place], size, ranks[place + 1])
        core = random.standard_normal(sizes)
        if is_complex:
            core = core + 1j * random.standard_normal(sizes)
        cores.append(core / numpy.sqrt(ranks[place]))
    return cores


def with_noise(random, cells, part):
    """The cells with noise of a part of their norm."""
    flat = cells.reshape(-1)
    size = part * numpy.linalg.norm(flat) / numpy.sqrt(flat.size)
    for start in range(0, flat.size, 1 << 22):
        run = flat[start : start + (1 << 22)]
        noise = random.standard_normal(run.size)
        if numpy.iscomplexobj(flat):
            noise = (noise + 1j * random.standard_normal(run.size)) / numpy.sqrt(2)
        run += size * noise
    return cells


def field(random, size=256):
    """Three channels much alike: a random field whose amplitudes fall with the third power, and soft balls."""
    full, half = numpy.fft.fftfreq(size) * size, numpy.fft.rfftfreq(size) * size
    length = numpy.sqrt(full[:, None, None] ** 2 + full[None, :, None] ** 2 + half[None, None, :] ** 2)
    length[0, 0, 0] = 1

    def one():
        shape = length.shape
        waves = random.standard_normal(shape) + 1j * random.standard_normal(shape)
        found = numpy.fft.irfftn(waves * length**-3.0, s=(size, size, size), axes=(0, 1, 2))
        return found / found.std()

    base = one()
    cells = numpy.empty((size, size, size, 3))
    for channel in range(3):
        cells[..., channel] = 2.0 + 0.6 * base + 0.15 * one()
    places = numpy.arange(size) / size
    for _ in range(12):
        center, radius = random.random(3), 0.08 + 0.2 * random.random()
        heights = random.standard_normal(3) * 0.6
        squares = [(places - at) ** 2 for at in center]
        distance = numpy.sqrt(squares[0][:, None, None] + squares[1][None, :, None] + squares[2][None, None, :])
        cells += (1 / (1 + numpy.exp((distance - radius) * 60)))[..., None] * heights
    return cells


def data(folder, name):
    """The file of a workload, made if it is not there."""
    path = os.path.join(folder, name + ".npy")
    if os.path.exists(path):
        return path
    random = numpy.random.default_rng(7)
    if name == "binary":
        cells = with_noise(random, expand(random_train(random, [2] * 26, 10)), 1e-10)
    elif name == "octal":
        cells = with_noise(random, expand(random_train(random, [8] * 8 + [4], 10)), 1e-10)
    elif name == "hilbert":
        i = numpy.arange(64.0)
        cells = 1 / (i[:, None, None, None] + i[:, None, None] + i[:, None] + i + 1)
    elif name == "field":
        cells = field(random)
    elif name == "random":
        cells = random.standard_normal((32,) * 4)
    elif name == "matrix":
        cells = random.standard_normal((4096, 4096), "f4")
    elif name == "complex":
        cells = with_noise(random, expand(random_train(random, [48] * 4, 8, True)), 1e-10)
    else:  # grown-N: 2^N cells of rank 10
        cells = expand(random_train(random, [2] * int(name.split("-")[1]), 10))
    numpy.save(path + ".part.npy", cells)
    os.rename(path + ".part.npy", path)
    return path


# The programs.


class Worker:
    """A program that does its work when it is told."""

    def __init__(self, words):
        environment = dict(os.environ, RAYON_NUM_THREADS=THREADS, OMP_NUM_THREADS=THREADS, MKL_NUM_THREADS=THREADS,
                           OPENBLAS_NUM_THREADS=THREADS, NUMBA_NUM_THREADS=THREADS)
        self.process = subprocess.Popen(BEFORE + words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=environment)
        self.broken = None
        self.answer()

    def answer(self):
        """The next line; marks the program as broken if there is none."""
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            self.process.kill()
            self.broken = f"no answer in {PATIENCE} s"
            return ""
        line = self.process.stdout.readline().strip()
        if not line:
            words = self.process.stderr.read().strip().splitlines()
            self.broken = (words[-1] if words else "it ended")[:100]
        return line

    def ask(self, line):
        """The answer to a line."""
        if self.broken:
            return ""
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.answer()

    def end(self):
        """Ends the program and waits for it."""
        if self.process.poll() is None:
            self.process.stdin.close()
        self.process.wait()


def ours(*words):
    """Our own program."""
    return Worker([OURS, *map(str, words)])


def peer(name, *words):
    """A peer in a Python of its own."""
    return Worker([sys.executable, os.path.join(HERE, "trains_peer.py"), name, *map(str, words)])


def runs_in_turns(told, rounds, seconds=20, turn=TURN, is_settled=False):
    """The milliseconds of all runs of programs that are told something. A turn is as many runs as fit into a moment, one at
    least; programs that take long get fewer turns. Where turns have to be settled, their first run does not count: it is
    the one for which the host of a virtual machine has to hand out memory again that has lain unused."""
    times = {name: [] for name in told}
    for place in range(rounds):
        # Now forwards, now backwards: what one leaves behind, memory above all, must not always meet the same one.
        for name, (worker, line) in list(told.items())[:: -1 if place % 2 else 1]:
            if sum(times[name]) > seconds * 1000:
                continue
            time.sleep(REST)
            if is_settled:
                worker.ask(line)
            taken = 0.0
            while taken <= turn and not worker.broken:
                answer = worker.ask(line)
                if not worker.broken:
                    times[name].append(float(answer))
                    taken += times[name][-1] / 1000
            # Whoever else uses the machine gets as much.
            time.sleep(min(taken, 10) if BEFORE else 0)
    return times


def in_turns(told, rounds):
    """The medians of these."""
    times = runs_in_turns(told, rounds)
    return {name: statistics.median(found) if found else None for name, found in times.items()}


def of_all(workers, line="go"):
    """All programs, told the same."""
    return {name: (worker, line) for name, worker in workers.items()}


# The checks.


def read_blz(path):
    """The cores of a `.blz` file."""
    with open(path, "rb") as file:
        raw = file.read()
    ndim = raw[6]
    numbers = numpy.frombuffer(raw, "<u8", 2 * ndim + 1, 15).astype(int)
    shape, ranks = numbers[:ndim], numbers[ndim:]
    kind = ["<f8", "<c16"][raw[5]]
    at, cores = 15 + 8 * (2 * ndim + 1), []
    for place, size in enumerate(shape):
        sizes = (ranks[place], size, ranks[place + 1])
        count = int(numpy.prod(sizes))
        cores.append(numpy.frombuffer(raw, kind, count, at).reshape(sizes))
        at += count * numpy.dtype(kind).itemsize
    return cores


def error_of(cores, cells):
    """How far a train is from the data, as a part of its norm."""
    found = expand([numpy.asarray(core) for core in cores]).reshape(-1)
    flat, square, total = cells.reshape(-1), 0.0, 0.0
    for start in range(0, flat.size, 1 << 22):
        run = flat[start : start + (1 << 22)]
        square += numpy.linalg.norm(found[start : start + (1 << 22)] - run) ** 2
        total += numpy.linalg.norm(run) ** 2
    return (square / total) ** 0.5


def load_cores(path):
    """The cores that a peer saved."""
    with numpy.load(path) as file:
        return [file[name] for name in sorted(file.files)]


# The tables.


def compress(options):
    """The six workloads."""
    for name, file, eps in WORKLOADS:
        if options.only and file not in options.only:
            continue
        path = data(options.folder, file)
        cells = numpy.load(path, mmap_mode="r")
        workers = {"tenfold": ours("compress", path, eps)}
        blz = os.path.join(options.folder, file + ".blz")
        workers["tenfold"].ask("go")
        proven, _, _, route = workers["tenfold"].ask("save " + blz).split()
        cores = read_blz(blz)
        ranks = [core.shape[2] for core in cores[:-1]]
        errors = {"tenfold": error_of(cores, cells)}
        sizes = {"tenfold": sum(core.size for core in cores)}
        for other, program in options.beside:
            workers[other] = Worker([program, "compress", path, str(eps)])
        for other in options.peers:
            workers[other] = peer(other, "compress", path, eps, json.dumps(ranks))
        times = in_turns({"read": (workers["tenfold"], "read")} | of_all(workers), options.rounds)
        read = times["read"]
        kinds = dict.fromkeys(options.peers, ("peer.npz", load_cores)) | {other: ("beside.blz", read_blz) for other, _ in options.beside}
        for other, (name_of_file, load) in kinds.items():
            saved = os.path.join(options.folder, name_of_file)
            if not workers[other].broken:
                workers[other].ask("save " + saved)
            if not workers[other].broken:
                cores = load(saved)
                errors[other], sizes[other] = error_of(cores, cells), sum(core.size for core in cores)
        print(f"\n### {name}\n\nOne read of the data takes {read:.1f} ms. Route: {route}; proven error {float(proven):.2e}.\n")
        print("| program | ms | times ours | error | numbers in the train |\n|---|---:|---:|---:|---:|")
        print(f"| one read | {read:.1f} | {read / times['tenfold']:.2f} | | |")
        for other, worker in workers.items():
            if worker.broken or times[other] is None:
                print(f"| {other} | stops: {worker.broken} | | | |", flush=True)
                continue
            limit = max(eps, 1e-12)
            remark = "" if errors[other] <= limit * 1.0001 or "given" in other else " **broken**"
            print(f"| {other} | {times[other]:.1f} | {times[other] / times['tenfold']:.1f} | {errors[other]:.1e}{remark} | {sizes[other]} |", flush=True)
        for worker in workers.values():
            worker.end()


def reconstruct(options):
    """2^26 cells from a train of rank 10."""
    shape = [8] * 8 + [4]
    own = ours("reconstruct", 10, *shape)
    workers = {"tenfold": own, "numpy, best split": peer("numpy", "reconstruct"), "tensorly": peer("tensorly", "reconstruct"),
               "torchtt": peer("torchtt", "reconstruct")}
    told = {"write": (own, "write"), "warm": (own, "warm")} | {name: (worker, "go") for name, worker in workers.items()}
    times = {name: found and (statistics.quantiles(found)[0], statistics.median(found))
             for name, found in runs_in_turns(told, 3 * options.rounds, turn=TURN / 3, is_settled=True).items()}
    floor = times["write"]

    def row(label, found):
        quick, middle = found
        print(f"| {label} | {quick:.1f} | {quick / floor[0]:.2f} | {middle:.1f} | {middle / floor[1]:.2f} |", flush=True)

    print("\n### reconstruct 2^26 doubles from rank 10, into fresh memory\n")
    print("| program | lower quartile, ms | times writing | median, ms | times writing |\n|---|---:|---:|---:|---:|")
    row("writing 512 MiB to fresh memory", floor)
    row("tenfold, into memory that is there", times["warm"])
    for name, worker in workers.items():
        if times[name]:
            row(name, times[name])
        else:
            print(f"| {name} | stops: {worker.broken} | | | |")
        worker.end()


def arithmetic(options):
    """Trains of rank 50 with 30 modes of 4."""
    workers = {"tenfold": ours("arithmetic", 50, 4, 30)}
    for name in ["torchtt", "teneva"]:
        workers[name] = peer(name, "arithmetic")
    print("\n### rank 50, 30 modes of 4\n\n| | " + " | ".join(f"{name}, ms" for name in workers) + " |\n|---|" + "---:|" * len(workers))
    for line in ["dot", "add", "add, written out", "round", "halve"]:
        for worker in workers.values():
            worker.ask(line)
        times = in_turns(of_all(workers, line), options.rounds)
        cells = [f"{times[name]:.2f} ({times[name] / times['tenfold']:.1f})" if times[name] else "stops" for name in workers]
        print(f"| {line} | " + " | ".join(cells) + " |", flush=True)
    for worker in workers.values():
        worker.end()


GROWTH = ["cells at rank 10, modes of 2, 1e-8", "ms", "ns a cell", "times one read"]


def growth(folder, rounds):
    """Lines of a table of time against size at a fixed rank."""
    for bits in range(20, 29, 2):
        worker = ours("compress", data(folder, f"grown-{bits}"), 1e-8)
        worker.ask("go")
        times = in_turns({"read": (worker, "read"), "tenfold": (worker, "go")}, rounds)
        read, found = times["read"], times["tenfold"]
        yield [f"2^{bits}", f"{found:.2f}", f"{found * 1e6 / 2**bits:.2f}", f"{found / read:.1f}"]
        worker.end()


def big_file(folder):
    """An 8 GiB file of rank 10, made a slab at a time."""
    path = os.path.join(folder, "large.npy")
    if os.path.exists(path):
        return path
    random = numpy.random.default_rng(9)
    cores = random_train(random, [8] * 10, 10)
    left, right = expand_half(cores[:5]), expand_half(cores[5:][::-1], True)
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': " + str((8,) * 10) + ", }"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path + ".part", "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
        for start in range(0, left.shape[0], 256):
            (left[start : start + 256] @ right).tofile(out)
    os.rename(path + ".part", path)
    return path


def expand_half(cores, is_right=False):
    """The product of the cores on one side of a bond."""
    whole = numpy.ones((1, 1))
    for core in cores:
        if is_right:
            whole = (core.reshape(-1, core.shape[2]) @ whole).reshape(core.shape[0], -1)
        else:
            whole = (whole @ core.reshape(core.shape[0], -1)).reshape(-1, core.shape[2])
    return whole


def file(options):
    """Files that are read by one command, beside `cat`: one larger than the memory allowed, and one at a loose tolerance."""
    read_as("an 8 GiB file of rank 10, 1e-8, `--memory 512MiB`", big_file(options.folder), 1e-8, 512 << 20, options.rounds)
    read_as("the file of the field, 1e-2", data(options.folder, "field"), 1e-2, 1 << 30, options.rounds)


def read_as(title, path, eps, memory, rounds):
    """One file, to a tolerance."""
    cats, own, peaks = [], [], []
    for _ in range(max(rounds // 2, 3)):
        start = time.perf_counter()
        with open(os.devnull, "wb") as nothing:
            subprocess.run([*BEFORE, "cat", path], stdout=nothing, check=True)
        cats.append(time.perf_counter() - start)
        worker = ours("stream", path, eps, memory)
        own.append(float(worker.ask("go")) / 1000)
        with open(f"/proc/{worker.process.pid}/status") as status:
            peaks.extend(int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM"))
        worker.end()
    cat, seconds = statistics.median(cats), statistics.median(own)
    print(f"\n### {title}\n\n| program | s | times cat | peak, MiB |\n|---|---:|---:|---:|")
    print(f"| cat FILE > /dev/null | {cat:.2f} | 1.00 | |\n| tenfold | {seconds:.2f} | {seconds / cat:.2f} | {max(peaks)} |", flush=True)


def refuse(options):
    """A matrix that no train makes smaller: the proof, beside making the train, and NumPy's singular values."""
    path = data(options.folder, "matrix")
    workers = {"tenfold, the proof": ours("refuse", path, 1e-1), "tenfold, the train": ours("stream", path, 1e-1, 1 << 30)}
    times = in_turns(of_all(workers), 3)
    for worker in workers.values():
        worker.end()
    cells = numpy.load(path).astype(float)
    start = time.perf_counter()
    numpy.linalg.svd(cells, compute_uv=False)
    times["numpy.linalg.svd, values alone"] = (time.perf_counter() - start) * 1e3
    proof = times["tenfold, the proof"]
    print("\n### random 4096 x 4096 of f32, 1e-1: no train is smaller\n\n| program | s | times the proof |\n|---|---:|---:|")
    for name, milliseconds in times.items():
        print(f"| {name} | {milliseconds / 1e3:.2f} | {milliseconds / proof:.1f} |", flush=True)


def touch_memory():
    """Writes to most of the memory once: the host of a virtual machine hands it out when it is first touched, and whoever
    came first would pay for that."""
    with open("/proc/meminfo") as info:
        free = next(int(line.split()[1]) << 10 for line in info if line.startswith("MemAvailable"))
    parts = [numpy.ones(1 << 27) for _ in range(int(free * 0.7) >> 30)]
    del parts


def main():
    """Prints the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", default=os.path.join(HERE, "../target/benches/trains"))
    parser.add_argument("--peers", default=",".join(PEERS), type=lambda text: [name for name in text.split(",") if name])
    parser.add_argument("--beside", default=[], action="append", type=lambda text: text.split("=", 1), metavar="NAME=PROGRAM")
    parser.add_argument("--only", default="", type=lambda text: text.split(",") if text else [])
    parser.add_argument("tables", nargs="*", default=["compress", "reconstruct", "arithmetic", "file", "refuse"])
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    touch_memory()
    for name in options.tables:
        {"compress": compress, "reconstruct": reconstruct, "arithmetic": arithmetic, "file": file, "refuse": refuse}[name](options)


if __name__ == "__main__":
    main()
