"""`.blz` files by their byte table, for the oracles of trains."""

import struct

import numpy


def read_blz(path):
    """The cores of a `.blz` file."""
    with open(path, "rb") as file:
        raw = file.read()
    magic, version, dtype, ndim = struct.unpack_from("<4sBBB", raw)
    assert (magic, version) == (b"BLZ1", 1), path
    shape = struct.unpack_from(f"<{ndim}Q", raw, 15)
    ranks = struct.unpack_from(f"<{ndim + 1}Q", raw, 15 + 8 * ndim)
    assert ranks[0] == ranks[-1] == 1, ranks
    kind, at, cores = ["<f8", "<c16"][dtype], 15 + 8 * (2 * ndim + 1), []
    for left, size, right in zip(ranks, shape, ranks[1:]):
        core = numpy.frombuffer(raw, kind, left * size * right, at)
        cores.append(core.reshape(left, size, right))
        at += core.nbytes
    assert at == len(raw), path
    return cores


def write_blz(path, cores):
    """Writes cores as a `.blz` file."""
    kind = ["<f8", "<c16"][numpy.iscomplexobj(cores[0])]
    shape = [core.shape[1] for core in cores]
    ranks = [1] + [core.shape[2] for core in cores]
    with open(path, "wb") as file:
        file.write(struct.pack("<4sBBB8x", b"BLZ1", 1, int(kind == "<c16"), len(cores)))
        file.write(struct.pack(f"<{len(shape) + len(ranks)}Q", *shape, *ranks))
        for core in cores:
            file.write(numpy.ascontiguousarray(core, kind).tobytes())
