"""Study of learning under drift with LASEC, LASEC-SS, baselines and fixed query probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from psm_lab.active import make_selective
from psm_lab.active.data.handwritten_digits import downsample_2x2, mnist_5k, mnist_file
from psm_lab.active.drifting_streams import Stream, drifting_stream, shifting_digits, shifting_stream
from psm_lab.studies.active.learner_trials import (
    CONTROL,
    PUBLISHED,
    direction,
    frame_of,
    is_full,
    judge_claim,
)
from psm_lab.studies.published_claims import Claim
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task
from psm_sim.common.array_types import FloatArray
from psm_sim.common.random_streams import random_stream

NAME = "drift"


@lru_cache(maxsize=1)
def _images() -> FloatArray:
    return downsample_2x2(mnist_5k()[0])


D, ROUNDS = 50, 10_000
"""Features and rounds of a synthetic stream, as in [001]."""
SYNTHETIC, DIGITS = "switch 500", "digits"
# The stream of [001] switches every 500 rounds. The other synthetic streams differ in their drift or noise.
STREAMS: dict[str, Callable[[np.random.Generator], Stream]] = {
    "stationary": lambda rng: shifting_stream(rng, ROUNDS, D),
    "10 % flips": lambda rng: shifting_stream(rng, ROUNDS, D, flips=0.1),
    "gradual .01": lambda rng: drifting_stream(rng, ROUNDS, D, 0.01),
    "gradual .03": lambda rng: drifting_stream(rng, ROUNDS, D, 0.03),
    "switch 2000": lambda rng: shifting_stream(rng, ROUNDS, D, every=2000),
    SYNTHETIC: lambda rng: shifting_stream(rng, ROUNDS, D, every=500),
    DIGITS: lambda rng: shifting_digits(rng, _images(), mnist_5k()[1], 5000),
}
SUPERVISED = {
    "LASEC": "lasec:{tuned}",
    "modified x2": "modified-perceptron",
    "Perceptron": "perceptron",
    "shifting": "shifting-perceptron:lam={lam}",
    "SOP": "sop:{tuned}",
    "modified x1": "modified-perceptron:factor=1",
    "budget": "budget-perceptron:B={budget}",
}
PERCEPTRONS = ("modified x2", "Perceptron", "shifting", "modified x1", "budget")
# Spec of each learner, and the search range of the parameter that sets the query rate.
SELECTIVE = {
    "LASEC-SS": ("lasec-ss:{tuned},b={value}", 1e-5, 100.0),
    "LASEC coin": ("lasec-coin:{tuned},p={value}", None, None),
    "Perceptron-SS": ("cbgz:b={value}", 1e-5, 100.0),
    "Perceptron coin": ("coin-perceptron:p={value}", None, None),
    "SOP-SS": ("sop-ss:{tuned},b={value}", 1e-5, 100.0),
    "SOP coin": ("sop-coin:{tuned},p={value}", None, None),
    "BBQ-I": ("bbq-i:kappa={value}", 1e-3, 1.0),
    "BBQ": ("bbq:kappa={value}", 1e-3, 1.0),
}
_RIDGES, _DRIFTS = (1, 10, 100, 1000), (100, 1000, 10_000, 100_000)
TUNED = {
    "lasec": tuple(f"ridge={ridge},c={c}" for ridge in _RIDGES for c in _DRIFTS if ridge < c),
    "sop": tuple(f"ridge={ridge}" for ridge in _RIDGES),
}
"""Candidate parameters of the second-order learners, tuned on the extra stream as in [001]."""

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
    spec = _spec(SUPERVISED[learner], what, seed)
    return [_row(what, learner, spec, 1.0, number, seed) for number in range(replications)]


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
    spec = _spec(template, what, seed, value)
    return [_row(what, learner, spec, rate, number, seed) for number in range(replications)]


def _spec(template: str, stream: str, seed: int, value: float = 0.0) -> str:
    """Return a spec with the *value* of its query rule and with the parameters of [001] for a stream."""
    lam, budget = (0.0001, 1000) if stream == DIGITS else (0.01, 500)
    tuned = (
        _tuned(template.partition(":")[0].partition("-")[0], stream, seed) if "{tuned}" in template else ""
    )
    return template.format(lam=lam, budget=budget, tuned=tuned, value=value)


@cache
def _tuned(name: str, stream: str, seed: int) -> str:
    """Return the parameters with the highest accuracy on the extra stream if every label is queried."""
    X, y = _extra(stream, seed)

    def accuracy(parameters: str) -> float:
        record = make_selective(f"{name}:{parameters}", X.shape[1], seed=seed).run(X, y)
        return float((record.prediction == y).mean())

    return max(TUNED[name], key=accuracy)


def _extra(stream: str, seed: int) -> Stream:
    return STREAMS[stream](random_stream(seed, f"drift {stream}, extra draw"))


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
        "share of queried labels": float(record.queried.mean()),
        "accuracy": float(correct.mean()),
        "first 500": float(correct[:500].mean()),
    }


def _match_rate(template: str, low: float, high: float, rate: float, stream: str, seed: int) -> float:
    """Return the parameter whose query rate on an extra stream is *rate*, by bisection of its logarithm."""
    X, y = _extra(stream, seed)
    for _ in range(14):
        middle = float(np.sqrt(low * high))
        spec = _spec(template, stream, seed, middle)
        queried = make_selective(spec, X.shape[1], seed=seed).run(X, y).queried.mean()
        low, high = (middle, high) if queried < rate else (low, middle)
        if abs(queried - rate) < 0.01 * rate:
            return middle
    return float(np.sqrt(low * high))


RATES = (0.1, 0.4)
"""Query rates of the report."""
STREAM_KINDS = tuple(kind for kind in STREAMS if kind not in {SYNTHETIC, DIGITS})
_CONTROL = (
    'The learners named "coin" are controls with a fixed query probability. Under fast jumps they are better'
    " than the margin-based rule of every learner. The margin-based rule queries least where it is most"
    " certain. After a jump it is certain and wrong. The papers have no such control."
)
_STREAMS = (
    "The streams of [001] are the jumps every 500 rounds and USPS, which MNIST-5k replaces. All other streams"
    " are controls. [001] has 50 streams of each kind."
)
_SETTING = (
    "10 000 Gaussian rounds, d = 50, target redrawn every 500 rounds unless stated otherwise; MNIST-5k with"
    " shifts; {} streams from seed {}; query rates matched, and ridge and c of LASEC and SOP tuned with every"
    " label, on one extra stream; lambda = .01 and B = 500, on the digits .0001 and 1000"
)
_MISSING = (
    "The digits with shifts are omitted, because the images are not installed (pip install"
    " 'psm_lab[digits]')."
)


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one trial with all replications per stream, learner and, for selective ones, rate."""
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
            for kind in STREAM_KINDS
            for learner in ("LASEC-SS", "LASEC coin")
        ),
    ]


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return the accuracies, the claims of [001] section 5, and the control claims."""
    frame = pd.concat([frame_of(rows, "supervised"), frame_of(rows, "selective")])
    groups = frame.groupby(["stream", "rate", "learner"], sort=False)
    table = groups[["share of queried labels", "accuracy", "first 500"]].mean()
    settings = groups["setting"].first().str.replace(r"[:,](b|p|kappa)=[^,]*", "", regex=True)
    table.insert(0, "setting", settings)
    table = table.reset_index()
    streams = set(table["stream"])
    curve = table[(table["stream"] == SYNTHETIC) & (table["rate"] < 1)]
    return Findings(
        NAME,
        "Learning under drift",
        _SETTING.format(frame["replication"].nunique(), seed),
        remarks=[] if DIGITS in streams else [_MISSING],
        commentary=[_CONTROL, _STREAMS],
        tables=[Table("Accuracy over all rounds and over the first 500", table)],
        claims=_claims(frame),
        figures={"drift": curve[["learner", "rate", "accuracy"]]},
    )


def _main_streams() -> list[str]:
    """Return the streams on which every learner runs."""
    return [SYNTHETIC, *([DIGITS] if mnist_file() is not None else [])]


def _supervised(stream: str, learner: str, common: dict[str, int]) -> Task:
    return Task("supervised", supervised_of, {"what": stream, "learner": learner, **common}, weight=30)


def _selective(stream: str, learner: str, rate: float, common: dict[str, int]) -> Task:
    return Task(
        "selective", selective_of, {"what": stream, "learner": learner, "rate": rate, **common}, weight=60
    )


def _claims(frame: pd.DataFrame) -> list[Claim]:
    """Return the claims of [001], each compared with the best rival, and the control claims."""
    values, first = _wide(frame, "accuracy"), _wide(frame, "first 500")
    every, early = f"{SYNTHETIC}: accuracy, every label", f"{SYNTHETIC}: accuracy of the first 500"
    claims = [
        _best_claim("LASEC", (*PERCEPTRONS, "SOP"), every, values[SYNTHETIC, 1.0], "a"),
        _best_claim("SOP", (*PERCEPTRONS, "LASEC"), early, first[SYNTHETIC, 1.0], "a"),
    ]
    if (DIGITS, 1.0) in values:
        every, digits = f"{DIGITS}: accuracy, every label", values[DIGITS, 1.0]
        claims += [
            _best_claim("LASEC", ("SOP",), every, digits, "d"),
            _best_claim("LASEC", PERCEPTRONS, every, digits, "d"),
            _best_claim("SOP", PERCEPTRONS, every, digits, "d"),
        ]
    rivals = [name for name in SELECTIVE if name not in MARGINS.values()]
    for rate, figure in zip(RATES, "be", strict=True):
        claims += [
            _best_claim(
                name, rivals, f"{SYNTHETIC}: {quantity} at rate {rate:g}", wide[SYNTHETIC, rate], figure
            )
            for name, quantity, wide in (("LASEC-SS", "accuracy", values), ("BBQ", "first 500", first))
        ]
        if (DIGITS, rate) in values:
            quantity = f"{DIGITS}: accuracy at rate {rate:g}"
            claims.append(_best_claim("LASEC-SS", rivals, quantity, values[DIGITS, rate], "f"))
    return [*claims, *_control_claims(values)]


def _control_claims(values: Wide) -> list[Claim]:
    """Return the claims that the margin rule of LASEC-SS is better than a fixed query probability."""
    return [
        _claim("LASEC-SS", MARGINS["LASEC-SS"], f"{stream}: accuracy at rate {rate:g}", table, CONTROL)
        for (stream, rate), table in values.items()
        if rate < 1
    ]


Wide = dict[tuple[str, float], pd.DataFrame]


def _wide(frame: pd.DataFrame, column: str) -> Wide:
    """Return one table per stream and rate, with a row per replication and a column per learner."""
    return {
        (stream, rate): part.pivot_table(index="replication", columns="learner", values=column)
        for stream in frame["stream"].unique()
        for rate in (*RATES, 1.0)
        if len(part := frame[(frame["stream"] == stream) & (frame["rate"] == rate)])
    }


def _best_claim(
    winner: str, rivals: Sequence[str], quantity: str, values: pd.DataFrame, figure: str
) -> Claim:
    """Return the claim of a panel of figure 2 that *winner* is better than the best of its rivals."""
    best = str(values[[name for name in rivals if name != winner]].mean().idxmax())
    return _claim(winner, best, quantity, values, PUBLISHED, f"[001] 5, figure 2{figure}")


def _claim(
    winner: str,
    other: str,
    quantity: str,
    values: pd.DataFrame,
    role: str,
    source: str = "control, not published",
) -> Claim:
    claim = direction(NAME, f"{winner} - {other}", quantity, source)
    return judge_claim(claim, values[winner] - values[other], role)
