"""How long it takes to list 100 000 tensors in process, beside the crates and packages of the formats.

Every program opens the same file and goes over the names, shapes and types of all tensors, when it is told, all in
turns; what they saw is compared. The crates are `safetensors` 0.8.0 and `ztensor` 0.1.0 and 2.1.1, built into the
same program as tenfold; the Python packages are those of `oracles`.

Usage: cargo build --release --manifest-path benches/listing/Cargo.toml
       cargo xtask test   (once, which makes the environments of the Python packages)
       python3 benches/listing.py [--rounds N] [--folder F] [--environments F]
"""

import argparse
import os
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(HERE, "listing/target/release/listing")
COUNT = 100_000
# Words before every program, such as `chrt -r 1` where others use the machine too.
BEFORE = os.environ.get("RUN_WITH", "").split()
# The file and the oracle of each format.
FORMATS = {
    "safetensors": ("list.safetensors", "safetensors"),
    "ztensor-0.1": ("list-0.1.zt", "ztensor-0.1"),
    "ztensor-2": ("list-2.zt", "ztensor-2"),
}


class Worker:
    """A program that answers lines."""

    def __init__(self, words):
        self.process = subprocess.Popen(BEFORE + words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n", words

    def ask(self, line):
        """Milliseconds, and what was seen."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        took, *seen = self.process.stdout.readline().split()
        return float(took), seen

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measure(form, path, python, rounds):
    """The milliseconds of every round of every program."""
    rust, package = Worker([OURS, "serve", form, path]), Worker([python, f"{HERE}/listing_peer.py", form, path])
    programs = {"tenfold": (rust, "tenfold"), "the crate": (rust, "crate"), "the Python package": (package, "go")}
    times = {name: [] for name in programs}
    for round in range(rounds + 1):
        seen = set()
        for name, (worker, line) in programs.items():
            took, what = worker.ask(line)
            seen.add(tuple(what))
            if round > 0:  # the first warms up
                times[name].append(took)
        assert len(seen) == 1 and str(COUNT) in next(iter(seen)), seen
    rust.end()
    package.end()
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", default="target")
    parser.add_argument("--environments", default="target/oracles")
    options = parser.parse_args()
    subprocess.run([OURS, "make", options.folder, str(COUNT)], check=True)
    print("| format | program | median | least | most | times ours, by median |")
    print("|---|---|---:|---:|---:|---:|")
    for form, (file, oracle) in FORMATS.items():
        path = os.path.join(options.folder, file)
        python = os.path.join(options.environments, oracle, "bin/python")
        times = measure(form, path, python, options.rounds)
        own = statistics.median(times["tenfold"])
        for name, runs in times.items():
            median = statistics.median(runs)
            print(f"| {form} | {name} | {median:.0f} ms | {min(runs):.0f} ms | {max(runs):.0f} ms | {median / own:.2f} |")
        os.remove(path)


if __name__ == "__main__":
    main()
