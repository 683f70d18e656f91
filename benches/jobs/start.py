"""A process from its start to its end: `tenfold info` of a small file, beside `/bin/true` and Python with NumPy."""

import sys

from harness import Row

ROUNDS = 31


def rows(bench):
    small = bench.path("small.npy")
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(small, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(96))
    ours = {"info": ["info", small], "--version": ["--version"]}
    programs = {f"tenfold {name}": [bench.tenfold, *words] for name, words in ours.items()}
    programs |= {"true": ["/bin/true"], "numpy": [sys.executable, "-c", "import numpy"]}
    peaks = {}

    def measure(name):
        seconds, peaks[name] = bench.run(*programs[name])
        return seconds

    times = bench.in_turns({name: lambda name=name: measure(name) for name in programs}, ROUNDS)
    found = []
    for name in ours:
        own = times[f"tenfold {name}"]
        over = (own - times["true"]) * 1e3
        other = (f"≤ 5 ms over /bin/true (is {over:.1f} ms)", over <= 5)
        found.append(Row("start", f"tenfold {name}", own, times["true"], {"python -c 'import numpy'": times["numpy"]}, peak=peaks[f"tenfold {name}"], other=other, reason=REASON))
    return found


REASON = ""
