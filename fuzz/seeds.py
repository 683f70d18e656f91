"""Makes what each target of the fuzzer begins with out of the corpus: `python3 fuzz/seeds.py FOLDER`."""

import gzip
import json
import sys
from pathlib import Path

CORPUS = Path(__file__).parent.parent / "corpus"

# Longer files teach a fuzzer nothing that short ones do not.
LONGEST = 1 << 16

# What is decompressed before it is read takes more time, and has fewer tries.
LONGEST_PACKED = 1 << 12

TYPES = ["<float>(x[3])", "<double>(a{},b[2])", "()", "<int8>(x{},y{})", "<bfloat16>( x [ 2 ] )"]
SLICES = ["0:3, ::2, -1", "...", "1, ..., ::-2", "[-1:, 2]", "x=1", "5:0:-3, -9:9, 4"]
RAW = ["shape=2x3,dtype=f32", "dtype=u8", "shape=?x2,dtype=c64,order=F,endian=big", "dtype=i16,offset=3"]


def together(path: Path) -> bytes:
    """A file with those beside it as one run of bytes, as `tests/shared/files.rs` takes them apart."""
    first = path.read_bytes()
    names = json.loads(Path(f"{path}.json").read_text()).get("beside")
    if not names:
        return first
    called = {name: name.replace(f"{path.stem}.", "x.", 1) for name in names}
    beside = sorted((called[name].encode(), path.with_name(name).read_bytes()) for name in names)
    run = b"several files\n"
    for name, data in [(b"x.yaml", first), *beside]:
        run += b"%d %d\n" % (len(name), len(data)) + name + data
    return run


def below(kind: str, path: Path, data: bytes):
    """What a file has for the targets below the formats."""
    match kind:
        case "primitiv":
            yield "msgpack", data
        case "npz" | "torch":
            yield "zip", data
            yield "pickle", data[data.find(b"\x80\x02") :]
        case "cc4s":
            yield "yaml", path.read_bytes()
        case "npy" if data.startswith(b"\x93NUMPY\x01"):
            yield "npy_literal", data[10 : 10 + int.from_bytes(data[8:10], "little")]
        case "ztensor":
            yield "cbor", data[64:-8]


def seeds():
    """Names of targets, and bytes."""
    for sibling in sorted(CORPUS.glob("*/*/*.json")):
        path = sibling.with_suffix("")
        kind = path.parts[-3]
        if not path.is_file() or len(data := together(path)) > LONGEST:
            continue
        yield f"read_{kind.replace('-', '_')}", data
        yield "detect", data
        yield "round_trip", data
        yield "convert", bytes([len(path.name) * 7 % 256]) + data
        if len(data) <= LONGEST_PACKED:
            # The target puts the first ten bytes, which are always the same, before what it is given.
            yield "gzip", gzip.compress(data, mtime=0)[10:]
        yield from below(kind, path, data)
    yield from (("vespa_type", text.encode()) for text in TYPES)
    yield from (("slice", text.encode()) for text in SLICES)
    yield from (("read_raw", text.encode() + b"\n" + bytes(range(48))) for text in RAW)


def main() -> None:
    (folder,) = map(Path, sys.argv[1:])
    for place, (target, data) in enumerate(seeds()):
        (folder / target).mkdir(parents=True, exist_ok=True)
        (folder / target / f"seed-{place}").write_bytes(data)


if __name__ == "__main__":
    main()
