"""All that `tenfold stats` says of 1 GiB of gaussian numbers in a file that is in memory already.

The limit reads the file on two threads, once. The peers make every call that it takes for the same figures: least,
largest, mean, standard deviation, norm, the counts of NaN, of both infinities, of zeros and of negative numbers, and seven
exact quantiles. PyTorch has no quantiles of so many numbers but by sorting them; NumPy has no bfloat16 of its own, so that
there its calls work on singles. The rows *without quantiles* put our time for everything beside theirs for the rest:
tenfold has no figures without quantiles.
"""

import json
import struct

from harness import Row, Target

COUNT = {"f32": 1 << 28, "bf16": 1 << 29}
PERCENTS = [1, 5, 25, 50, 75, 95, 99]


def make(path, dtype):
    """A safetensors file; bfloat16 is the upper half of singles."""
    import numpy

    random = numpy.random.default_rng(0)
    count = COUNT[dtype]
    size = count * {"f32": 4, "bf16": 2}[dtype]
    head = json.dumps({"values": {"dtype": dtype.upper(), "shape": [count], "data_offsets": [0, size]}}).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(head)) + head)
        for _ in range(count >> 24):
            values = random.standard_normal(1 << 24, numpy.float32)
            out.write(values.tobytes() if dtype == "f32" else values.view(numpy.uint16)[1::2].tobytes())


def numpy_peer(path, dtype):
    import numpy
    from peer import timed
    from safetensors.torch import load_file

    values = load_file(path)["values"].float().numpy()

    def rest():
        counts = [numpy.isnan(values), numpy.isposinf(values), numpy.isneginf(values), values == 0, values < 0]
        counts = [int(numpy.count_nonzero(those)) for those in counts]
        return values.min(), values.max(), values.mean(dtype="f8"), values.std(), numpy.linalg.norm(values), counts

    def answer(what):
        seconds, (least, largest, *_) = timed(rest)
        if what == "all":
            extra, quantiles = timed(lambda: numpy.quantile(values, [percent / 100 for percent in PERCENTS]))
            return seconds + extra, float(least), float(largest), float(quantiles[3])
        return seconds, float(least), float(largest)

    return answer


def torch_peer(path, dtype):
    import os

    import torch
    from peer import timed
    from safetensors.torch import load_file

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    values = load_file(path)["values"]

    def rest():
        counts = [torch.isnan(values), torch.isposinf(values), torch.isneginf(values), values == 0, values < 0]
        counts = [int(torch.count_nonzero(those)) for those in counts]
        return *torch.aminmax(values), *torch.std_mean(values), torch.linalg.vector_norm(values), counts

    def answer(what):
        seconds, (least, largest, *_) = timed(rest)
        if what == "all":
            return seconds + timed(lambda: torch.sort(values))[0], float(least), float(largest)
        return seconds, float(least), float(largest)

    return answer


PEERS = {"numpy": numpy_peer, "torch": torch_peer}


def rows(bench):
    found = []
    for dtype in COUNT:
        path = bench.path(f"{dtype}.safetensors")
        make(path, dtype)
        rust = bench.native("stats", path)
        # NumPy would need twice the memory for bfloat16, and more time than anybody has.
        names = list(PEERS) if dtype == "f32" else ["torch"]
        peers = {name: bench.peer("stats", name, path, dtype) for name in names}
        ends = rust.ask("tenfold")[1:3]
        for worker in peers.values():
            assert [float(end) for end in worker.ask("rest")[1:3]] == [float(end) for end in ends]
        programs = {"tenfold": lambda: rust.seconds("tenfold"), "read": lambda: rust.seconds("read")}
        programs |= {f"{name} rest": lambda worker=worker: worker.seconds("rest") for name, worker in peers.items()}
        times = bench.in_turns(programs)
        ours, limit = times["tenfold"], times["read"]
        rest = {name: times[f"{name} rest"] for name in peers}
        every = {name: worker.seconds("all") for name, worker in peers.items()}
        for worker in (rust, *peers.values()):
            worker.end()
        found.append(Row("stats", f"{dtype}, everything", ours, limit, every, Target(peer=0.25)))
        found.append(Row("stats", f"{dtype}, beside peers without quantiles", ours, limit, rest, Target(peer=0.25), reason=REASON))
    return found


REASON = (
    "our time has the exact quantiles in it, which the peers leave out here: the digits of the sorting keys are counted "
    "one by one in two passes, which no vector instruction does"
)
