"""Study of the thesis's statements on LPSM over recorded activity, tested on the bundled trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from psm_sim.campaign.parallel_tasks import Rows, Task
from psm_sim.common.hashing import digest_of
from psm_sim.common.summary_stats import Interval, confidence_interval
from psm_sim.lab.studies.study import Findings, Scale, Study, Table, join_paragraphs
from psm_sim.replay.replay_config import ReplayConfig
from psm_sim.replay.trace_replay import ReplayedClient, replay_trace
from psm_sim.simulation.scenario import DigestCache

TRACE = "ucb"
BEGINNING = 300
"""Number of polls that count as the early iterations."""

SEEDS = 5
COMMENTARY = join_paragraphs(
    """
    The thesis replayed recordings of Berkeley's users. This study replays synthetic pages over a modem line,
    sampled from distributions of the same users. A statement that does not hold here may have held there.
    """
)


@dataclass(frozen=True)
class ThesisClaim:
    """Statement of the thesis (section 2.5.4) with the number and the range that decide about it.

    Parameters
    ----------
    text : str
        Statement.
    measure : str
        Description of the number.
    column : str
        Column of the number in the rows of :class:`ReplayTask`.
    at_most, at_least : float
        Range in which the statement holds.
    """

    text: str
    measure: str
    column: str
    at_most: float = np.inf
    at_least: float = -np.inf

    def verdict(self, value: Interval) -> str:
        """Return ``holds``, ``does not hold``, or ``undecided`` if *value* contains an end of the range."""
        if self.at_least <= value.low and value.high <= self.at_most:
            return "holds"
        return "does not hold" if value.high < self.at_least or value.low > self.at_most else "undecided"

    @property
    def rule(self) -> str:
        """Range as text."""
        return f"at most {self.at_most:g}" if self.at_most < np.inf else f"at least {self.at_least:g}"


SENTENCES = (
    ThesisClaim(
        "loss close to or better than that of the best current expert",
        "the learner's loss over that of the best expert of each poll",
        "over_current_best",
        at_most=1.1,
    ),
    ThesisClaim(
        "eventually better than the best fixed expert",
        "the learner's loss over that of the best fixed expert",
        "over_best_fixed",
        at_most=1.0,
    ),
    ThesisClaim(
        "never too far away from the current best expert",
        "largest ratio of the two in one poll",
        "worst_poll",
        at_most=10.0,
    ),
    ThesisClaim(
        "even early it beats the worse half of the experts",
        f"loss of the first {BEGINNING} polls over the mean of the worse five experts",
        "over_worse_half",
        at_most=1.0,
    ),
    ThesisClaim(
        "the instantaneous regret is sometimes even negative",
        "share of polls with less loss than the best fixed expert",
        "negative_share",
        at_least=0.01,
    ),
    ThesisClaim(
        "the identity of the best current expert changes",
        "changes in a hundred polls",
        "changes_per_hundred",
        at_least=1.0,
    ),
    ThesisClaim(
        "no single polling time works well all the time",
        "loss of the best fixed expert over that of the best expert of each poll",
        "fixed_over_current",
        at_least=1.1,
    ),
)


@dataclass(frozen=True)
class ReplayTask:
    """Task that replays the trace with the thesis's learner, experts and gamma.

    Its row has the number of each statement.
    """

    kind: ClassVar[str] = "replay"
    labels: ClassVar[Mapping[str, Any]] = {}

    pages: int
    seed: int

    @property
    def weight(self) -> int:
        """Five times the number of pages, because a replayed page takes as long as five simulated pages."""
        return 5 * self.pages

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that determines the row."""
        return digest_of([self.kind, TRACE, self.pages, self.seed])

    def run(self) -> list[dict[str, Any]]:
        """Run the replay and return the row."""
        (client,) = replay_trace(TRACE, ReplayConfig(), pages=self.pages, seed=self.seed, history=True)
        return [{"seed": self.seed, "polls": client.replay.polls, **trace_measures(client)}]


def trace_measures(client: ReplayedClient) -> dict[str, float]:
    """Return the number of each statement from the history of a replay, which has its first 20,000 polls."""
    assert client.history is not None  # noqa: S101
    history = client.history.beginning
    losses, own = history.losses, history.facts["suffered"]
    current, best = losses.min(axis=1), losses[:, client.best_expert]
    early = losses[:BEGINNING].sum(axis=0)
    worse = np.sort(early)[-(early.size // 2) :]
    return {
        "over_current_best": float(own.sum() / current.sum()),
        "over_best_fixed": float(own.sum() / best.sum()),
        "worst_poll": float((own / current).max()),
        "over_worse_half": float(own[:BEGINNING].sum() / worse.mean()),
        "negative_share": float((own < best).mean()),
        "changes_per_hundred": 100 * float((np.diff(losses.argmin(axis=1)) != 0).mean()),
        "fixed_over_current": float(best.sum() / current.sum()),
    }


class TraceStudy(Study):
    """Statements of the thesis, judged on several samples of the bundled trace."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one replay per seed; *scale* and *seed* as for :class:`Study`."""
        return [ReplayTask(scale.pages, number) for number in _seeds(scale, seed)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Judge each statement by its number; arguments as for :class:`Study`."""
        frame, seeds = pd.DataFrame(rows.of("replay")), _seeds(scale, seed)
        values = {claim: confidence_interval(frame[claim.column]) for claim in SENTENCES}
        return Findings(
            "trace-study",
            "Statements of the thesis on LPSM, replayed without a simulator (figures 2-9 to 2-11)",
            f"trace {TRACE} over a modem line, {scale.pages} pages, learn-alpha, loss inverse with gamma"
            f" 1e-07, experts 100 to 1000 ms by 100; {len(seeds)} replications, seeds {seeds[0]} to"
            f" {seeds[-1]}",
            remarks=[_tally(values), f"Polls in a replay: {confidence_interval(frame['polls']):.0f}."],
            commentary=COMMENTARY,
            tables=[Table("Sentences of the thesis on this replay", _table(values))],
            provisional=not scale.full,
        )


def _seeds(scale: Scale, seed: int) -> range:
    return scale.judging(seed)[: min(SEEDS, scale.replications)]


def _tally(values: Mapping[ThesisClaim, Interval]) -> str:
    verdicts = [claim.verdict(value) for claim, value in values.items()]
    count: Callable[[str], int] = verdicts.count
    return (
        f"Verdicts on the {len(verdicts)} statements: {count('holds')} holds,"
        f" {count('does not hold')} does not hold, {count('undecided')} undecided."
    )


def _table(values: Mapping[ThesisClaim, Interval]) -> pd.DataFrame:
    return pd.DataFrame([
        {
            "sentence": claim.text,
            "measure": claim.measure,
            "ours": f"{value:.2f}",
            "holds if": claim.rule,
            "verdict": claim.verdict(value),
        }
        for claim, value in values.items()
    ])  # fmt: skip


STUDY = TraceStudy()
