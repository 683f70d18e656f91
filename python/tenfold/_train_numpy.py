"""NumPy's functions and operators on trains: mapped to methods, otherwise refused."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    from ._train import TensorTrain


def refuse(what: str, method: str) -> NoReturn:
    """Names the method to call in place of an operation that would expand a train."""
    raise TypeError(f"{what} would expand the train: {method}, or full() for all cells")


def is_number(value: object) -> bool:
    """Whether a value is one number."""
    return isinstance(value, (int, float, complex, np.number)) and not isinstance(value, bool)


def is_train(value: object) -> bool:
    """Whether a value is a train."""
    return hasattr(value, "_tenfold_core") and hasattr(value, "ranks") and hasattr(value, "full")


def _norm(x: TensorTrain, ord: str | None = None, axis: None = None, keepdims: bool = False) -> Any:
    if ord not in (None, "fro") or axis is not None:
        raise TypeError("the Frobenius norm of all cells is known")
    return x._kept_number(x.norm(), keepdims)


def _sum(a: TensorTrain, axis: Any = None, dtype: None = None, out: None = None, keepdims: bool = False) -> Any:
    return _plain(a, dtype, out).sum(axis, keepdims=keepdims)


def _mean(a: TensorTrain, axis: Any = None, dtype: None = None, out: None = None, keepdims: bool = False) -> Any:
    return _plain(a, dtype, out).mean(axis, keepdims=keepdims)


def _plain(train: TensorTrain, dtype: Any, out: Any) -> TensorTrain:
    if out is not None or (dtype is not None and np.dtype(dtype) != train.dtype):
        raise TypeError(f"dtype is {train.dtype}, and out cannot be given")
    return train


def _vdot(a: TensorTrain, b: TensorTrain) -> Any:
    if not is_train(a) or not is_train(b):
        raise TypeError("both have to be trains, which compress() makes")
    return a.dot(b)


def _reshape(a: TensorTrain, shape: Any, order: str = "C") -> Any:
    if order != "C":
        raise TypeError("cells are taken in row-major order")
    return a.reshape(shape)


_OPERATORS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.power: operator.pow,
    np.negative: operator.neg,
    np.positive: operator.pos,
}
_FUNCTIONS: dict[Callable[..., Any], tuple[Callable[..., Any], str]] = {
    np.linalg.norm: (_norm, "norm()"),
    np.vdot: (_vdot, "dot(other)"),
    np.sum: (_sum, "sum(axis, keepdims=…)"),
    np.mean: (_mean, "mean(axis, keepdims=…)"),
    np.transpose: (lambda a, axes=None: a.transpose(axes), "transpose(axes)"),
    np.reshape: (_reshape, "reshape(shape)"),
    np.shape: (lambda a: a.shape, "shape"),
    np.ndim: (lambda a: a.ndim, "ndim"),
    np.size: (lambda a: math.prod(a.shape), "shape"),
}
"""NumPy functions on trains, and the corresponding methods."""


def by_operator(ufunc: np.ufunc, method: str, inputs: Any, how: dict[str, Any]) -> Any:
    """An operator of trains and numbers."""
    known = _OPERATORS.get(ufunc)
    plain = [value.item() if isinstance(value, np.generic) else value for value in inputs]
    is_plain = all(is_train(value) or is_number(value) for value in plain)
    if known is None or method != "__call__" or how or not is_plain:
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        refuse(f"numpy.{name}", "+, -, *, /, **, dot(), sum() and mean() are there")
    return known(*plain)


def by_method(function: Callable[..., Any], args: Any, how: dict[str, Any]) -> Any:
    """A NumPy function as the corresponding method of trains."""
    name = f"{function.__module__}.{function.__name__}"
    if function not in _FUNCTIONS:
        methods = "norm(), dot(), sum(), mean(), append(), transpose() and reshape()"
        refuse(name, f"{methods} are there")
    known, method = _FUNCTIONS[function]
    try:
        bound = inspect.signature(known).bind(*args, **how)
        return known(*bound.args, **bound.kwargs)
    except TypeError as error:
        refuse(f"{name} with these arguments ({error})", f"{method} of the train is there")
