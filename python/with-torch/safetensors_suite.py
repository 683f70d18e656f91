"""Runs the tests of safetensors itself against the modules that stand in for its own.

Its source distribution is fetched from the package index into a temporary folder; nothing of it stays. In
the tests of its bindings to NumPy and PyTorch, imports of `safetensors` become imports of `tenfold`.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

TESTS = ["handle", "multithreaded", "pread_backend", "pt_comparison", "pt_model", "simple", "threadable"]
IMPORT = re.compile(r"^(\s*(?:from|import)\s+)safetensors\b", re.MULTILINE)


def fetched(folder: Path) -> Path | None:
    """The unpacked source distribution of the version that is installed."""
    wanted = f"safetensors=={version('safetensors')}"
    options = ["--no-deps", "--no-binary", "safetensors", "--no-build-isolation", "--dest", folder]
    # Its metadata needs its build tool, which the environment has.
    places = [os.path.dirname(sys.executable), *os.environ.get("PATH", "").split(os.pathsep)]
    found = {**os.environ, "PATH": os.pathsep.join(places)}
    download = [sys.executable, "-m", "pip", "download", "--quiet", *options, wanted]
    subprocess.run(download, check=False, env=found)
    archives = list(folder.glob("safetensors-*.tar.gz"))
    if not archives:
        return None
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    return archives[0].with_name(archives[0].name.removesuffix(".tar.gz"))


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        source = fetched(Path(name))
        if source is None:
            print("SKIPPED: the tests of safetensors: its source distribution cannot be had")
            return 0
        folder = Path(name, "suite")
        Path(folder, "tests/data").mkdir(parents=True)
        for test in TESTS:
            text = Path(source, f"bindings/python/tests/test_{test}.py").read_text()
            text, count = IMPORT.subn(r"\1tenfold", text)
            assert count, f"{test} imports nothing of safetensors"
            Path(folder, f"tests/test_{test}.py").write_text(text)
        options = ["--quiet", "-rs", "-p", "no:cacheprovider", "--rootdir", folder, "tests", *sys.argv[1:]]
        return subprocess.run([sys.executable, "-m", "pytest", *options], cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
