"""Validation of the arguments of learners."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError


def check_array(values: ArrayLike, shape: tuple[int, ...], name: str) -> FloatArray:
    """Return *values* as a float64 array.

    Parameters
    ----------
    values : array_like
        Values to check.
    shape : tuple of int
        Required shape.
    name : str
        Name in the error message, in the plural.

    Raises
    ------
    InputError
        If the values are not numbers of this shape.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers of shape {shape}, got {values!r}.") from None
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}, one value per expert, got {array.shape}.")
    return array


def check_rates(values: ArrayLike) -> FloatArray:
    """Return switching rates as a new array, shape (m,) with m >= 1, each from 0 to 1."""
    try:
        rates = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the switching rates must be numbers from 0 to 1, got {values!r}.") from None
    if rates.ndim != 1 or not rates.size:
        raise InputError(f"the switching rates must be a non-empty list, got shape {rates.shape}.")
    for index, rate in enumerate(rates.tolist()):
        if not 0 <= rate <= 1:
            raise InputError(f"switching rate {index} must be a number from 0 to 1, got {rate!r}.")
    return rates


def describe_loss_error(losses: FloatArray, round_name: str) -> InputError:
    """Return the error for invalid *losses* of one round, which *round_name* identifies."""
    for expert, loss in enumerate(losses.tolist()):
        if math.isnan(loss) or loss < 0:
            return InputError(
                f"{round_name}: the loss of expert {expert} must be at least 0 nats "
                f"(inf excludes the expert), got {loss}."
            )
    return InputError(f"{round_name}: all losses are inf; expected a finite loss for at least one expert.")


def check_loss_table(losses: ArrayLike) -> FloatArray:
    """Return the losses of all rounds, shape (T, n) in nats.

    Each loss must be at least 0, and no round may consist of infinite losses only.
    """
    try:
        table = np.asarray(losses, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the losses must be a table of numbers, rounds by experts.") from None
    if table.ndim != 2 or not table.size:
        raise InputError(f"the losses must have shape (rounds, experts), neither 0, got {table.shape}.")
    min_losses = table.min(axis=1)
    # The negation also finds rows with NaN, for which every comparison is false.
    invalid_rounds = np.flatnonzero(~((min_losses >= 0) & (min_losses < np.inf)))
    if invalid_rounds.size:
        raise describe_loss_error(table[invalid_rounds[0]], f"round {invalid_rounds[0] + 1}")
    return table
