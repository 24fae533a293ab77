"""Trials of the drift study, with its streams, learners and matched query rates."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.random_streams import random_stream
from psm_sim.lab.active import make_selective
from psm_sim.lab.active.data.handwritten_digits import mnist_5k, split_in_halves
from psm_sim.lab.active.drifting_streams import Stream, drifting_stream, shifting_digits, shifting_stream


@lru_cache(maxsize=1)
def _images() -> FloatArray:
    return split_in_halves(mnist_5k()[0])


D, ROUNDS = 50, 10_000
SYNTHETIC = "switch 500"
STREAMS: dict[str, Callable[[np.random.Generator], Stream]] = {
    "stationary": lambda rng: shifting_stream(rng, ROUNDS, D),
    "10 % flips": lambda rng: shifting_stream(rng, ROUNDS, D, flips=0.1),
    "gradual .01": lambda rng: drifting_stream(rng, ROUNDS, D, 0.01),
    "gradual .03": lambda rng: drifting_stream(rng, ROUNDS, D, 0.03),
    "switch 2000": lambda rng: shifting_stream(rng, ROUNDS, D, every=2000),
    SYNTHETIC: lambda rng: shifting_stream(rng, ROUNDS, D, every=500),
    "digits": lambda rng: shifting_digits(rng, _images(), mnist_5k()[1], 5000),
}
SUPERVISED = {
    "LASEC 10/1000": "lasec",
    "modified x2": "modified-perceptron",
    "Perceptron": "perceptron",
    "shifting .01": "shifting-perceptron",
    "SOP ridge 10": "sop",
    "modified x1": "modified-perceptron:factor=1",
    "budget 500": "budget-perceptron",
}
SELECTIVE = {
    "LASEC-SS": ("lasec-ss:b={}", 1e-5, 100.0),
    "LASEC coin": ("lasec-coin:p={}", None, None),
    "Perceptron-SS": ("cbgz:b={}", 1e-5, 100.0),
    "Perceptron coin": ("coin-perceptron:p={}", None, None),
    "SOP-SS": ("sop-ss:b={}", 1e-5, 100.0),
    "SOP coin": ("sop-coin:p={}", None, None),
    "BBQ-I": ("bbq-i:kappa={}", 1e-3, 1.0),
    "BBQ": ("bbq:kappa={}", 1e-3, 1.0),
}
MARGINS = {
    "LASEC-SS": "LASEC coin",
    "Perceptron-SS": "Perceptron coin",
    "SOP-SS": "SOP coin",
}
"""Control of each margin-based rule: the same learner with a fixed query probability."""


def supervised_of(what: str, learner: str, replications: int, seed: int) -> list[dict[str, Any]]:
    """Return the accuracy with every label queried, one row per replication.

    Parameters
    ----------
    what : str
        Name of a stream in :data:`STREAMS`.
    learner : str
        Name of a learner in :data:`SUPERVISED`.
    replications : int
        Number of streams.
    seed : int
        Seed of the streams.
    """
    return [_row(what, learner, SUPERVISED[learner], 1.0, number, seed) for number in range(replications)]


def selective_of(what: str, learner: str, rate: float, replications: int, seed: int) -> list[dict[str, Any]]:
    """Return the accuracy at a query rate, with the parameter matched by bisection on an extra stream.

    Parameters
    ----------
    what : str
        Name of a stream in :data:`STREAMS`.
    learner : str
        Name of a learner in :data:`SELECTIVE`.
    rate : float
        Share of labels to query, 0 to 1.
    replications : int
        Number of streams.
    seed : int
        Seed of the streams and the Bernoulli draws.
    """
    template, low, high = SELECTIVE[learner]
    value = rate if low is None or high is None else _match_rate(template, low, high, rate, what, seed)
    spec = template.format(value)
    return [_row(what, learner, spec, rate, number, seed) for number in range(replications)]


def _row(stream: str, learner: str, spec: str, rate: float, number: int, seed: int) -> dict[str, Any]:
    X, y = STREAMS[stream](random_stream(seed, f"drift {stream}", number))
    record = make_selective(spec, X.shape[1], seed=seed + number).run(X, y)
    correct = record.prediction == y
    return {
        "stream": stream,
        "learner": learner,
        "rate": rate,
        "replication": number,
        "setting": spec,
        "bought": float(record.queried.mean()),
        "accuracy": float(correct.mean()),
        "first 500": float(correct[:500].mean()),
    }


def _match_rate(template: str, low: float, high: float, rate: float, stream: str, seed: int) -> float:
    """Return the parameter whose query rate on an extra stream is *rate*, by bisection of its logarithm."""
    X, y = STREAMS[stream](random_stream(seed, f"drift {stream}, extra draw"))
    for _ in range(14):
        middle = float(np.sqrt(low * high))
        queried = make_selective(template.format(middle), X.shape[1], seed=seed).run(X, y).queried.mean()
        low, high = (middle, high) if queried < rate else (low, middle)
        if abs(queried - rate) < 0.01 * rate:
            return middle
    return float(np.sqrt(low * high))
