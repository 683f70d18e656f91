"""All checksums of a 512 MiB file compared, with the file in the page cache: one tensor, and sixteen.

The limit is the crate of the checksum alone, over the same bytes in a map, on two threads: a tensor each, and half of a
lone one where halves combine (CRC-32C). SHA-256 and XXH3 of one tensor are the work of one thread, for anybody.
"""

import os

from harness import Row, Target

LENGTH = 512 << 20
KINDS = {"crc32c": "0.1", "sha256": "2", "xxh3": "2"}


def rows(bench):
    values = bench.path("values")
    with open(values, "wb") as out:
        for _ in range(LENGTH >> 25):
            out.write(os.urandom(1 << 25))
    found = []
    for kind, version in KINDS.items():
        for count in (1, 16):
            path = bench.path("checked.zt")
            bench.quietly(bench.binary, "checksum", "make", path, values, count, kind, version)
            rust = bench.native("checksum", path, count, kind)
            times = bench.in_turns({name: lambda name=name: rust.seconds(name) for name in ("tenfold", "library")})
            rust.end()
            _, peak = bench.run(bench.tenfold, "verify", path)
            tensors = "one tensor" if count == 1 else f"{count} tensors"
            found.append(Row("checksum", f"{kind}, {tensors}", times["tenfold"], times["library"], {}, Target(limit=1 / 0.9), peak, reason=REASON))
            os.remove(path)
    return found


REASON = (
    "perf has three fifths of CRC-32C's time, and a seventh of SHA-256's, in copies out of the cached pages, which the limit spares itself with a "
    "map; a lone SHA-256 or XXH3 is one thread's work"
)
