"""Instances, labels and weights as learners accept them; anything else is an InputError."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psm_sim.errors import InputError

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
Flags = NDArray[np.bool_]


def instances(values: ArrayLike, features: int | None = None, what: str = "the instances") -> Floats:
    """Return instances as float64, shape (n, d) with n and d at least 1, every number finite.

    Parameters
    ----------
    values : array_like, shape (n, d)
        One row per instance.
    features : int, optional
        The number d of features that is expected.
    what : str
        Their name in the error.
    """
    found = numbers(values, what)
    if found.ndim != 2 or not found.size or features not in (None, found.shape[1]):
        wanted = f"(instances, {features or 'features'}), neither 0"
        raise InputError(f"{what} have shape {found.shape}; expected {wanted}.")
    return finite(found, what)


def instance(values: ArrayLike, features: int | None = None) -> Floats:
    """Return one instance as float64, shape (d,)."""
    found: Floats = instances(numbers(values, "the instance")[None], features, "one instance, in a list,")[0]
    return found


def finite(values: Floats, what: str) -> Floats:
    """Return *values* if none of them is NaN or infinite; *what* names them in the error."""
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        place = ", ".join(str(each) for each in bad[0].tolist())
        value = values[tuple(bad[0])].item()
        raise InputError(f"{what} hold {value} at ({place}); expected finite numbers only.")
    return values


def labels(values: ArrayLike, n: int, allowed: tuple[int, int] = (-1, 1)) -> Whole:
    """Return labels as whole numbers, shape (n,), each one of *allowed*.

    Parameters
    ----------
    values : array_like, shape (n,)
        The labels.
    n : int
        How many are expected.
    allowed : tuple of int
        The two labels.
    """
    found = numbers(values, "the labels")
    if found.shape != (n,):
        raise InputError(f"the labels have shape {found.shape}; expected ({n},), one per instance.")
    strange = found[~np.isin(found, allowed)]
    if strange.size:
        raise InputError(f"a label is {strange[0]:g}; expected {allowed[0]} or {allowed[1]}.")
    return found.astype(np.intp)


def label(value: Any) -> int:
    """Return one label, -1 or 1."""
    return int(labels([value], 1)[0])


def weights(values: ArrayLike | None, n: int) -> Floats:
    """Return importance weights, shape (n,), each 0 or more and not all 0; all 1 if None is given."""
    if values is None:
        return np.ones(n)
    found = numbers(values, "the weights")
    if found.shape != (n,):
        raise InputError(f"the weights have shape {found.shape}; expected ({n},), one per instance.")
    if finite(found, "the weights").min() < 0 or not found.any():
        ends = f"{found.min():g} to {found.max():g}"
        raise InputError(f"the weights go from {ends}; expected 0 or more, not all of them 0.")
    return found


def codes(values: ArrayLike) -> Whole:
    """Return nominal features coded 0, 1, ..., shape (n, d) with n and d at least 1."""
    found = instances(values)
    strange = found[(found != np.floor(found)) | (found < 0)]
    if strange.size:
        raise InputError(f"a feature is {strange[0]:g}; expected codes 0, 1, ... of its values.")
    return found.astype(np.intp)


def numbers(values: ArrayLike, what: str) -> Floats:
    """Return *values* as float64, of any shape; *what* names them in the error."""
    try:
        found: Floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} are no table of numbers; expected numbers only.") from None
    return found
