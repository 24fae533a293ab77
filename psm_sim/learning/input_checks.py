"""Checks of what learners accept (numbers of experts, switching rates, losses); else an InputError."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError


def check_int(value: Any, what: str, least: int = 1) -> int:
    """Return *value* as a whole number of at least *least*, else raise :class:`InputError`.

    Parameters
    ----------
    value : object
        The value to check.
    what : str
        What it is called in the error.
    least : int
        The smallest number allowed.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{what} is {value!r}; expected a whole number of at least {least}.")
    return int(value)


def check_probability(value: Any, what: str) -> float:
    """Return *value* as a probability, 0 to 1; *what* names it in the error."""
    return check_number(value, what, "a number from 0 to 1", 0, 1)


def check_number(value: Any, what: str, expected: str, least: float, most: float) -> float:
    """Return *value* as a number from *least* to *most*, else raise :class:`InputError`.

    Parameters
    ----------
    value : object
        The value to check.
    what, expected : str
        What it is called in the error, and what is said to be expected.
    least, most : float
        The smallest and the largest number allowed.
    """
    usable = isinstance(value, Real) and not isinstance(value, bool)
    if not usable or not least <= (found := float(value)) <= most:
        raise InputError(f"{what} is {value!r}; expected {expected}.")
    return found


def check_array(values: ArrayLike, shape: tuple[int, ...], what: str) -> FloatArray:
    """Return *values* as float64 of the given *shape*, else raise :class:`InputError`.

    Parameters
    ----------
    values : array_like
        The numbers to check.
    shape : tuple of int
        The shape they must have.
    what : str
        What they are called in the error.
    """
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} are {values!r}; expected numbers of shape {shape}.") from None
    if found.shape != shape:
        raise InputError(f"{what} have shape {found.shape}; expected {shape}, one value per expert.")
    return found


def check_rates(values: ArrayLike) -> FloatArray:
    """Return switching rates as a fresh array, shape (m,) with m >= 1, each from 0 to 1."""
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the switching rates are {values!r}; expected numbers from 0 to 1.") from None
    if found.ndim != 1 or not found.size:
        raise InputError(f"the switching rates have shape {found.shape}; expected a list of at least one.")
    for index, value in enumerate(found.tolist()):
        check_probability(value, f"switching rate {index}")
    return found


def describe_loss_error(losses: FloatArray, when: str) -> InputError:
    """Return the error that says what is wrong with the *losses* of one round; *when* names the round."""
    for expert, loss in enumerate(losses.tolist()):
        if math.isnan(loss) or loss < 0:
            return InputError(
                f"{when}: the loss of expert {expert} is {loss}; expected a number of nats, 0 or more "
                "(inf removes the expert)."
            )
    return InputError(f"{when}: the losses are all inf; expected a finite loss for at least one expert.")


def check_loss_table(losses: ArrayLike) -> FloatArray:
    """Return the losses of a whole run, shape (T, n) in nats, each >= 0 and no round all-inf."""
    try:
        table = np.asarray(losses, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the losses are no table of numbers; expected rounds by experts.") from None
    if table.ndim != 2 or not table.size:
        raise InputError(f"the losses have shape {table.shape}; expected (rounds, experts), neither 0.")
    least = table.min(axis=1)
    # Written as a negation, since a comparison with nan is false: a row that holds nan is bad too.
    bad = np.flatnonzero(~((least >= 0) & (least < np.inf)))
    if bad.size:
        raise describe_loss_error(table[bad[0]], f"round {bad[0] + 1}")
    return table
