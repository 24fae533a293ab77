"""Instances, labels and weights that learners accept; anything else is an InputError of one sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray, IntArray
from psm_sim.errors import InputError

_LABEL = "expected -1 or +1"
_MAX_VALUE = 1e150  # its square is still finite


def check_instance(x: ArrayLike, features: int, owner: str) -> tuple[FloatArray, float]:
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
    found = check_numbers(x, owner)
    if found.shape != (features,):
        raise InputError(f"{owner}: the instance has shape {found.shape}; expected ({features},).")
    with np.errstate(over="ignore", invalid="ignore"):
        square = float(found.dot(found))
    if not square < math.inf:  # one product sees NaN and infinity; which of them, and where, only then
        raise _not_finite(found, owner, ("feature",))
    return found, square


def check_instances(X: ArrayLike, features: int | None, owner: str) -> FloatArray:
    """Return instances as a float64 array of shape (n, features), n >= 1, all finite.

    Parameters
    ----------
    X : array_like, shape (n, features)
        One instance per row.
    features : int or None
        The number of features; None for any, at least 1.
    owner : str
        Who asks, for the error.
    """
    found = check_numbers(X, owner)
    if found.ndim != 2 or not found.size or features not in (None, found.shape[1]):
        raise InputError(
            f"{owner}: the instances have shape {found.shape};"
            f" expected (n, {features or 'features'}) with n of at least 1."
        )
    return check_finite(found, owner, ("row", "feature"))


def check_label(y: Any, owner: str) -> int:
    """Return a label as -1 or 1, or raise :class:`InputError`."""
    if isinstance(y, (bool, np.bool_)) or not isinstance(y, (int, float, np.number)) or y not in {-1, 1}:
        raise InputError(f"{owner}: the label is {y!r}; {_LABEL}.")
    return int(y)


def check_labels(y: ArrayLike, count: int, owner: str) -> IntArray:
    """Return labels as whole numbers, shape (count,), each -1 or 1.

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
        raise InputError(f"{owner}: the label of row {row} is {found.tolist()[row]!r}; {_LABEL}.")
    return found.astype(np.intp)


def check_weights(values: ArrayLike | None, count: int, owner: str) -> FloatArray:
    """Return importance weights, shape (count,), each 0 or more and not all 0; all 1 if None is given.

    Parameters
    ----------
    values : array_like, shape (count,), optional
        One weight per instance.
    count : int
        The number of instances.
    owner : str
        Who asks, for the error.
    """
    if values is None:
        return np.ones(count)
    found = check_numbers(values, owner, "the weights")
    if found.shape != (count,):
        raise InputError(
            f"{owner}: the weights have shape {found.shape}; expected ({count},), one per instance."
        )
    if check_finite(found, owner, ("weight",)).min() < 0 or not found.any():
        ends = f"{found.min():g} to {found.max():g}"
        raise InputError(f"{owner}: the weights go from {ends}; expected 0 or more, not all of them 0.")
    return found


def check_codes(X: ArrayLike, features: int | None, owner: str) -> IntArray:
    """Return nominal instances, shape (n, features), each number a code 0, 1, ... of its feature's values.

    *X*, *features* and *owner* as in :func:`check_instances`.
    """
    found = check_instances(X, features, owner)
    strange = found[(found != np.floor(found)) | (found < 0)]
    if strange.size:
        raise InputError(f"{owner}: a feature is {strange[0]:g}; expected codes 0, 1, ... of its values.")
    return found.astype(np.intp)


def check_numbers(values: ArrayLike, owner: str, what: str = "the instances") -> FloatArray:
    """Return *values* as float64.

    Parameters
    ----------
    values : array_like, any shape
        The numbers.
    owner, what : str
        Who asks, and what the values are, for the error.
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{owner}: {what} are no numbers; expected an array of numbers.") from None


def check_finite(found: FloatArray, owner: str, axes: tuple[str, ...]) -> FloatArray:
    """Return an array if all of its numbers are finite.

    Parameters
    ----------
    found : ndarray
        At least one number.
    owner : str
        Who asks, for the error.
    axes : tuple of str
        What one step along each axis is called, such as ``("row", "feature")``.
    """
    if not np.abs(found).max() < _MAX_VALUE:  # NaN too
        raise _not_finite(found, owner, axes)
    return found


def _not_finite(found: FloatArray, owner: str, axes: tuple[str, ...]) -> InputError:
    bad = np.argwhere(~np.isfinite(found))
    if not len(bad):
        largest = np.abs(found).max()
        return InputError(f"{owner}: a number is too large, {largest:g}; expected below {_MAX_VALUE:g}.")

    place = tuple(bad[0].tolist())
    where = ", ".join(f"{axis} {index}" for axis, index in zip(axes, place, strict=True))
    return InputError(f"{owner}: {where} is {found[place]}; expected finite numbers.")
