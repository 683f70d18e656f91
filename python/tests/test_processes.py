"""Processes that are forked after work was done on several threads, and what NumPy has no arrays for."""

from __future__ import annotations

import multiprocessing

import numpy as np
import pytest
import tenfold

FIELD = np.fromfunction(lambda x, y, z: np.sin(x + 2 * y - z), (20, 18, 16))


def work(queue):
    train = tenfold.compress(FIELD, eps=1e-8)
    queue.put((train.ranks, float(np.abs((train + train).full() - 2 * FIELD).max())))


def grandchild(queue):
    process = multiprocessing.get_context("fork").Process(target=work, args=(queue,))
    process.start()
    process.join()
    work(queue)


@pytest.mark.parametrize("target", [work, grandchild])
def test_a_forked_process_has_threads_of_its_own(target):
    ranks = tenfold.compress(FIELD, eps=1e-8).ranks
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=target, args=(queue,))
    process.start()
    for _ in range(1 if target is work else 2):
        found, error = queue.get(timeout=60)
        assert found == ranks and error < 1e-6
    process.join(timeout=60)
    assert process.exitcode == 0


def test_more_dimensions_than_numpy_has_are_refused_by_name(tmp_path):
    (tmp_path / "deep.raw").write_bytes(np.arange(4.0).tobytes())
    shape = "x".join(["1"] * 69 + ["4"])
    options = {"dtype": "f64", "shape": shape}
    tensor = tenfold.open(tmp_path / "deep.raw", format="raw", options=options).only
    assert tensor.ndim == 70
    for take in [tensor.numpy, tensor.sparse, lambda: np.asarray(tensor), lambda: tensor[0]]:
        with pytest.raises(tenfold.InvalidRequest, match="70 dimensions, and arrays of NumPy have at most 64"):
            take()
    assert tenfold.stats(tensor).cells == 4
