"""The functions of safetensors that work with addresses and bytes."""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _tenfold
from ._drop_in import named, open_bytes, texts, write
from ._dtypes import SMALL
from ._errors import InvalidRequest
from ._save import dumps
from ._tensor import Tensor

_WORDS = {
    "bool": "BOOL",
    "int8": "I8",
    "uint8": "U8",
    "int16": "I16",
    "uint16": "U16",
    "int32": "I32",
    "uint32": "U32",
    "int64": "I64",
    "uint64": "U64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
    "bfloat16": "BF16",
    "complex64": "C64",
    "float4_e2m1fn_x2": "F4",
    **{name: element for element, name in SMALL.items()},
}
"""The names of the types in NumPy and PyTorch, and in safetensors."""


def _n_bits(word: str) -> int:
    """The number of bits of an element."""
    if word in SMALL or word == "BOOL":
        return 8
    return int("".join(filter(str.isdigit, word)))


def _address(value: Any, argument: str) -> int:
    """An integer in the range of addresses and sizes."""
    number = operator.index(value)
    if not 0 <= number < 1 << 64:
        raise OverflowError(f"{argument} has {number}, which is {'negative' if number < 0 else 'too large'}")
    return number


@dataclass(frozen=True, kw_only=True, eq=False)
class TensorSpec:
    """The type and the shape of a tensor whose values lie at an address.

    The memory has to stay as it is until a function that was given this returns.
    """

    dtype: str
    """The type in safetensors' notation, `F32`; the argument uses that of NumPy and PyTorch."""
    shape: Sequence[int]
    """The shape. Two floats of `float4_e2m1fn_x2` share a byte: the argument counts the pairs."""
    data_ptr: int
    data_len: int

    def __post_init__(self) -> None:
        if not isinstance(self.dtype, str):
            raise TypeError(f"dtype is a text, not {type(self.dtype).__name__}")
        word = _WORDS.get(self.dtype)
        if word is None:
            raise InvalidRequest(f"the type {self.dtype!r} is not one of {', '.join(_WORDS)}")
        if isinstance(self.shape, str):
            raise TypeError("shape is a list of sizes, not a text")
        sizes = [_address(size, "shape") for size in self.shape]
        address, length = _address(self.data_ptr, "data_ptr"), _address(self.data_len, "data_len")
        if word == "F4" and sizes:
            sizes[-1] *= 2
        if address == 0 and length > 0:
            raise InvalidRequest(f"no memory: {length} bytes at 0, shape {sizes}")
        for name, value in {"dtype": word, "shape": sizes, "data_ptr": address, "data_len": length}.items():
            object.__setattr__(self, name, value)

    def _tenfold_core(self) -> _tenfold.TensorCore:
        needed = math.prod(self.shape) * _n_bits(self.dtype)
        # Checked before any access to an address that the shape may not match.
        if needed != 8 * self.data_len:
            raise InvalidRequest(f"{self!r} is not as long as its shape needs")
        area: Any = (ctypes.c_ubyte * self.data_len).from_address(self.data_ptr or 1)
        memory = np.frombuffer(area, np.uint8)
        if self.dtype == "F4" or self.dtype in SMALL:
            return _tenfold.opaque(memory, self.dtype, self.shape)
        return _tenfold.dense(memory, self.dtype.lower(), self.shape)


def _specs(tensor_dict: Mapping[str, TensorSpec]) -> dict[str, TensorSpec]:
    if not isinstance(tensor_dict, Mapping):
        raise TypeError(f"specs by name are wanted, not {type(tensor_dict).__name__}")
    for name, spec in (found := named(tensor_dict)).items():
        if not isinstance(spec, TensorSpec):
            raise TypeError(f"{name!r} is a {type(spec).__name__}, not a TensorSpec")
    return found


def serialize(
    tensor_dict: Mapping[str, TensorSpec], metadata: Mapping[str, str] | None = None
) -> bytes:
    """The bytes of a safetensors file with tensors that lie at addresses.

    >>> import numpy as np, tenfold
    >>> array = np.arange(3.0)
    >>> address, length = array.ctypes.data, array.nbytes
    >>> spec = tenfold.TensorSpec(dtype="float64", shape=[3], data_ptr=address, data_len=length)
    >>> tenfold.load(tenfold.serialize({"a": spec}))
    {'a': array([0., 1., 2.])}
    """
    return dumps(_specs(tensor_dict), format="safetensors", metadata=texts(metadata))


def serialize_file(
    tensor_dict: Mapping[str, TensorSpec], filename: Any, metadata: Mapping[str, str] | None = None
) -> None:
    """Saves tensors given by address, as `tenfold.numpy.save_file` saves arrays."""
    write(_specs(tensor_dict), filename, metadata)


def deserialize(bytes: bytes) -> list[tuple[str, dict[str, Any]]]:
    """The names of the tensors in a safetensors file, each with its `dtype`, `shape` and `data`.

    >>> import numpy as np, tenfold
    >>> data = tenfold.dumps({"a": np.array([1, 2], "u1")}, format="safetensors")
    >>> tenfold.deserialize(data)
    [('a', {'shape': [2], 'dtype': 'U8', 'data': bytearray(b'\\x01\\x02')})]
    """
    with open_bytes(bytes) as file:
        return [(name, _described(tensor)) for name, tensor in file.items()]


def _described(tensor: Tensor) -> dict[str, Any]:
    is_plain = tensor.storage != "opaque" and tensor.element not in ("bool", "bf16")
    core = tensor._core if is_plain else tensor._core.bit_view()
    data = bytearray(core.numpy().reshape(-1).view(np.uint8))
    return {"shape": list(tensor.shape), "dtype": tensor.element.upper(), "data": data}
