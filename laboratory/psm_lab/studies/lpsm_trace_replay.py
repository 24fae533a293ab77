"""Study of the thesis's statements and figures of LPSM over recorded activity, on the bundled trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from psm_lab.replay.figure_columns import FIGURES
from psm_lab.replay.replay_config import ReplayConfig
from psm_lab.replay.trace_replay import ReplayedClient, replay_trace
from psm_lab.studies.published_claims import Words, judge, study_texts
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Row, Rows, Task
from psm_sim.common.array_types import FloatArray
from psm_sim.common.summary_stats import confidence_interval

TRACE = "ucb"
BEGINNING = 300
"""Number of polls that count as the early iterations."""

ZOOM = 2_000
"""Number of polls of the earlier phases of learning. The thesis gives an example after 1600 polls."""

SEEDS = 5
"""Maximum number of seeds, because a replay takes long."""


class Statement(NamedTuple):
    """Statement of the thesis (section 2.5.4), with a number and the range in which the statement holds.

    Attributes
    ----------
    figure : str
        Figure of the thesis to which the statement refers.
    text : str
        Statement.
    measure : str
        Description of the number.
    column : str
        Column of the number in the rows of :func:`measure_replay`.
    at_most, at_least : float
        Range in which the statement holds.
    """

    figure: str
    text: str
    measure: str
    column: str
    at_most: float = np.inf
    at_least: float = -np.inf


WORDS = Words(below="does not hold", inside="holds", above="does not hold")
# The thesis states no numbers. The limits are 1.1 for "close to" and "works well", 10 for "too far", 1 % for
# "sometimes", and otherwise 1.
CLAIMS = (
    Statement(
        "2-9",
        "loss close to or better than that of the best current expert",
        "the learner's loss over that of the best expert of each poll",
        "over_current_best",
        at_most=1.1,
    ),
    Statement(
        "2-9",
        "it takes some time before the learner does as well as the best current expert",
        f"this ratio in the first {BEGINNING} polls over that in the later polls",
        "early_over_later",
        at_least=1.0,
    ),
    Statement(
        "2-9",
        "even early it beats the worse half of the experts",
        f"loss of the first {BEGINNING} polls over the mean of the worse five experts",
        "over_worse_half",
        at_most=1.0,
    ),
    Statement(
        "2-9",
        "even early it tracks the average expert",
        f"loss of the first {BEGINNING} polls over the mean of all experts",
        "over_average",
        at_most=1.1,
    ),
    Statement(
        "2-9",
        "the identity of the best current expert changes",
        "changes in a hundred polls",
        "changes_per_hundred",
        at_least=1.0,
    ),
    Statement(
        "2-10",
        "the weights follow the experts that currently perform best",
        "mean weight of the best expert of each poll, relative to uniform weights",
        "weight_of_best",
        at_least=1.0,
    ),
    Statement(
        "2-10",
        "the expert with the highest weight shifts",
        "shifts in a thousand polls",
        "shifts_per_thousand",
        at_least=1.0,
    ),
    Statement(
        "2-10",
        "it shifts even in the early iterations",
        f"shifts in the first {BEGINNING} polls",
        "early_shifts",
        at_least=1.0,
    ),
    Statement(
        "2-10",
        "after several periods with the lowest weight, an expert regains the highest weight",
        f"number of such experts in the first {ZOOM} polls",
        "regaining_experts",
        at_least=1.0,
    ),
    Statement(
        "2-10",
        "no single polling time works well all the time",
        "loss of the best fixed expert over that of the best expert of each poll",
        "fixed_over_current",
        at_least=1.1,
    ),
    Statement(
        "2-11",
        "eventually better than the best fixed expert",
        "the learner's loss over that of the best fixed expert",
        "over_best_fixed",
        at_most=1.0,
    ),
    Statement(
        "2-11",
        "never too far away from the current best expert",
        "largest ratio of the two in one poll",
        "worst_poll",
        at_most=10.0,
    ),
    Statement(
        "2-11",
        "the instantaneous regret is sometimes even negative",
        "share of polls with less loss than the best fixed expert",
        "negative_share",
        at_least=0.01,
    ),
)


def measure_replay(pages: int, seed: int) -> list[Row]:
    """Replay the trace with the thesis's learner, experts and gamma.

    The row has the number of each statement, and as ``figures`` the data of each figure.
    """
    (client,) = replay_trace(TRACE, ReplayConfig(), pages=pages, seed=seed, history=True)
    figures = {name: columns(client) for name, columns in FIGURES.items()}
    return [{"polls": client.replay.polls, **trace_measures(client), "figures": figures}]


def trace_measures(client: ReplayedClient) -> dict[str, float]:
    """Return the number of each statement from the history of a replay, which has its first 20,000 polls."""
    assert client.history is not None  # noqa: S101
    history = client.history.beginning
    losses, own = history.losses, history.facts["suffered"]
    current, best = losses.min(axis=1), losses[:, client.best_expert]
    early, own_early = losses[:BEGINNING].sum(axis=0), own[:BEGINNING].sum()
    worse = np.sort(early)[-(early.size // 2) :]
    later = own[BEGINNING:].sum() / current[BEGINNING:].sum()
    return {
        "over_current_best": float(own.sum() / current.sum()),
        "early_over_later": float(own_early / current[:BEGINNING].sum() / later),
        "over_best_fixed": float(own.sum() / best.sum()),
        "worst_poll": float((own / current).max()),
        "over_worse_half": float(own_early / worse.mean()),
        "over_average": float(own_early / early.mean()),
        "negative_share": float((own < best).mean()),
        "changes_per_hundred": 100 * float((np.diff(losses.argmin(axis=1)) != 0).mean()),
        "fixed_over_current": float(best.sum() / current.sum()),
        **weight_measures(history.weights, losses),
    }


def weight_measures(weights: FloatArray, losses: FloatArray) -> dict[str, float]:
    """Return the numbers of the statements on weights; both arrays have the shape (polls, experts)."""
    polls, experts = weights.shape
    of_best = weights[np.arange(polls), losses.argmin(axis=1)]
    # All weights are equal before the first update, so no expert has the highest weight.
    highest = weights[1:].argmax(axis=1)
    shifts = np.diff(highest) != 0
    return {
        "weight_of_best": float(experts * of_best.mean()),
        "shifts_per_thousand": 1000 * float(shifts.mean()),
        "early_shifts": float(shifts[:BEGINNING].sum()),
        "regaining_experts": float(_regaining_experts(weights[1:ZOOM])),
    }


def _regaining_experts(weights: FloatArray) -> int:
    """Count the experts that have the lowest weight in two or more periods, and the highest weight later."""
    lowest, highest = weights.argmin(axis=1), weights.argmax(axis=1)
    begins = np.diff(lowest, prepend=-1) != 0
    count = 0
    for expert in range(weights.shape[1]):
        periods = np.flatnonzero(begins & (lowest == expert))
        count += bool(periods.size > 1 and (highest[periods[1] :] == expert).any())
    return count


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one replay per seed. Replaying a page takes as long as simulating five pages."""
    pages, work = scale.pages, measure_replay
    return [Task("replay", work, {"pages": pages, "seed": n}, 5 * pages) for n in _seeds(scale, seed)]


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return the verdict on each statement of the thesis, from its simulated measure."""
    frame, seeds = pd.DataFrame(rows.of("replay")), _seeds(scale, seed)
    lines = []
    for each in CLAIMS:
        value, is_bound = confidence_interval(frame[each.column]), each.at_most < np.inf
        lines.append(
            {
                "figure": each.figure,
                "statement": each.text,
                "measure": each.measure,
                "simulated": f"{value:.2f}",
                "holds if": f"at most {each.at_most:g}" if is_bound else f"at least {each.at_least:g}",
                "verdict": judge(value, each.at_least, each.at_most, WORDS),
            }
        )
    counts = Counter(line["verdict"] for line in lines)
    return Findings(
        **study_texts("trace-study"),
        setting=f"trace {TRACE} over a modem line, {scale.pages} pages, learn-alpha, loss inverse with gamma"
        f" 1e-07, experts 100 to 1000 ms by 100; {len(seeds)} replications, seeds {seeds[0]} to"
        f" {seeds[-1]}; figures: seed {seeds[0]}",
        remarks=[
            (
                f"Verdicts on the {len(lines)} statements: {counts['holds']} hold,"
                f" {counts['does not hold']} do not hold, {counts['undecided']} undecided."
            ),
            "The thesis states no numbers for these statements, so the limits are ours.",
            f"Polls in a replay: {confidence_interval(frame['polls']):.0f}.",
        ],
        tables=[Table("Statements of the thesis on this replay", pd.DataFrame(lines))],
        provisional=not scale.full,
        figures=frame["figures"][0],
    )


def _seeds(scale: Scale, seed: int) -> range:
    return scale.judging(seed)[: min(SEEDS, scale.replications)]
