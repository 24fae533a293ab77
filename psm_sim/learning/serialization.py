"""JSON-compatible lists of learners' weights, restored bit-for-bit.

JSON has no infinity, so ``None`` stands for the logarithm of a weight of 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning.fixed_share_bank import FixedShareBank

MAX_LOG_WEIGHT = 1e9
"""Maximum absolute value of a log-weight, in nats. No run accumulates such a loss between two weights."""


def dump_log_weights(log_weights: FloatArray) -> list[Any]:
    """Return *log_weights*, with one or two axes, as nested lists."""
    objects = log_weights.astype(object)
    objects[np.isneginf(log_weights)] = None
    return list(objects.tolist())


def dump_bank(bank: FixedShareBank) -> dict[str, Any]:
    """Return the weights of *bank*, and the log-weights of its log-domain rates."""
    return {"weights": bank.weights.tolist(), "log_weights": dump_log_weights(bank.edge_log_weights)}


def load_bank(state: Mapping[str, Any], like: FixedShareBank, owner: str) -> tuple[FloatArray, FloatArray]:
    """Return the arguments of :meth:`FixedShareBank.restore` from a saved state.

    Parameters
    ----------
    state : mapping
        Dictionary with the entries of :func:`dump_bank`.
    like : FixedShareBank
        Bank with the expected shapes.
    owner : str
        Learner named in error messages.

    Raises
    ------
    InputError
        If the weights have another shape, or a column is not a distribution.
    """
    weights = load_weights(state, "weights", like.weights.shape, owner)
    return weights, load_log_weights(state, "log_weights", like.edge_log_weights.shape, owner)


def load_weights(state: Mapping[str, Any], key: str, shape: tuple[int, ...], owner: str) -> FloatArray:
    """Return the weights of a saved state. Arguments and errors are as for :func:`load_log_weights`."""
    weights = _array(state[key])
    if weights is None or weights.shape != shape or not _are_distributions(weights):
        raise InputError(
            f"{owner}: {key} of the saved state are invalid; expected nonnegative numbers of shape "
            f"{shape}, each column with the sum 1."
        )
    return weights


def _are_distributions(weights: FloatArray) -> bool:
    return bool((weights >= 0).all() and (abs(weights.sum(axis=0) - 1) < 1e-9).all())


def load_log_weights(state: Mapping[str, Any], key: str, shape: tuple[int, ...], owner: str) -> FloatArray:
    """Return the log-weights of a saved state.

    Parameters
    ----------
    state : mapping
        Saved state.
    key : str
        Key of the log-weights.
    shape : tuple of int
        Expected shape, with one or two axes.
    owner : str
        Learner named in error messages.

    Raises
    ------
    InputError
        If the entry is not an array of valid log-weights.
    """
    values = _array(state[key])
    if values is None or values.shape != shape or not _are_valid(values):
        raise InputError(
            f"{owner}: {key} of the saved state are invalid; expected log-weights of shape {shape}, at most "
            "1e9 in absolute value, with a finite one in each column."
        )
    return values


def _are_valid(logs: FloatArray) -> bool:
    """Return whether all log-weights are valid.

    There must be no NaN, no value beyond :data:`MAX_LOG_WEIGHT`, and no column of ``-inf`` only.
    """
    finite_or_nan = logs[~np.isneginf(logs)]
    return bool((abs(finite_or_nan) <= MAX_LOG_WEIGHT).all() and np.isfinite(logs.max(axis=0)).all())


def _array(values: Any) -> FloatArray | None:
    """Return nested lists as an array, with ``None`` as ``-inf``. Return None if they are not numbers."""
    try:
        array = np.array(values, dtype=object)
        if not all(value is None or type(value) in (int, float) for value in array.flat):
            return None
        array[array == None] = -math.inf  # noqa: E711 (elementwise)
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
