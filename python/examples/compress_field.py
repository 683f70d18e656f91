"""Compresses a field to a tensor train, looks at the error, and draws both.

Usage: pip install . matplotlib
       python python/examples/compress_field.py [field.png]
"""

import sys

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import tenfold


def field(size: int) -> np.ndarray:
    """Two drops that ripple a box of water."""
    x, y, z = np.meshgrid(*[np.linspace(-1, 1, size)] * 3, indexing="ij")
    first = np.sqrt((x - 0.4) ** 2 + y**2 + z**2 + 0.01)
    second = np.sqrt((x + 0.5) ** 2 + (y - 0.3) ** 2 + z**2 + 0.01)
    return np.cos(9 * first) / first + 0.5 * np.cos(14 * second) / second


def main(path: str) -> None:
    values = field(96)
    errors, sizes = [], []
    tolerances = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
    for eps in tolerances:
        train = tenfold.compress(values, eps=eps)
        apart = np.linalg.norm(train.full() - values) / np.linalg.norm(values)
        assert apart <= train.error <= eps
        errors.append(apart)
        sizes.append(values.nbytes / train.nbytes)
        print(f"eps {eps:.0e}: ranks {train.ranks}, error {apart:.1e}, {sizes[-1]:.1f} times smaller")

    train = tenfold.compress(values, eps=1e-2)
    middle = values.shape[2] // 2
    figure, (whole, near, curve) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    whole.imshow(values[:, :, middle])
    whole.set_title("the field, cut in the middle")
    # Only this cut of the train is worked out.
    near.imshow(train[:, :, middle])
    near.set_title(f"its train, {values.nbytes / train.nbytes:.0f} times smaller")
    curve.loglog(sizes, errors, "o-")
    curve.set(xlabel="times smaller", ylabel="relative error", title="what an error costs")
    figure.savefig(path, dpi=120)
    print(f"drawn to {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "field.png")
