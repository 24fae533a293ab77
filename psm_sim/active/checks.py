"""Instances and labels that learners accept; anything else is an InputError of one sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.arrays import Floats
from psm_sim.errors import InputError

_LABEL = "expected -1 or +1"
_LARGEST = 1e150  # its square is still finite


def instance(x: ArrayLike, features: int, owner: str) -> tuple[Floats, float]:
    """Return one instance as float64 of shape (features,), and its squared norm.

    Parameters
    ----------
    x : array_like, shape (features,)
        The instance; finite numbers.
    features : int
        The number of features.
    owner : str
        Who asks, for the error.

    Raises
    ------
    InputError
        If the shape is another or a number is NaN or infinite.
    """
    found = _numbers(x, owner)
    if found.shape != (features,):
        raise InputError(f"{owner}: the instance has shape {found.shape}; expected ({features},).")
    with np.errstate(over="ignore", invalid="ignore"):
        square = float(found.dot(found))
    if not square < math.inf:  # one product sees NaN and infinity; which of them, and where, only then
        raise _not_finite(found, owner)
    return found, square


def table(X: ArrayLike, features: int, owner: str) -> Floats:
    """Return instances as a float64 array of shape (n, features), n >= 1, all finite.

    Parameters
    ----------
    X : array_like, shape (n, features)
        One instance per row.
    features : int
        The number of features.
    owner : str
        Who asks, for the error.
    """
    found = _numbers(X, owner)
    if found.ndim != 2 or found.shape[1] != features or not len(found):
        raise InputError(
            f"{owner}: the instances have shape {found.shape}; expected (n, {features}) with n of at least 1."
        )
    if not np.abs(found).max() < _LARGEST:  # NaN too
        raise _not_finite(found, owner)
    return found


def label(y: Any, owner: str) -> float:
    """Return a label as -1.0 or 1.0, or raise :class:`InputError`."""
    if isinstance(y, (bool, np.bool_)) or not isinstance(y, (int, float, np.number)) or y not in {-1, 1}:
        raise InputError(f"{owner}: the label is {y!r}; {_LABEL}.")
    return float(y)


def labels(y: ArrayLike, count: int, owner: str) -> Floats:
    """Return labels as a float64 array of shape (count,), each -1 or +1.

    Parameters
    ----------
    y : array_like, shape (count,)
        One label per instance.
    count : int
        The number of instances.
    owner : str
        Who asks, for the error.
    """
    found = np.asarray(y)
    if found.shape != (count,):
        raise InputError(
            f"{owner}: the labels have shape {found.shape}; expected ({count},), one per instance."
        )
    usable = np.isin(found, (-1, 1)) if found.dtype.kind in "iuf" else np.zeros(count, bool)
    if not usable.all():
        row = int(np.argmin(usable))
        raise InputError(f"{owner}: the label of row {row} is {found[row]!r}; {_LABEL}.")
    return found.astype(np.float64)


def _numbers(values: ArrayLike, owner: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{owner}: the instances are no numbers; expected an array of numbers.") from None


def _not_finite(found: Floats, owner: str) -> InputError:
    bad = np.argwhere(~np.isfinite(found))
    if not len(bad):
        largest = np.abs(found).max()
        return InputError(f"{owner}: a number is too large, {largest:g}; expected below {_LARGEST:g}.")

    place = tuple(bad[0])
    where = f"row {place[0]}, feature {place[1]}" if found.ndim == 2 else f"feature {place[0]}"
    return InputError(f"{owner}: {where} is {found[place]}; expected finite numbers.")
