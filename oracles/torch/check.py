"""Compares tenfold with PyTorch: what `torch.save` writes, tenfold reads with the same bits.

Every case is written in both layouts. tenfold brings it to safetensors, and the bytes of each tensor
are compared with those that PyTorch has of it; sparse tensors are compared as `show` lists their cells,
complex ones by an npz, since safetensors has no word for all of them.
"""

import argparse
import collections
import json
import os
import pickle
import struct
import subprocess
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy
import torch

from shared import tenfold

warnings.filterwarnings("ignore")
torch.manual_seed(5)

DTYPES = [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
    torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.bool, torch.complex64, torch.complex128,
    torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
]


def noise(dtype, shape):
    """A tensor of any bits: NaNs with payloads, subnormals, negative zeros."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape).to(dtype)
    width = torch.empty(0, dtype=dtype).element_size()
    count = width * int(numpy.prod(shape))
    return torch.randint(0, 256, (count,), dtype=torch.uint8).view(dtype).reshape(shape)


def raw(tensor):
    """The bytes of all values, row-major and little-endian."""
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def cases():
    """Each a name, an object, and the tensors in it by path."""
    for dtype in DTYPES:
        name = str(dtype).removeprefix("torch.")
        tensors = {f"{place}": noise(dtype, shape) for place, shape in enumerate([(6,), (2, 3), (0, 3), (), (2, 1, 3)])}
        yield name, tensors, {(key,): tensor for key, tensor in tensors.items()}
    base = noise(torch.float32, (4, 6, 5))
    views = {
        "t": base[0].t(), "permuted": base.permute(2, 0, 1), "rows": base[1:3], "step": base[:, ::2, 1:4],
        "expanded": base[:1, :1].expand(3, 7, 5), "diagonal": base[0].diagonal(), "unfold": base[0, 0].unfold(0, 3, 1),
        "column": base[..., 2], "all": base, "scalar": base[1, 2, 3], "select": base.transpose(0, 2)[1:4, 3],
    }
    for name, view in views.items():
        yield f"view_{name}", {"w": view}, {("w",): view}
    yield "views_of_one", views, {(name,): view for name, view in views.items()}
    pair = noise(torch.complex64, (3, 4))
    yield "conj", [pair.conj(), pair.conj().t(), pair], {("0",): pair.conj(), ("1",): pair.conj().t(), ("2",): pair}
    yield "neg", [pair.conj().imag], {("0",): pair.conj().imag}
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2))
    state = model.state_dict()
    yield "state_dict", state, {(name,): tensor for name, tensor in state.items()}
    named = [*model.named_parameters(), *model.named_buffers()]
    yield "module", model, {tuple(name.split(".")): tensor for name, tensor in named}
    yield "parameters", list(model.parameters()), {(str(n),): each for n, each in enumerate(model.parameters())}
    for make in (torch.optim.Adam, torch.optim.SGD, torch.optim.RMSprop, torch.optim.Adagrad):
        optimizer = make(model.parameters(), lr=0.1)
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        saved = {"model": state, "optimizer": optimizer.state_dict(), "epoch": 3, "args": argparse.Namespace(lr=0.1)}
        yield f"with_{make.__name__}", saved, {path: tensor for path, tensor in found(saved)}
    tied = torch.nn.Embedding(5, 4)
    yield "tied", {"a": tied.weight, "b": tied.weight}, {("a",): tied.weight, ("b",): tied.weight}
    yield "lone", base, {(): base}
    yield "tuple", (base, [base[0]]), {("0",): base, ("1", "0"): base[0]}
    array = numpy.arange(6, dtype=">i4").reshape(2, 3)
    yield "numpy", {"w": array, "x": base}, {("w",): torch.from_numpy(array.astype("i4")), ("x",): base}
    many = collections.OrderedDict((f"layer.{n}.weight", noise(torch.float32, (2, 3))) for n in range(500))
    yield "many", many, {(name,): tensor for name, tensor in many.items()}


def found(value, path=()):
    """All tensors in dicts and lists, by path."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, dict):
        for key, inside in value.items():
            yield from found(inside, (*path, str(key)))
    elif isinstance(value, (list, tuple)):
        for key, inside in enumerate(value):
            yield from found(inside, (*path, str(key)))


