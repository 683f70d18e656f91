"""One Python package listing the tensors of a file, again and again as `listing.py` tells it.

Usage: listing_peer.py safetensors|ztensor-0.1|ztensor-2 FILE
"""

import sys
import time


def safetensors(path):
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        for name in file.keys():
            part = file.get_slice(name)
            yield name, part.get_shape(), part.get_dtype()


def ztensor_0_1(path):
    import ztensor

    with ztensor.Reader(path) as reader:
        for tensor in reader.list_tensors():
            yield tensor.name, tensor.shape, tensor.dtype_str


def ztensor_2(path):
    import ztensor

    with ztensor.open(path) as source:
        for name, tensor in source.items():
            yield name, tensor.shape, tensor.logical or tensor.dtype


def main():
    form, path = sys.argv[1:]
    tensors = {"safetensors": safetensors, "ztensor-0.1": ztensor_0_1, "ztensor-2": ztensor_2}[form]
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        count = letters = dims = sizes = width = 0
        for name, shape, dtype in tensors(path):
            count += 1
            letters += len(name)
            dims += len(shape)
            sizes += sum(shape)
            width += {"BF16": 2, "bfloat16": 2, "bf16": 2}[dtype]
        took = (time.perf_counter() - start) * 1e3
        print(took, count, letters, dims, sizes, width, flush=True)


if __name__ == "__main__":
    main()
