"""Validation of the instances, labels and weights that learners accept.

Unusable input raises an :class:`~psm_sim.common.errors.InputError` with a one-line message.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.errors import InputError

_LABEL = "must be -1 or +1"
_MAX_VALUE = 1e150  # larger values could have an infinite square


def check_instance(x: ArrayLike, features: int, owner: str) -> tuple[FloatArray, float]:
    """Return one instance as a float64 array, and its squared norm.

    Parameters
    ----------
    x : array_like, shape (features,)
        Instance; all numbers must be finite.
    features : int
        Number of features.
    owner : str
        Component named in the error message.

    Raises
    ------
    InputError
        If the shape differs, or a number is NaN or infinite.
    """
    instance = check_numbers(x, owner)
    if instance.shape != (features,):
        raise InputError(f"{owner}: the instance must have shape ({features},), got {instance.shape}.")
    with np.errstate(over="ignore", invalid="ignore"):
        square = float(instance.dot(instance))
    if (
        not square < math.inf
    ):  # one product detects NaN and infinity; the search for the element is left to the error path
        raise _not_finite(instance, owner, ("feature",))
    return instance, square


def check_instances(X: ArrayLike, features: int | None, owner: str) -> FloatArray:
    """Return instances as a float64 array of shape (n, features).

    Parameters
    ----------
    X : array_like, shape (n, features)
        One instance per row, n >= 1; all numbers must be finite.
    features : int or None
        Number of features; None accepts any number >= 1.
    owner : str
        Component named in the error message.
    """
    instances = check_numbers(X, owner)
    if instances.ndim != 2 or not instances.size or features not in (None, instances.shape[1]):
        raise InputError(
            f"{owner}: the instances must have shape (n, {features or 'features'}) with n >= 1,"
            f" got {instances.shape}."
        )
    return check_finite(instances, owner, ("row", "feature"))


def check_label(y: Any, owner: str) -> int:
    """Return a label as -1 or 1, or raise :class:`InputError`."""
    if isinstance(y, (bool, np.bool_)) or not isinstance(y, (int, float, np.number)) or y not in {-1, 1}:
        raise InputError(f"{owner}: the label {_LABEL}, got {y!r}.")
    return int(y)


def check_labels(y: ArrayLike, count: int, owner: str) -> IntArray:
    """Return labels as integers, shape (count,), each -1 or 1.

    Parameters
    ----------
    y : array_like, shape (count,)
        One label per instance.
    count : int
        Number of instances.
    owner : str
        Component named in the error message.
    """
    labels = np.asarray(y)
    if labels.shape != (count,):
        raise InputError(
            f"{owner}: the labels must have shape ({count},), one per instance, got {labels.shape}."
        )
    is_valid = np.isin(labels, (-1, 1)) if labels.dtype.kind in "iuf" else np.zeros(count, bool)
    if not is_valid.all():
        row = int(np.argmin(is_valid))
        raise InputError(f"{owner}: the label of row {row} {_LABEL}, got {labels.tolist()[row]!r}.")
    return labels.astype(np.intp)


def check_weights(values: ArrayLike | None, count: int, owner: str) -> FloatArray:
    """Return importance weights, shape (count,), each >= 0 and not all 0.

    Parameters
    ----------
    values : array_like, shape (count,), optional
        One weight per instance; None sets all weights to 1.
    count : int
        Number of instances.
    owner : str
        Component named in the error message.
    """
    if values is None:
        return np.ones(count)
    weights = check_numbers(values, owner, "the weights")
    if weights.shape != (count,):
        raise InputError(
            f"{owner}: the weights must have shape ({count},), one per instance, got {weights.shape}."
        )
    if check_finite(weights, owner, ("weight",)).min() < 0 or not weights.any():
        extremes = f"{weights.min():g} to {weights.max():g}"
        raise InputError(f"{owner}: the weights must be >= 0 and not all 0, got {extremes}.")
    return weights


def check_codes(X: ArrayLike, features: int | None, owner: str) -> IntArray:
    """Return nominal instances, shape (n, features), as integer codes 0, 1, ... of the values.

    See :func:`check_instances` for *X*, *features* and *owner*.
    """
    instances = check_instances(X, features, owner)
    invalid = instances[(instances != np.floor(instances)) | (instances < 0)]
    if invalid.size:
        raise InputError(
            f"{owner}: a nominal feature must have the codes 0, 1, ... of its values, got {invalid[0]:g}."
        )
    return instances.astype(np.intp)


def check_numbers(values: ArrayLike, owner: str, name: str = "the instances") -> FloatArray:
    """Return *values* as float64.

    Parameters
    ----------
    values : array_like, any shape
        Numbers.
    owner, name : str
        Component and values named in the error message.
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{owner}: {name} must be an array of numbers.") from None


def check_finite(numbers: FloatArray, owner: str, axes: tuple[str, ...]) -> FloatArray:
    """Return an array if all of its numbers are finite, else raise :class:`InputError`.

    Parameters
    ----------
    numbers : ndarray
        At least one number.
    owner : str
        Component named in the error message.
    axes : tuple of str
        Names of the axes for the error message, for example ``("row", "feature")``.
    """
    if not np.abs(numbers).max() < _MAX_VALUE:  # true for NaN, too
        raise _not_finite(numbers, owner, axes)
    return numbers


def _not_finite(numbers: FloatArray, owner: str, axes: tuple[str, ...]) -> InputError:
    bad = np.argwhere(~np.isfinite(numbers))
    if not len(bad):
        largest = np.abs(numbers).max()
        return InputError(f"{owner}: every number must be < {_MAX_VALUE:g}, got {largest:g}.")

    index = tuple(bad[0].tolist())
    where = ", ".join(f"{axis} {position}" for axis, position in zip(axes, index, strict=True))
    return InputError(f"{owner}: {where} must be finite, got {numbers[index]}.")
