"""Compares tenfold with transformers: models of PyTorch that tenfold brought to safetensors are loaded.

Small models with random weights are made from configurations, so nothing is downloaded. Each is saved as a
checkpoint of PyTorch and converted, as one file and as a set; transformers has to load all of it with the same
bits. What transformers saves, tenfold reads. transformers refuses a file that does not say that it is for PyTorch,
so one without the word is tried too.
"""

import json
import os
import tempfile
from pathlib import Path

import numpy
import torch
import transformers

from shared import tenfold

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
torch.manual_seed(5)
torch.set_num_threads(1)

SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24, "vocab_size": 40}
CONFIGS = {
    "bert": (transformers.BertForMaskedLM, transformers.BertConfig(**SMALL)),
    "llama": (transformers.LlamaForCausalLM, transformers.LlamaConfig(**SMALL)),
    # Its first and its last layer share their weights.
    "gpt2": (transformers.GPT2LMHeadModel, transformers.GPT2Config(n_embd=16, n_layer=2, n_head=2, vocab_size=40)),
}


def bits(state):
    """The type, the shape and the bytes of every tensor."""
    return {
        name: (tensor.dtype, tuple(tensor.shape), tensor.contiguous().reshape(-1).view(torch.uint8).tolist())
        for name, tensor in state.items()
    }


def loaded(kind, folder, dtype):
    """What transformers loads from a folder, if it finds everything that the model has and nothing else."""
    model, found = kind.from_pretrained(folder, use_safetensors=True, torch_dtype=dtype, output_loading_info=True)
    assert not any(found.values()), found
    return bits(model.state_dict())


def check_checkpoint(folder, kind, model, dtype, legacy):
    """A checkpoint becomes a file, and a set of files, that transformers loads."""
    checkpoint = folder / "checkpoint.bin"
    torch.save(model.state_dict(), checkpoint, _use_new_zipfile_serialization=not legacy)
    wanted = bits(model.state_dict())
    for name, how in {"one": [], "set": ["--max-size", "6K"]}.items():
        into = folder / name
        into.mkdir()
        model.config.save_pretrained(into)
        tenfold("convert", "--no-sync", *how, str(checkpoint), str(into / "model.safetensors"))
        written = sorted(path.name for path in into.glob("*.safetensors"))
        assert (len(written) > 1) == bool(how), written
        assert loaded(kind, into, dtype) == wanted, (model.config.model_type, dtype, name, legacy)


def check_saved(folder, kind, model, dtype):
    """What transformers saves, tenfold rewrites byte for byte and reads as the checkpoint of the same weights."""
    model.save_pretrained(folder / "saved")
    saved, again = folder / "saved/model.safetensors", folder / "again.safetensors"
    tenfold("convert", "--no-sync", str(saved), str(again))
    assert again.read_bytes() == saved.read_bytes()
    state = torch.load(folder / "checkpoint.bin", weights_only=True)
    # One name for weights that are shared.
    names = {entry["name"] for entry in json.loads(tenfold("info", "--json", str(saved)))["tensors"]}
    torch.save({name: state[name] for name in names}, folder / "kept.bin")
    tenfold("diff", str(saved), str(folder / "kept.bin"))
    model.save_pretrained(folder / "parts", max_shard_size="8KB")
    assert (folder / "parts/model.safetensors.index.json").is_file()
    tenfold("diff", str(folder / "parts"), str(folder / "kept.bin"))


def check_word(folder, kind, model):
    """Without its word for PyTorch a file is refused, so the loads above do depend on it; the option adds it."""
    into = folder / "word"
    into.mkdir()
    model.config.save_pretrained(into)
    middle, file = folder / "middle.npz", into / "model.safetensors"
    arrays = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    numpy.savez(middle, **arrays)
    tenfold("convert", "--no-sync", str(middle), str(file))
    try:
        kind.from_pretrained(into, use_safetensors=True)
    except (AttributeError, OSError):
        # It looks for the word before it looks whether there are any.
        pass
    else:
        raise AssertionError("transformers loads a file without the word: this check has no teeth")
    tenfold("convert", "--no-sync", "--force", "--opt", "format=pt", str(middle), str(file))
    assert loaded(kind, into, torch.float32) == bits(model.state_dict())


def main():
    made = 0
    for kind, config in CONFIGS.values():
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            model = kind(config).to(dtype).eval()
            for legacy in (False, True):
                with tempfile.TemporaryDirectory() as name:
                    check_checkpoint(Path(name), kind, model, dtype, legacy)
                    if not legacy:
                        check_saved(Path(name), kind, model, dtype)
                    made += 2
        with tempfile.TemporaryDirectory() as name:
            check_word(Path(name), kind, kind(config).eval())
    print(f"transformers {transformers.__version__}: {made} models agree")


if __name__ == "__main__":
    main()
