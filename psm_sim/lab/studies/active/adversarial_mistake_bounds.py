"""Study of mistake bounds on adversarial sequences, with exact expectations and long sampled runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from psm_sim.campaign.parallel_tasks import Rows, Task
from psm_sim.common.random_streams import random_stream
from psm_sim.lab.active import make_selective
from psm_sim.lab.active.adversarial_sequences import KINDS, adversarial_stream
from psm_sim.lab.active.bernoulli_expectations import expected_sums, pool_runs, sample_run
from psm_sim.lab.active.bound_comparators import Cbgz2Bound, CbgzBound, LasecBound, SharpBound
from psm_sim.lab.studies.active.learner_trials import (
    CONTROL,
    THEOREM,
    Trial,
    frame_of,
    is_full,
    judge_claim,
)
from psm_sim.lab.studies.published_claims import PublishedNumber
from psm_sim.lab.studies.study import Findings, Scale, Table

NAME = "worst-case"
BIASES = (0.05, 0.5, 2.0)
THEOREMS: dict[str, tuple[str, type[SharpBound]]] = {
    "CBGZ, Theorem 1": ("cbgz:b={b}", CbgzBound),
    "CBGZ second order, Theorem 2": ("cbgz2:b={b}", Cbgz2Bound),
    "LASEC-SS c = 10, Theorem 4": ("lasec-ss:ridge=1,c=10,b={b}", LasecBound),
    "LASEC-SS c = 1000, Theorem 4": ("lasec-ss:ridge=1,c=1000,b={b}", LasecBound),
}
STREAMS = 200
_SETTING = (
    "{} streams of 9 rounds with the exact expectation over the coins, from seed {}; streams of 2000 rounds,"
    " d = 10, {} coins; comparators by optimisation"
)
_RATIO = "The excess of a long run is its mistakes minus the bound. {} of {} values exceed 2 standard errors."
_EXPECTED = (
    "In each long run the number of queried labels equals the sum of the query probabilities within {:.1%}."
)
_ONE_SIDED = "The sources prove the bounds for labels of both signs. One-sided labels are a control."


class WorstCase:
    """Study of expected mistakes divided by the bound of the comparator that gives the tightest bound."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per theorem for short streams, and one per theorem, stream and b for long runs.

        *scale* and *seed* as for :meth:`digest`.
        """
        coins = 40 if is_full(scale) else 4
        common = [
            {"theorem": theorem, "one_sided": side, "seed": seed}
            for theorem in THEOREMS
            for side in (False, True)
        ]
        short = [Trial("exact", exact_of, {**names, "streams": STREAMS}, weight=25) for names in common]
        long = [
            Trial("sampled", sampled_of, {**names, "what": kind, "b": b, "coins": coins}, weight=coins)
            for names in common
            for kind in KINDS[:4]
            for b in BIASES
        ]
        return [*short, *long]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Judge the largest ratios, and return the long runs.

        *rows*, *scale* and *seed* as for :class:`~psm_sim.lab.studies.study.Study`.
        """
        exact, long = frame_of(rows, "exact"), frame_of(rows, "sampled")
        groups = exact.groupby(["theorem", "one-sided"], sort=False)["mistakes / bound"]
        return Findings(
            NAME,
            "Mistake bounds for any sequence",
            _SETTING.format(STREAMS, seed, 40 if is_full(scale) else 4),
            remarks=[
                _RATIO.format((long["excess"] > 2 * long["standard error of the excess"]).sum(), len(long)),
                _EXPECTED.format((long["labels"] / long["sum of query probabilities"] - 1).abs().max()),
            ],
            tables=[Table("Long runs", long)],
            commentary=[_ONE_SIDED],
            claims=[
                judge_claim(
                    PublishedNumber(NAME, *_names(key), at_most=1.0), values, CONTROL if key[1] else THEOREM
                )
                for key, values in groups
            ],
        )


def _names(key: Any) -> tuple[str, str, str]:
    """Return the name, quantity and source of the claim on a theorem with or without one-sided labels."""
    theorem, one_sided = key
    source = "[001]" if theorem.startswith("LASEC") else "[002]"
    if one_sided:
        return theorem, "expected mistakes over the bound, one-sided labels", "control, not published"
    return theorem, "expected mistakes over the bound", f"{source}, {theorem.rpartition(', ')[2]}"


def exact_of(theorem: str, one_sided: bool, streams: int, seed: int) -> list[dict[str, Any]]:
    """Return the ratio of exact expected mistakes to the bound, one row per short stream.

    Parameters
    ----------
    theorem : str
        Name of a theorem in :data:`THEOREMS`.
    one_sided : bool
        Whether labels at margins of 0 or more are free.
    streams : int
        Number of streams.
    seed : int
        Seed of the streams.
    """
    rows = []
    for number in range(streams):
        rng, b = random_stream(seed, "worst case", number), BIASES[number % 3]
        X, label = adversarial_stream(KINDS[number % 5], rng, rounds=9, features=2 + number % 2)
        sums = expected_sums(make_selective(_spec(theorem, b, one_sided), X.shape[1]), X, label)
        ratio = sums.mistakes / THEOREMS[theorem][1](b).sharpest(sums.updates)
        rows.append({"theorem": theorem, "one-sided": one_sided, "mistakes / bound": ratio})
    return rows


def sampled_of(
    theorem: str, one_sided: bool, what: str, b: float, coins: int, seed: int
) -> list[dict[str, Any]]:
    """Return the mean mistakes, labels and bound of long runs, one row.

    Parameters
    ----------
    theorem, one_sided
        As for :func:`exact_of`.
    what : str
        Kind of the stream.
    b : float
        Parameter of the query probability.
    coins : int
        Number of runs, each with its own Bernoulli draws.
    seed : int
        Seed of the stream.
    """
    margin = 0.1 if what == "separable" else 0.0
    X, label = adversarial_stream(what, random_stream(seed, f"long {what}"), 2000, 10, margin)
    samplers = [make_selective(_spec(theorem, b, one_sided), 10, seed=coin) for coin in range(coins)]
    runs = [sample_run(sampler, X, label) for sampler in samplers]
    mean, theory = pool_runs(runs), THEOREMS[theorem][1](b)
    z = theory.best(mean.updates)
    excess = [run.mistakes - theory.at(run.updates, z) for run in runs]
    bound = theory.at(mean.updates, z)
    return [
        {
            "theorem": theorem,
            "one-sided": one_sided,
            "stream": what,
            "b": b,
            "mistakes": mean.mistakes,
            "bound": bound,
            "ratio": mean.mistakes / bound,
            "excess": float(np.mean(excess)),
            "standard error of the excess": float(np.std(excess, ddof=1) / coins**0.5),
            "labels": mean.labels,
            "sum of query probabilities": float(np.mean([run.probabilities for run in runs])),
        }
    ]


def _spec(theorem: str, b: float, one_sided: bool) -> str:
    return f"{THEOREMS[theorem][0].format(b=b)},one_sided={str(one_sided).lower()}"


STUDY = WorstCase()
