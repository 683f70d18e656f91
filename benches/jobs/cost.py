"""What the command costs before it runs: its size, its dependencies, and how long it takes to build from nothing.

The build takes minutes and is measured only where `TENFOLD_CLEAN_BUILD` is set, in seconds of a core, which other work on the
machine hardly changes; otherwise its last figure is kept.
"""

import os
import re
import subprocess
import tempfile

from harness import HERE, ROOT, table

KEPT = os.path.join(HERE, "clean_build.txt")


def cargo(*words):
    return subprocess.run(["cargo", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def size(path, *strip):
    """Bytes of a binary, perhaps without its names."""
    with tempfile.NamedTemporaryFile() as copy:
        subprocess.run(["strip", *strip, "-o", copy.name, path], check=True)
        return os.path.getsize(copy.name)


def clean_build():
    """Seconds of a core for a build into an empty folder."""
    spent = lambda: sum(os.times()[2:4])
    with tempfile.TemporaryDirectory() as folder:
        start = spent()
        subprocess.run(["cargo", "build", "--release", "--package", "tenfold-cli", "--target-dir", folder], cwd=ROOT, check=True)
        seconds = spent() - start
    with open(KEPT, "w") as file:
        file.write(f"{seconds:.0f} s of a core\n")


def crates(package):
    tree = cargo("tree", "--edges", "normal", "--prefix", "none", "--package", package)
    return len(set(re.findall(r"(?m)^(\S+ v\S+)", tree))) - 1


def rows(bench):
    if os.environ.get("TENFOLD_CLEAN_BUILD"):
        clean_build()
    kept = "not measured"
    if os.path.exists(KEPT):
        with open(KEPT) as file:
            kept = file.read().strip()
    mib = lambda length: f"{length / (1 << 20):.1f} MiB"
    lines = [
        ["the command", mib(os.path.getsize(bench.tenfold))],
        ["the command, stripped", mib(size(bench.tenfold))],
        ["crates below the library", str(crates("tenfold"))],
        ["crates below the command", str(crates("tenfold-cli"))],
        ["a clean build", kept],
    ]
    bench.say(table(["cost", "how much"], lines))
    return []
