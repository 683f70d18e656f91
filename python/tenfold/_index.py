"""NumPy indices as boxes of a file."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any

import numpy as np
import numpy.typing as npt

Box = tuple[int, int, int]
"""Positions along a dimension: the first, their number, and their distance."""

Reader = Callable[[list[Box]], npt.NDArray[Any]]


def _split(index: Any, ndim: int) -> tuple[Any, ...]:
    """The index as one item per dimension, with `None` where an axis is added."""
    items = index if isinstance(index, tuple) else (index,)
    items = tuple(np.asarray(item) if isinstance(item, list) else item for item in items)
    used = 0
    for item in items:
        if isinstance(item, np.ndarray) and item.dtype == bool:
            used += item.ndim
        elif item is not None and not isinstance(item, EllipsisType):
            used += 1
    if used > ndim:
        raise IndexError(f"too many indices: the tensor has {ndim} dimensions, {used} were indexed")
    ellipses = sum(isinstance(item, EllipsisType) for item in items)
    if ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    rest = (slice(None),) * (ndim - used)
    if not ellipses:
        return items + rest
    place = next(at for at, item in enumerate(items) if isinstance(item, EllipsisType))
    return items[:place] + rest + items[place + 1 :]


def _one(item: Any, axis: int, size: int) -> int:
    try:
        place = operator.index(item)
    except TypeError:
        kinds = "integers, slices (`:`), ellipsis (`...`), None and one integer or boolean array"
        raise IndexError(f"only {kinds} are valid indices") from None
    if not -size <= place < size:
        raise IndexError(f"index {place} is out of bounds for axis {axis} with size {size}")
    return place % size


def _runs(places: npt.NDArray[np.int64]) -> list[Box]:
    """Boxes that together cover these positions, which are ascending and distinct."""
    boxes: list[Box] = []
    start = 0
    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    for end in [*breaks.tolist(), len(places)]:
        if end > start:
            boxes.append((int(places[start]), end - start, 1))
        start = end
    return boxes


def _gather(
    read: Reader, boxes: list[Box], axis: int, places: npt.NDArray[np.int64]
) -> npt.NDArray[Any]:
    """Reads positions along one axis, each once, however often it occurs."""
    wanted, inverse = np.unique(places, return_inverse=True)
    parts = [read([*boxes[:axis], run, *boxes[axis + 1 :]]) for run in _runs(wanted)]
    if not parts:
        return read([*boxes[:axis], (0, 0, 1), *boxes[axis + 1 :]])
    block = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=axis)
    if len(wanted) == len(inverse) and np.array_equal(inverse, np.arange(len(inverse))):
        return block
    return np.take(block, inverse, axis=axis)


def take(read: Reader, shape: Sequence[int], index: Any) -> Any:
    """`array[index]` for an array that `read` reads boxes of."""
    items = _split(index, len(shape))
    boxes: list[Box] = []
    # Operations on the box after reading: one item per dimension, and the added axes.
    after: list[Any] = []
    arrays: list[tuple[int, npt.NDArray[Any]]] = []
    axis = 0
    for item in items:
        if item is None:
            after.append(None)
            continue
        if isinstance(item, np.ndarray) and (item.ndim > 0 or item.dtype == bool):
            arrays.append((axis, item))
            spans = item.ndim if item.dtype == bool else 1
            for size in shape[axis : axis + spans]:
                boxes.append((0, size, 1))
                after.append(slice(None))
                axis += 1
            continue
        if isinstance(item, (bool, np.bool_)):
            raise IndexError("a lone boolean is no index here")
        size = shape[axis]
        if isinstance(item, slice):
            start, stop, step = item.indices(size)
            count = len(range(start, stop, step))
            boxes.append((start, count, step) if count else (0, 0, 1))
            after.append(slice(None))
        else:
            boxes.append((_one(item, axis, size), 1, 1))
            after.append(0)
        axis += 1
    if not arrays:
        return read(boxes)[tuple(after)]
    if len(arrays) > 1:
        raise IndexError("only one array of integers or booleans is a valid index")
    return _with_array(read, shape, boxes, after, arrays[0])


def _with_array(
    read: Reader,
    shape: Sequence[int],
    boxes: list[Box],
    after: list[Any],
    array: tuple[int, npt.NDArray[Any]],
) -> Any:
    axis, given = array
    if given.dtype == bool:
        sizes = tuple(shape[axis : axis + given.ndim])
        if given.shape != sizes:
            raise IndexError(f"the boolean index has shape {given.shape}, its dimensions {sizes}")
        if given.ndim != 1:
            # The mask selects from a box that is read in full.
            marks = list(after)
            place = _item_of(marks, axis)
            marks[place : place + given.ndim] = [given]
            return read(boxes)[tuple(marks)]
        places = np.flatnonzero(given)
    elif given.dtype.kind in "iu":
        places = given.astype(np.int64)
        size = shape[axis]
        wrong = places[(places < -size) | (places >= size)]
        if wrong.size:
            raise IndexError(f"index {wrong[0]} is out of bounds for axis {axis} with size {size}")
        places = np.where(places < 0, places + size, places)
    elif given.size == 0:
        places = given.astype(np.int64)
    else:
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    block = _gather(read, boxes, axis, places.ravel())
    # NumPy itself decides on the positions of the array's axes.
    marks = list(after)
    marks[_item_of(marks, axis)] = np.arange(places.size).reshape(places.shape)
    return block[tuple(marks)]


def _item_of(marks: list[Any], axis: int) -> int:
    """Whether an item consumes a dimension."""
    dims = [place for place, mark in enumerate(marks) if mark is not None]
    return dims[axis]
