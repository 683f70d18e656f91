"""Compares tenfold with the reference implementation of zTensor 1.0: what that writes, tenfold shows with
the same bits, also once it has been brought to version 2."""

import os
import sys
import tempfile

import numpy
import ztensor

from ztensor_arrays import check_cells, check_migration, check_reading, tensors


def main():
    arrays = {name: array for name, array in tensors().items() if array.size > 0}
    with tempfile.TemporaryDirectory() as folder:
        for compress in (False, True):
            path = os.path.join(folder, f"theirs{compress}.zt")
            with ztensor.Writer(path) as writer:
                for name, array in arrays.items():
                    writer.add_tensor(name, array, compress=compress)
            check_reading(path, arrays, in_order=False)
            check_migration(path, arrays)
        path = os.path.join(folder, "sparse.zt")
        with ztensor.Writer(path) as writer:
            values = numpy.array([1, 2, 3], dtype="float32")
            columns, starts = numpy.array([0, 2, 1], dtype="uint64"), numpy.array([0, 2, 3], dtype="uint64")
            writer.add_sparse_csr("rows", values, columns, starts, [2, 3])
            places = numpy.array([0, 0, 1, 0, 2, 1], dtype="uint64")
            writer.add_sparse_coo("cells", values, places, [2, 3])
        check_cells(path, ["rows", "cells"], {(0, 0): 1, (0, 2): 2, (1, 1): 3})
    print(f"{len(arrays)} tensors, raw and compressed, and sparse ones: read with the same bits")


if __name__ == "__main__":
    sys.exit(main())
