"""Study of learning under drift with LASEC, LASEC-SS, baselines and fixed query probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.common.array_types import FloatArray
from psm_sim.common.random_streams import random_stream
from psm_sim.lab.active import make_selective
from psm_sim.lab.active.data.handwritten_digits import mnist_5k, mnist_file, split_in_halves
from psm_sim.lab.active.drifting_streams import Stream, drifting_stream, shifting_digits, shifting_stream
from psm_sim.lab.studies.active.learner_trials import Direction, Trial, frame_of, is_full, judge_claim
from psm_sim.lab.studies.published_claims import Claim
from psm_sim.lab.studies.study import Findings, Scale, Table

NAME = "drift"


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


RATES = (0.1, 0.4)
KINDS = tuple(kind for kind in STREAMS if kind not in {SYNTHETIC, "digits"})
_CONTROL = (
    'The learners named "coin" are controls with a fixed query probability. Under fast jumps they are better'
    " than the margin-based rule of every learner. The margin-based rule queries least where it is most"
    " certain. After a jump it is certain and wrong. The papers have no such control."
)
_SETTING = (
    "10 000 Gaussian rounds, d = 50, target redrawn every 500 rounds unless stated otherwise; MNIST-5k with"
    " shifts; {} streams from seed {}, parameters matched on one extra stream"
)
_MISSING = (
    "The digits with shifts are omitted, because the images are not installed (pip install"
    " 'psm_sim[studies]')."
)


class DriftStudy:
    """Study of the accuracy of every learner on streams with a moving target."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per stream, learner and rate, which matches the rate and runs all replications.

        *scale* and *seed* as for :meth:`digest`.
        """
        common = {"replications": scale.replications + 2 * is_full(scale), "seed": seed}
        return [
            *(_supervised(stream, learner, common) for stream in _main_streams() for learner in SUPERVISED),
            *(
                _selective(stream, learner, rate, common)
                for stream in _main_streams()
                for learner in SELECTIVE
                for rate in RATES
            ),
            *(
                _selective(kind, learner, 0.1, common)
                for kind in KINDS
                for learner in ("LASEC-SS", "LASEC coin")
            ),
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return the accuracies, and the claims of [001] section 5 and on the control.

        *rows*, *scale* and *seed* as for :class:`~psm_sim.lab.studies.study.Study`.
        """
        frame = pd.concat([frame_of(rows, "supervised"), frame_of(rows, "selective")])
        groups = frame.groupby(["stream", "rate", "learner"], sort=False)
        table = groups[["bought", "accuracy", "first 500"]].mean().reset_index()
        streams = set(table["stream"])
        curve = table[(table["stream"] == SYNTHETIC) & (table["rate"] < 1)]
        return Findings(
            NAME,
            "Learning under drift",
            _SETTING.format(frame["replication"].nunique(), seed),
            remarks=[] if "digits" in streams else [_MISSING],
            commentary=[_CONTROL],
            tables=[Table("Accuracy, and of the first 500 rounds", table)],
            claims=_claims(frame),
            figures={"drift": curve[["learner", "rate", "accuracy"]]},
        )


def _main_streams() -> list[str]:
    """Return the streams on which every learner runs."""
    return [SYNTHETIC, *(["digits"] if mnist_file() is not None else [])]


def _supervised(stream: str, learner: str, common: dict[str, int]) -> Trial:
    return Trial("supervised", supervised_of, {"what": stream, "learner": learner, **common}, weight=30)


def _selective(stream: str, learner: str, rate: float, common: dict[str, int]) -> Trial:
    return Trial(
        "selective", selective_of, {"what": stream, "learner": learner, "rate": rate, **common}, weight=60
    )


def _claims(frame: pd.DataFrame) -> list[Claim]:
    values, first = _wide(frame, "accuracy"), _wide(frame, "first 500")
    claims = []
    for stream in dict.fromkeys(frame.loc[frame["rate"] == 1.0, "stream"]):
        claims += _best_claims("LASEC 10/1000", values[stream, 1.0], f"{stream}: accuracy, every label")
        for rate in RATES:
            claims += _best_claims("LASEC-SS", values[stream, rate], f"{stream}: accuracy at rate {rate:g}")
    claims += _best_claims("SOP ridge 10", first[SYNTHETIC, 1.0], f"{SYNTHETIC}: accuracy of the first 500")
    claims += _best_claims("BBQ", first[SYNTHETIC, 0.1], f"{SYNTHETIC}: first 500 at rate 0.1")
    for kind in (*KINDS, SYNTHETIC):
        at = values[kind, 0.1]
        claims.append(_claim("LASEC-SS", "LASEC coin", f"{kind}: accuracy at rate 0.1", at, "ours: control"))
    return claims


Wide = dict[tuple[str, float], pd.DataFrame]


def _wide(frame: pd.DataFrame, column: str) -> Wide:
    """Return one table per stream and rate, with a row per replication and a column per learner."""
    return {
        (stream, rate): part.pivot_table(index="replication", columns="learner", values=column)
        for stream in frame["stream"].unique()
        for rate in (*RATES, 1.0)
        if len(part := frame[(frame["stream"] == stream) & (frame["rate"] == rate)])
    }


def _best_claims(winner: str, values: pd.DataFrame, quantity: str) -> list[Claim]:
    """Return the claims that *winner* is above its best rival and above its control."""
    others = [str(name) for name in values.columns if name != winner and name not in MARGINS.values()]
    rival = str(values[others].mean().sort_values().index[-1])
    controls = [MARGINS[winner]] if winner in MARGINS else []
    return [_claim(winner, other, quantity, values, "[001], figure 2") for other in (rival, *controls)]


def _claim(winner: str, other: str, quantity: str, values: pd.DataFrame, source: str) -> Claim:
    return judge_claim(
        Direction(NAME, f"{winner} - {other}", quantity, source), values[winner] - values[other]
    )


STUDY = DriftStudy()
