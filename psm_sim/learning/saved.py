"""Log-weights as lists fit for JSON, which has no infinity: ``None`` stands for a weight of 0."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from psm_sim.arrays import Floats
from psm_sim.errors import InputError


def logs(log_weights: Floats) -> list[Any]:
    """Return *log_weights*, of one or two axes, as nested lists."""
    found = log_weights.astype(object)
    found[np.isneginf(log_weights)] = None
    return list(found.tolist())


def read(state: Mapping[str, Any], key: str, shape: tuple[int, ...], owner: str) -> Floats:
    """Return the log-weights under *key*, of the given *shape*, or say what is wrong with them."""
    fault = InputError(
        f"{owner}: {key} of the saved state cannot be used; expected log-weights of shape {shape}, "
        "none of them nan or inf and not all of a column none."
    )
    try:
        found = np.array(state[key], dtype=object)
        found[found == None] = -math.inf  # noqa: E711 (elementwise)
        values: Floats = found.astype(np.float64)
    except (TypeError, ValueError):
        raise fault from None
    if values.shape != shape or not np.isfinite(values.max(axis=0)).all():
        raise fault
    return values
