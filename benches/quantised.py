"""How fast quantised values of a GGUF file are worked out, beside the package `gguf`.

Usage: python3 benches/quantised.py [path to the example `quantised`] [folder], with the package `gguf`
installed. The example is built by `cargo build --release -p tenfold --example quantised`.
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

KINDS = ["Q4_0", "Q8_0", "Q4_K", "Q6_K", "IQ4_XS", "IQ2_XS"]


def write(path, tensors):
    writer = GGUFWriter(path, "llama")
    writer.add_array("tokenizer.ggml.tokens", [f"token {number}" for number in range(1000)])
    for name, array, kind in tensors:
        writer.add_tensor(name, array, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def worked_out(path):
    start = time.perf_counter()
    for tensor in GGUFReader(path).tensors:
        dequantize(tensor.data, tensor.tensor_type)
    return time.perf_counter() - start


def ours(example, path):
    ran = subprocess.run([example, path, "1"], check=True, capture_output=True, text=True)
    return float(ran.stdout.split()[0])


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
        theirs, own = worked_out(path), statistics.median(ours(example, path) for _ in range(3))
        print(f"| {name} | {theirs:.2f} s | {own:.3f} s | {2**25 / own / 1e6:.0f} M | {theirs / own:.0f} |", flush=True)
        os.remove(path)


def main():
    logging.disable(logging.WARNING)
    numpy.seterr(all="ignore")
    words = sys.argv[1:]
    example = words[0] if words else "target/release/examples/quantised"
    with tempfile.TemporaryDirectory(dir=words[1] if len(words) > 1 else None) as folder:
        values(example, folder)


if __name__ == "__main__":
    main()
