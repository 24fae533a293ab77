"""Study of mistake bounds on adversarial sequences, with exact expectations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psm_lab.active import make_selective
from psm_lab.active.adversarial_sequences import SEQUENCE_KINDS, adversarial_stream
from psm_lab.active.bound_comparators import (
    Cbgz2Bound,
    CbgzBound,
    LasecBound,
    SharpBound,
    expected_sums,
)
from psm_lab.studies.active.learner_trials import (
    CONTROL,
    THEOREM,
    frame_of,
    judge_claim,
)
from psm_lab.studies.published_claims import PublishedNumber
from psm_lab.studies.study import Findings, Scale
from psm_lab.studies.tasks import Rows, Task
from psm_sim.common.random_streams import random_stream

NAME = "worst-case"
BIASES = (0.05, 0.5, 2.0)
"""Parameters b of the samplers: below, near and above 1."""
THEOREMS: dict[str, tuple[str, type[SharpBound]]] = {
    "CBGZ, Theorem 1": ("cbgz:b={b}", CbgzBound),
    "CBGZ second order, Theorem 2": ("cbgz2:b={b}", Cbgz2Bound),
    "LASEC-SS c = 10, Theorem 4": ("lasec-ss:ridge=1,c=10,b={b}", LasecBound),
    "LASEC-SS c = 1000, Theorem 4": ("lasec-ss:ridge=1,c=1000,b={b}", LasecBound),
}
STREAMS = 200
"""Number of sequences for each theorem."""
_ONE_SIDED = "The sources prove the bounds for labels of both signs. One-sided labels are a control."


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one trial per theorem and kind of labels."""
    return [
        Task(
            "exact",
            exact_of,
            {"theorem": theorem, "one_sided": side, "seed": seed, "streams": STREAMS},
            weight=25,
        )
        for theorem in THEOREMS
        for side in (False, True)
    ]


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Judge the largest ratios."""
    groups = frame_of(rows, "exact").groupby(["theorem", "one-sided"], sort=False)["mistakes / bound"]
    return Findings(
        NAME,
        "Mistake bounds for any sequence",
        f"{STREAMS} streams of 9 rounds with the exact expectation over the coins, from seed {seed};"
        " comparators by optimisation",
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
        X, label = adversarial_stream(SEQUENCE_KINDS[number % 5], rng, rounds=9, features=2 + number % 2)
        sums = expected_sums(make_selective(_spec(theorem, b, one_sided), X.shape[1]), X, label)
        ratio = sums.mistakes / THEOREMS[theorem][1](b).sharpest(sums.updates)
        rows.append({"theorem": theorem, "one-sided": one_sided, "mistakes / bound": ratio})
    return rows


def _spec(theorem: str, b: float, one_sided: bool) -> str:
    return f"{THEOREMS[theorem][0].format(b=b)},one_sided={str(one_sided).lower()}"
