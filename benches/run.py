"""Measures every job, or those that are named, and writes `RESULTS.md`; `cargo xtask bench [JOB…]` runs it.

Named jobs replace their own sections of the page and leave the rest.
"""

import importlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from importlib import metadata

from harness import HEADINGS, HERE, ROOT, Bench, table
from results import page, sections_of

JOBS = [
    "listing", "copy", "relayout", "cast", "zstd", "checksum", "stats", "diff", "sparse", "symmetric", "slice", "trains",
    "start", "growth", "cost",
]
PAGE = os.path.join(HERE, "RESULTS.md")


def processor():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")


def machine():
    """What was measured on, and with what; each section says on which processor."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.split()[1]
    with open(os.path.join(HERE, "peers.txt")) as file:
        names = [line.strip() for line in file if line.strip()]
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    with open(os.path.join(HERE, "native/Cargo.toml")) as file:
        wanted = set(re.findall(r'(?m)^(?:\w+ = \{ package = "(\w+)"|(?!tenfold)([\w-]+) = )', file.read().split("[dependencies]")[1].split("[profile")[0]))
    wanted = {one or other for one, other in wanted}
    with open(os.path.join(HERE, "native/Cargo.lock")) as file:
        locked = re.findall(r'name = "([\w-]+)"\nversion = "([^"]+)"', file.read())
    crates = ", ".join(f"{name} {version}" for name, version in locked if name in wanted)
    return (
        f"{os.cpu_count()} cores, {memory} GiB, Linux {platform.release()}; Rust {rustc}, Python {platform.python_version()}.\n\n"
        f"Packages: {packages}.\n\nCrates: {crates}."
    )


def section(name, bench):
    """The part of the page that one job makes."""
    job = importlib.import_module(f"jobs.{name}")
    start = time.perf_counter()
    try:
        rows = job.rows(bench)
    finally:
        bench.end()
    parts = [f"## {name}", job.__doc__.strip(), f"Measured on: {processor()}."]
    if rows:
        parts.append(table(HEADINGS, [row.cells() for row in rows]))
    missed = {}
    for row in rows:
        if row.met() is False:
            missed.setdefault(row.reason or "not looked into yet", []).append(row.what)
    if missed:
        parts.append("Missed:\n\n" + "\n".join(f"- {'; '.join(rows)}: {reason}." for reason, rows in missed.items()))
    text = "\n\n".join(parts + bench.notes) + "\n"
    print(f"{text}\n({time.perf_counter() - start:.0f} s)\n", flush=True)
    return text


def main():
    tenfold, native = os.environ["TENFOLD"], os.environ["TENFOLD_NATIVE"]
    named = sys.argv[1:]
    unknown = [name for name in named if name not in JOBS]
    assert not unknown, f"no job {unknown}, there are {JOBS}"
    there = [name for name in JOBS if os.path.exists(os.path.join(HERE, f"jobs/{name}.py"))]
    found = {}
    if os.path.exists(PAGE):
        with open(PAGE) as file:
            found = sections_of(file.read())
    for name in named or there:
        folder = os.path.join(ROOT, "target/benches", name)
        # What a run that was stopped has left.
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        found[name] = section(name, Bench(folder, tenfold, native))
        with open(os.path.join(HERE, "results_head.md")) as file:
            head = file.read()
        text = page(head, machine(), {job: found[job] for job in JOBS if job in found})
        with open(PAGE, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
