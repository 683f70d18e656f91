"""Makes the whole corpus: `python3 corpus/make/all.py`, or with `--check` compares it with the disk."""

import importlib
from pathlib import Path

import common

FORMATS = (
    "tens", "blz", "ztensor", "vespa", "vespa_text", "vespa_feed", "primitiv", "npy", "npz", "safetensors", "gguf",
    "torch", "mtx", "tns", "fcidump", "cc4s",
)


def makers():
    """The `make` of every format that has a maker here."""
    here = Path(__file__).resolve().parent
    return [importlib.import_module(name).make for name in FORMATS if (here / f"{name}.py").is_file()]


if __name__ == "__main__":
    raise SystemExit(common.run(*makers()))
