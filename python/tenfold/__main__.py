"""The command `tenfold`."""

from __future__ import annotations

import sys

from . import _tenfold


def main() -> int:
    """Runs the command line; returns the exit code."""
    return _tenfold.main(["tenfold", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
