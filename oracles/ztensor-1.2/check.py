"""Compares tenfold with the reference implementation of zTensor 1.2: what that writes, tenfold shows with
the same bits, also once it has been brought to version 2; what tenfold writes as 0.1, that reads."""

import os
import sys
import tempfile

import ztensor

from shared import tenfold
from ztensor_arrays import check_migration, check_reading, tensors

# How the reference is asked to write.
WAYS = [(None, "none"), (None, "crc32c"), (3, "sha256"), (19, "crc32c")]


def main():
    arrays = {name: array for name, array in tensors().items() if array.size > 0}
    with tempfile.TemporaryDirectory() as folder:
        for number, (compress, checksum) in enumerate(WAYS):
            path = os.path.join(folder, f"theirs{number}.zt")
            with ztensor.Writer(path) as writer:
                for name, array in arrays.items():
                    writer.add(name, array, compress=compress, checksum=checksum)
            check_reading(path, arrays, in_order=False)
            check_migration(path, arrays)
        ours = os.path.join(folder, "ours.zt")
        tenfold("convert", path, ours, "--to", "ztensor@0.1")
        with ztensor.Reader(ours) as reader:
            for name, array in arrays.items():
                found = reader.read_numpy(name, copy=True)
                assert found.tobytes() == array.tobytes(), name
    print(f"{len(arrays)} tensors, {len(WAYS)} ways of writing: read with the same bits")


if __name__ == "__main__":
    sys.exit(main())
