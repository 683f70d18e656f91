"""How fast a GGUF file of 100 000 tensors is listed, and quantised values are worked out, beside `gguf`.

Both open the file and go through names and shapes, in a process that runs already, in turns; the table has
medians. Usage: python3 benches/gguf_listing.py [path to the example `gguf_listing`] [folder], with the package `gguf`
installed. The example is built by `cargo build --release -p tenfold --example gguf_listing`.
"""

import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.quants import dequantize

ROUNDS = 5
TENSORS = 100_000
KINDS = ["Q4_0", "Q8_0", "Q4_K", "Q6_K", "IQ4_XS", "IQ2_XS"]
MIB = 1 << 20


def write(path, tensors):
    writer = GGUFWriter(path, "llama")
    writer.add_array("tokenizer.ggml.tokens", [f"token {number}" for number in range(1000)])
    for name, array, kind in tensors:
        writer.add_tensor(name, array, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def listed(path):
    start = time.perf_counter()
    total = 0
    for tensor in GGUFReader(path).tensors:
        total += len(tensor.name) + sum(tensor.shape.tolist())
    return time.perf_counter() - start


def worked_out(path):
    start = time.perf_counter()
    for tensor in GGUFReader(path).tensors:
        dequantize(tensor.data, tensor.tensor_type)
    return time.perf_counter() - start


def ours(example, path, *words):
    ran = subprocess.run([example, path, "1", *words], check=True, capture_output=True, text=True)
    return float(ran.stdout.split()[0])


def listing(example, folder):
    path = os.path.join(folder, "many.gguf")
    small = numpy.zeros((2, 2), numpy.float32)
    write(path, ((f"blk.{number}.attn_q.weight", small, None) for number in range(TENSORS)))
    theirs, own = [], []
    for _ in range(ROUNDS):
        theirs.append(listed(path))
        own.append(ours(example, path))
    print("| 100 000 tensors listed | median | best | times faster, by median |")
    print("|---|---:|---:|---:|")
    for name, runs in (("gguf.GGUFReader", theirs), ("tenfold", own)):
        ratio = statistics.median(theirs) / statistics.median(runs)
        print(f"| {name} | {statistics.median(runs):.3f} s | {min(runs):.3f} s | {ratio:.1f} |")
    print(flush=True)


def values(example, folder):
    print("| 2^25 values worked out | gguf | tenfold | values a second | times faster |")
    print("|---|---:|---:|---:|---:|")
    source = numpy.random.default_rng(1)
    for name in KINDS:
        kind = GGMLQuantizationType[name]
        cells, length = GGML_QUANT_SIZES[kind]
        rows = source.integers(0, 256, (8192, 4096 // cells * length), dtype=numpy.uint8)
        path = os.path.join(folder, f"{name}.gguf")
        write(path, [("w", rows, kind)])
        theirs, own = worked_out(path), statistics.median(ours(example, path, "dequantize") for _ in range(3))
        print(f"| {name} | {theirs:.2f} s | {own:.3f} s | {2**25 / own / 1e6:.0f} M | {theirs / own:.0f} |", flush=True)
        os.remove(path)


def main():
    logging.disable(logging.WARNING)
    numpy.seterr(all="ignore")
    words = sys.argv[1:]
    example = words[0] if words else "target/release/examples/gguf_listing"
    with tempfile.TemporaryDirectory(dir=words[1] if len(words) > 1 else None) as folder:
        listing(example, folder)
        values(example, folder)


if __name__ == "__main__":
    main()
