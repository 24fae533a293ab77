"""Saved weights: lists fit for JSON, from which a learner goes on to the last bit.

JSON has no infinity: ``None`` stands for the logarithm of a weight of 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.learning.fixed_share_bank import FixedShareBank

MAX_LOG_WEIGHT = 1e9
"""The largest log-weight, in size: far more nats than a loss of any run adds up to between two weights."""


def dump_log_weights(log_weights: FloatArray) -> list[Any]:
    """Return *log_weights*, of one or two axes, as nested lists."""
    found = log_weights.astype(object)
    found[np.isneginf(log_weights)] = None
    return list(found.tolist())


def dump_bank(levels: FixedShareBank) -> dict[str, Any]:
    """Return the weights of *levels*, and the logarithms of those that plain numbers cannot carry."""
    return {"weights": levels.weights.tolist(), "log_weights": dump_log_weights(levels.edge_logs)}


def load_bank(state: Mapping[str, Any], like: FixedShareBank, owner: str) -> tuple[FloatArray, FloatArray]:
    """Return weights and log-weights for :meth:`FixedShareBank.restore`, or say what is wrong with them.

    Parameters
    ----------
    state : mapping
        What :func:`dump_bank` returned, and more.
    like : Levels
        Levels of the size that is expected.
    owner : str
        The learner's name, for the error.
    """
    weights = _array(state["weights"])
    if weights is None or weights.shape != like.weights.shape or not _distributions(weights):
        raise InputError(
            f"{owner}: weights of the saved state cannot be used; expected numbers of shape "
            f"{like.weights.shape}, none of them negative, each column with a sum of 1."
        )
    return weights, load_log_weights(state, "log_weights", like.edge_logs.shape, owner)


def _distributions(weights: FloatArray) -> bool:
    return bool((weights >= 0).all() and (abs(weights.sum(axis=0) - 1) < 1e-9).all())


def load_log_weights(state: Mapping[str, Any], key: str, shape: tuple[int, ...], owner: str) -> FloatArray:
    """Return the log-weights under *key*, of the given *shape*, or say what is wrong with them.

    Parameters
    ----------
    state : mapping
        The saved state.
    key : str
        Which of its entries.
    shape : tuple of int
        The shape that is expected, of one or two axes.
    owner : str
        The learner's name, for the error.
    """
    values = _array(state[key])
    if values is None or values.shape != shape or not _usable(values):
        raise InputError(
            f"{owner}: {key} of the saved state cannot be used; expected log-weights of shape {shape}, "
            "none of them nan or beyond 1e9 and not all of a column none."
        )
    return values


def _usable(logs: FloatArray) -> bool:
    """Say whether log-weights, -inf for a weight of 0, have no nan, are not huge, and no column is all 0."""
    known = logs[~np.isneginf(logs)]
    return bool((abs(known) <= MAX_LOG_WEIGHT).all() and np.isfinite(logs.max(axis=0)).all())


def _array(values: Any) -> FloatArray | None:
    """Return nested lists as an array, ``None`` in them as ``-inf``; None if they are no numbers."""
    try:
        found = np.array(values, dtype=object)
        if not all(value is None or type(value) in (int, float) for value in found.flat):
            return None
        found[found == None] = -math.inf  # noqa: E711 (elementwise)
        return found.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
