"""The names, shapes and types of 100 000 tensors, in process, from opening the file to letting go of it.

The limit reads every byte of the file once, from the page cache. Peers: the crates `safetensors` and `ztensor`, and the
Python packages of the formats.
"""

from harness import Row, Target

COUNT = 100_000


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


def gguf(path):
    from gguf import GGUFReader

    for tensor in GGUFReader(path).tensors:
        yield tensor.name, tensor.shape.tolist()[::-1], tensor.tensor_type.name


def lister(tensors):
    """A peer that goes over the tensors of a file and says what it saw."""

    def start(path):
        from peer import timed

        def look():
            count = letters = dims = sizes = width = 0
            for name, shape, dtype in tensors(path):
                count += 1
                letters += len(name)
                dims += len(shape)
                sizes += sum(shape)
                width += {"BF16": 2, "bfloat16": 2, "bf16": 2}[dtype]
            return count, letters, dims, sizes, width

        def answer(_):
            took, seen = timed(look)
            return took, *seen

        return answer

    return start


PEERS = {name: lister(tensors) for name, tensors in {"safetensors": safetensors, "ztensor-0.1": ztensor_0_1, "ztensor-2": ztensor_2, "gguf": gguf}.items()}

# Format: the file, the package's name, an older version of it, whether there is a crate.
FORMATS = {
    "safetensors": ("list.safetensors", "safetensors", None, True),
    "ztensor-0.1": ("list-0.1.zt", "ztensor", "ztensor-0.1.4", True),
    "ztensor-2": ("list-2.zt", "ztensor", None, True),
    "gguf": ("list.gguf", "gguf", None, False),
}


def rows(bench):
    bench.quietly(bench.binary, "listing", "make", bench.folder, COUNT)
    found = []
    for form, (file, package, older, has_crate) in FORMATS.items():
        path = bench.path(file)
        rust, python = bench.native("listing", form, path), bench.peer("listing", form, path, older=older)
        programs = {"tenfold": (rust, "tenfold"), f"{package} package": (python, "go")}
        if has_crate:
            programs[f"{package} crate"] = (rust, "crate")
        seen = {tuple(worker.ask(line)[1:]) for worker, line in programs.values()}
        assert len(seen) == 1 and str(COUNT) in next(iter(seen)), (form, seen)
        times = bench.in_turns({name: lambda ask=ask: ask[0].seconds(ask[1]) for name, ask in (programs | {"limit": (rust, "read")}).items()})
        ours, limit = times.pop("tenfold"), times.pop("limit")
        reason = REASONS.get(form, "")
        found.append(Row("listing", form, ours, limit, times, Target(peer=0.5), reason=reason))
    return found


BESIDE_CRATE = (
    "kept beside the package; beside the crate, which makes as many names and shapes and checks less, it is not: perf has a fifth in reading "
    "the maps, a sixth in moving what comes of them to its place, and the rest in a dozen checks and hashes of some per cent each"
)
REASONS = {"safetensors": BESIDE_CRATE, "ztensor-0.1": BESIDE_CRATE}
