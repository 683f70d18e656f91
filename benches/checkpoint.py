"""A 2 GiB sharded safetensors checkpoint to every other format of weights and back: memory, and the same bytes.

The checkpoint is made here, with the names and shapes of a language model and random bits. Each way is two runs of
`tenfold convert --memory 256MiB`: the set into one file of another format, and that file into safetensors. The
hashes of all tensors before and after must be the same, and no run may take more than 320 MiB and 1 KiB a tensor.

Usage: cargo build --release -p tenfold-cli
       python3 benches/checkpoint.py [path to tenfold] [folder]
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

MIB = 1 << 20
LAYERS, HIDDEN, INNER, WORDS = 19, 2048, 5632, 32000
SHARDS = 5
MEMORY = "256MiB"
MOST = 320 * MIB
WIDTHS = {"F16": 2, "F32": 4, "I64": 8}
WAYS = {
    "zTensor 0.1": ("through.zt", ["--to", "ztensor@0.1"]),
    "zTensor 2": ("through.zt", ["--to", "ztensor@2"]),
    "npz": ("through.npz", ["--to", "npz"]),
}


def tensors():
    """Names, types and shapes."""
    yield "model.embed_tokens.weight", "F16", [WORDS, HIDDEN]
    yield "model.position_ids", "I64", [1, 4096]
    for layer in range(LAYERS):
        start = f"model.layers.{layer}"
        for part in "qkvo":
            yield f"{start}.self_attn.{part}_proj.weight", "F16", [HIDDEN, HIDDEN]
        yield f"{start}.mlp.gate_proj.weight", "F16", [INNER, HIDDEN]
        yield f"{start}.mlp.up_proj.weight", "F16", [INNER, HIDDEN]
        yield f"{start}.mlp.down_proj.weight", "F16", [HIDDEN, INNER]
        yield f"{start}.input_layernorm.weight", "F32", [HIDDEN]
        yield f"{start}.post_attention_layernorm.weight", "F32", [HIDDEN]
    yield "model.norm.weight", "F32", [HIDDEN]
    yield "lm_head.weight", "F16", [WORDS, HIDDEN]


def length(dtype, shape):
    size = WIDTHS[dtype]
    for places in shape:
        size *= places
    return size


def make(folder):
    """Writes the shards and their index, from the page of the format; gives the hash of every tensor."""
    listed = list(tensors())
    total = sum(length(dtype, shape) for _, dtype, shape in listed)
    shards, held = [[]], 0
    for name, dtype, shape in listed:
        if held > total / SHARDS:
            shards.append([])
            held = 0
        shards[-1].append((name, dtype, shape))
        held += length(dtype, shape)
    hashes, owners = {}, {}
    for number, shard in enumerate(shards, 1):
        file = f"model-{number:05}-of-{len(shards):05}.safetensors"
        header, at = {"__metadata__": {"format": "pt"}}, 0
        for name, dtype, shape in shard:
            end = at + length(dtype, shape)
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, end]}
            owners[name], at = file, end
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(os.path.join(folder, file), "wb") as out:
            out.write(len(text).to_bytes(8, "little") + text)
            for name, dtype, shape in shard:
                left, hash = length(dtype, shape), hashlib.sha256()
                while left > 0:
                    block = os.urandom(min(left, 16 * MIB))
                    out.write(block)
                    hash.update(block)
                    left -= len(block)
                hashes[name] = hash.hexdigest()
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as out:
        json.dump({"metadata": {"total_size": total}, "weight_map": owners}, out)
    return total, hashes


def hashes_of(path):
    """The hash of every tensor of one safetensors file."""
    hashes = {}
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        header.pop("__metadata__", None)
        for name, about in header.items():
            at, end = about["data_offsets"]
            file.seek(8 + size + at)
            hash, left = hashlib.sha256(), end - at
            while left > 0:
                block = file.read(min(left, 16 * MIB))
                hash.update(block)
                left -= len(block)
            hashes[name] = hash.hexdigest()
    return hashes


def run(words):
    """Seconds and peak bytes of a program."""
    start = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, words
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def main():
    tenfold = sys.argv[1] if len(sys.argv) > 1 else "target/release/tenfold"
    folder = sys.argv[2] if len(sys.argv) > 2 else "target"
    model = os.path.join(folder, "checkpoint")
    os.makedirs(model, exist_ok=True)
    total, wanted = make(model)
    most = MOST + 1024 * len(wanted)
    print(f"{len(wanted)} tensors, {total / MIB:.0f} MiB; at most {most / MIB:.1f} MiB may be taken.\n")
    print("| way | seconds there | peak | seconds back | peak | tensors |")
    print("|---|---:|---:|---:|---:|---|")
    flags = ["--memory", MEMORY, "--no-sync", "--force", "--quiet"]
    back = os.path.join(folder, "checkpoint-back.safetensors")
    for way, (name, to) in WAYS.items():
        through = os.path.join(folder, f"checkpoint-{name}")
        there = run([tenfold, "convert", model, through, *to, *flags])
        again = run([tenfold, "convert", through, back, *flags])
        same = "the same" if hashes_of(back) == wanted else "DIFFERENT"
        peaks = [f"{peak / MIB:.0f} MiB" for _, peak in (there, again)]
        print(f"| {way} | {there[0]:.1f} | {peaks[0]} | {again[0]:.1f} | {peaks[1]} | {same} |", flush=True)
        assert same == "the same" and max(there[1], again[1]) <= most, way
        os.remove(through)
        os.remove(back)
    shutil.rmtree(model)


if __name__ == "__main__":
    main()
