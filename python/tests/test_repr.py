"""What an interpreter shows of large objects."""

from __future__ import annotations

import numpy as np
import tenfold


def test_what_is_large_is_shown_in_a_line_or_two(tmp_path):
    labels = [(f"label-{number}",) for number in range(100_000)]
    labelled = tenfold.Labelled(("cat",), labels, np.zeros((100_000, 4), "f4"))
    assert repr(labelled) == "<Labelled ('cat',) 100000 blocks of float32 (4,)>"
    symmetric = tenfold.Symmetric(np.zeros((300, 300)), [(1, 0)])
    assert repr(symmetric) == "<Symmetric float64 (300, 300) 1 symmetry, packed>"
    train = tenfold.TensorTrain.from_cores([np.ones((1, 2, 1))] * 500)
    data = {f"layer-{number}.{'weight' * 50}": np.zeros(1) for number in range(2000)}
    report = tenfold.save(tmp_path / "a.npz", data, metadata={"by": "me"})
    file = tenfold.open(tmp_path / "a.npz")
    difference = tenfold.diff(data, {})
    stats = tenfold.stats(np.arange(9.0), bins=5000)
    loss = tenfold.Loss("a", "labels", "all of them", "refused")
    refused = tenfold.LossRefused("npy", [loss] * 5000)
    for value in [
        labelled, symmetric, train, report, file, next(iter(file.values())), difference, stats, refused,
    ]:  # fmt: skip
        assert len(repr(value)) < 3000 and repr(value).count("\n") < 2, type(value)
    assert repr(difference) == "<FileDifference 0 same, 0 changed, 2000 only in a, 0 only in b>"
    assert "4980 more" in str(refused) and len(refused.losses) == 5000
    assert len(tenfold.Tensor(train._tenfold_core()).shape) == 500


def test_what_is_small_is_shown_whole():
    train = tenfold.TensorTrain.from_cores([np.ones((1, 2, 1))] * 3)
    assert repr(train) == "<TensorTrain (2, 2, 2) ranks (1, 1, 1, 1)>"
    assert repr(tenfold.Tensor(train._tenfold_core())) == "<Tensor f64 (2, 2, 2) train>"
    found = repr(tenfold.stats(np.array([1.0, 3.0])))
    assert found.startswith("Stats(cells=2, ") and "mean=2.0" in found
