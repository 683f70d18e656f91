"""What the oracles share: running tenfold, and comparing the numbers it shows."""

import os
import subprocess

import numpy


def tenfold(*words):
    """What tenfold prints; it has to succeed."""
    done = subprocess.run([os.environ["TENFOLD"], *words], check=True, capture_output=True, text=True)
    return done.stdout


def refusal(*words):
    """What tenfold says where it refuses to lose something."""
    done = subprocess.run([os.environ["TENFOLD"], *words], capture_output=True, text=True)
    assert done.returncode == 3, done
    return done.stderr


def shown(number, kind):
    """What `tenfold show --json` prints for one number."""
    if kind in "iub":
        return number.item()
    number = float(number)
    if number != number:
        return "NaN"
    return {numpy.inf: "Infinity", -numpy.inf: "-Infinity"}.get(number, number)


def same_number(found, wanted, dtype):
    """Whether two shown numbers are one at the width of `dtype`."""
    if dtype.kind in "iub" or isinstance(wanted, str):
        return found == wanted
    # A decimal of the right width reads back to the same bits.
    bits = numpy.array(found, dtype=numpy.float64).astype(dtype).tobytes()
    return bits == numpy.array(wanted, dtype=numpy.float64).astype(dtype).tobytes()