def contents(path):
    """The names and bytes of the tensors of a safetensors file."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    values = data[8 + length :]
    return {name: (entry["shape"], values[slice(*entry["data_offsets"])]) for name, entry in header.items()}


def arrays(path):
    """The names and bytes of the arrays of an npz file."""
    with numpy.load(path) as file:
        return {name: (list(file[name].shape), numpy.ascontiguousarray(file[name]).tobytes()) for name in file.files}


def name_of(path, stem):
    """What tenfold calls a tensor in a flat file."""
    return "/".join(path) if path else stem


def check_callables(file):
    """`verify` exits with 1 for the pickles that PyTorch refuses to load as weights alone, and for no others."""
    try:
        torch.load(file, weights_only=True)
        is_allowed = True
    except pickle.UnpicklingError:
        is_allowed = False
    except AttributeError:
        # PyTorch does not read all that it writes in the older layout.
        return
    ran = subprocess.run([os.environ["TENFOLD"], "verify", file], capture_output=True, text=True)
    assert ran.returncode == (0 if is_allowed else 1), (is_allowed, ran)


def check(folder, name, value, tensors, legacy):
    file = os.path.join(folder, f"{name}.pt")
    torch.save(value, file, _use_new_zipfile_serialization=not legacy)
    is_wide = any(tensor.dtype == torch.complex128 for tensor in tensors.values())
    out = os.path.join(folder, "out.npz" if is_wide else "out.safetensors")
    tenfold("convert", "--force", "--no-sync", file, out)
    check_callables(file)
    written = arrays(out) if is_wide else contents(out)
    wanted = {name_of(path, name): (list(tensor.shape), raw(tensor)) for path, tensor in tensors.items()}
    assert written.keys() == wanted.keys(), (name, sorted(written.keys() ^ wanted.keys())[:5])
    for key in wanted:
        assert written[key] == wanted[key], (name, legacy, key)


def check_sparse(folder):
    dense = torch.zeros(4, 5).index_put((torch.tensor([0, 1, 3]), torch.tensor([4, 0, 2])), torch.tensor([1.5, -2.0, 3.0]))
    made = 0
    for dtype in (torch.float32, torch.float64, torch.int64):
        exact = dense.to(dtype)
        for sparse in (exact.to_sparse(), exact.to_sparse_csr()):
            for legacy in (False, True):
                file = os.path.join(folder, "sparse.pt")
                torch.save({"w": sparse}, file, _use_new_zipfile_serialization=not legacy)
                (tensor,) = json.loads(tenfold("show", "--json", file))["tensors"]
                cells = {tuple(cell["at"]): cell["data"][0] for cell in tensor["cells"]}
                wanted = {tuple(at): exact[tuple(at)].item() for at in exact.nonzero().tolist()}
                assert cells == wanted and tensor["shape"] == [4, 5], (dtype, cells)
                made += 1
    return made


def check_options(folder):
    """Archives without checksums, of TorchScript, and zipped again."""
    weights = {"w": noise(torch.float32, (3, 4))}
    torch.serialization.set_crc32_options(False)
    check(folder, "no_checksums", weights, {("w",): weights["w"]}, False)
    torch.serialization.set_crc32_options(True)
    script = torch.jit.script(torch.nn.Linear(3, 2))
    file = os.path.join(folder, "script.pt")
    script.save(file)
    out = os.path.join(folder, "out.safetensors")
    tenfold("convert", "--force", "--no-sync", file, out)
    wanted = {name: (list(tensor.shape), raw(tensor)) for name, tensor in script.named_parameters()}
    assert contents(out) == wanted
    # A file that somebody zipped again, deflated.
    again = os.path.join(folder, "again.pt")
    torch.save(weights, file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, old.read(member))
    tenfold("convert", "--force", "--no-sync", again, out)
    assert contents(out) == {"w": ([3, 4], raw(weights["w"]))}
    return 3


def check_left_out(folder):
    """Quantised tensors are left out, and conversion says so."""
    file, out = os.path.join(folder, "q.pt"), os.path.join(folder, "q.safetensors")
    torch.save({"q": torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8), "w": torch.ones(2)}, file)
    ran = subprocess.run([os.environ["TENFOLD"], "convert", file, out], capture_output=True, text=True)
    assert ran.returncode == 3 and "--allow skipped" in ran.stderr, ran
    return 1


def main():
    made = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, value, tensors in cases():
            for legacy in (False, True):
                check(folder, name, value, tensors, legacy)
                made += 1
        made += check_sparse(folder) + check_options(folder) + check_left_out(folder)
    print(f"torch {torch.__version__}: {made} files agree")


if __name__ == "__main__":
    main()
