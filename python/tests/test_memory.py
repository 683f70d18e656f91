"""Memory that is short: an exception, never the end of the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
import tenfold

START = """
import resource
import sys

import numpy as np
import tenfold

def capped(what):
    try:
        what()
    except tenfold.OutOfMemory as error:
        assert isinstance(error, MemoryError), error
        print("short")
    except tenfold.TenfoldError as error:
        print(type(error).__name__)
    else:
        print("done")

resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
"""


def said(code: str, *words: object) -> list[str]:
    """What a program prints that has a gibibyte of address space, with all libraries that it loads."""
    # Each thread of NumPy's own libraries would take some of it.
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    program = START + textwrap.dedent(code)
    command = [sys.executable, "-c", program, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.split()


def test_a_tensor_that_does_not_fit_raises(tmp_path):
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (268435456,), }"
    head = b"\x93NUMPY\x01\x00\x76\x00" + head.ljust(117) + b"\n"
    file = tmp_path / "large.npy"
    with file.open("wb") as out:
        out.write(head)
        out.truncate(len(head) + (2 << 30))
    found = said(
        """
        for io in ["read", "mmap"]:
            capped(lambda: tenfold.open(sys.argv[1], io=io).only.numpy())
        capped(lambda: tenfold.open(sys.argv[1], io="read").only[::-1])
        capped(lambda: tenfold.load(sys.argv[1], io="read"))
        print(tenfold.open(sys.argv[1], io="read").only[7])
        """,
        file,
    )
    assert found == ["short"] * 4 + ["0.0"]


PICKLE = (
    b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}.\x80\x04"
)


def first_generation(index: bytes) -> bytes:
    return b"ZTEN0001" + bytes(56) + index + len(index).to_bytes(8, "little")


LEN = 12 << 20
BOMBS = {
    "pt": PICKLE + b"]" * LEN + b".",
    "yaml": b"a: [" + b"[]," * (LEN // 3) + b"]\n",
    "json": b'{"type":"tensor(x[1])","values":[1],"a":[0' + b",0" * (LEN // 2) + b"]}",
    "fcidump": b"&FCI NORB=1,X=" + b"a," * (LEN // 2) + b"\n&END\n",
    "zt": first_generation(b"\x9a" + LEN.to_bytes(4, "big") + b"\x80" * LEN),
    "safetensors": LEN.to_bytes(8, "little") + b" " * (LEN - 2) + b"{}",
}


@pytest.mark.parametrize("extension", BOMBS)
def test_bombs_raise(tmp_path, extension):
    file = tmp_path / f"bomb.{extension}"
    file.write_bytes(BOMBS[extension])
    found = said(
        """
        from pathlib import Path

        file = Path(sys.argv[1])
        capped(lambda: tenfold.open(file))
        capped(lambda: tenfold.read(file.read_bytes()))
        capped(lambda: tenfold.verify(file))
        capped(lambda: tenfold.convert(file, file.with_name("out.npz")))
        """,
        file,
    )
    assert len(found) == 4
    assert [path.name for path in tmp_path.iterdir() if path.name != "out.npz"] == [file.name]


def test_it_is_an_exception_of_both_families():
    assert issubclass(tenfold.OutOfMemory, MemoryError)
    assert issubclass(tenfold.OutOfMemory, tenfold.TenfoldError)
