"""Trace study: which of the thesis's sentences on LPSM over recorded activity hold on the bundled trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.hashing import digest_of
from psm_sim.lab.studies.study import Findings, Scale, Study, Table, join_paragraphs
from psm_sim.replay.replay_config import ReplayConfig
from psm_sim.replay.trace_replay import ReplayedClient, replay_trace
from psm_sim.simulation.scenario_key import DigestCache
from psm_sim.summary_stats import Interval, confidence_interval

TRACE = "ucb"
BEGINNING = 300
"""The polls that count as the early iterations."""

SEEDS = 5
COMMENTARY = join_paragraphs(
    """
    The thesis replayed recordings of Berkeley's users; here they are synthetic pages drawn from
    distributions of the same users, over a modem line. A sentence that does not hold here can have held
    there.
    """
)


@dataclass(frozen=True)
class ThesisClaim:
    """One sentence of the thesis (section 2.5.4), the number that decides it, and the range to hold it.

    ``at_most`` and ``at_least`` bound the number, a column of the rows of :class:`ReplayTask`.
    """

    text: str
    measure: str
    column: str
    at_most: float = np.inf
    at_least: float = -np.inf

    def verdict(self, found: Interval) -> str:
        """Return ``holds``, ``does not hold``, or ``undecided`` where the interval holds the edge."""
        if self.at_least <= found.low and found.high <= self.at_most:
            return "holds"
        return "does not hold" if found.high < self.at_least or found.low > self.at_most else "undecided"

    @property
    def rule(self) -> str:
        """The range in words."""
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
    """One replay with the thesis's learner, experts and gamma; one row with the number of each sentence."""

    kind: ClassVar[str] = "replay"
    labels: ClassVar[Mapping[str, Any]] = {}

    pages: int
    seed: int

    @property
    def weight(self) -> int:
        """Its pages, each of which takes the time of five simulated ones."""
        return 5 * self.pages

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that decides the row."""
        return digest_of([self.kind, TRACE, self.pages, self.seed])

    def run(self) -> list[dict[str, Any]]:
        """Return the row."""
        (client,) = replay_trace(TRACE, ReplayConfig(), pages=self.pages, seed=self.seed, history=True)
        return [{"seed": self.seed, "polls": client.replay.polls, **trace_measures(client)}]


def trace_measures(client: ReplayedClient) -> dict[str, float]:
    """Return the number of each sentence from a replay that kept its history, of its first 20,000 polls."""
    assert client.history is not None  # noqa: S101
    table = client.history.beginning
    losses, own = table.losses, table.facts["suffered"]
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
    """The sentences judged over several draws of the bundled trace."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one replay per seed."""
        return [ReplayTask(scale.pages, each) for each in _seeds(scale, seed)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Judge each sentence by its number; arguments as for :class:`Study`."""
        frame, seeds = pd.DataFrame(rows.of("replay")), _seeds(scale, seed)
        found = {sentence: confidence_interval(frame[sentence.column]) for sentence in SENTENCES}
        return Findings(
            "trace-study",
            "LPSM on network activity without a simulator: which sentences hold (figures 2-9 to 2-11)",
            f"trace {TRACE} over a modem line, {scale.pages} pages, learn-alpha, loss inverse with gamma"
            f" 1e-07, experts 100 to 1000 ms by 100; {len(seeds)} replications, seeds {seeds[0]} to"
            f" {seeds[-1]}",
            remarks=[_tally(found), f"Polls in a replay: {confidence_interval(frame['polls']):.0f}."],
            commentary=COMMENTARY,
            tables=[Table("Sentences of the thesis on this replay", _table(found))],
            provisional=not scale.full,
        )


def _seeds(scale: Scale, seed: int) -> range:
    return scale.judging(seed)[: min(SEEDS, scale.replications)]


def _tally(found: Mapping[ThesisClaim, Interval]) -> str:
    verdicts = [sentence.verdict(value) for sentence, value in found.items()]
    count: Callable[[str], int] = verdicts.count
    return (
        f"Of {len(verdicts)} sentences {count('holds')} hold on this replay, {count('does not hold')} do not,"
        f" {count('undecided')} are undecided."
    )


def _table(found: Mapping[ThesisClaim, Interval]) -> pd.DataFrame:
    return pd.DataFrame([
        {
            "sentence": sentence.text,
            "measure": sentence.measure,
            "ours": f"{value:.2f}",
            "holds if": sentence.rule,
            "verdict": sentence.verdict(value),
        }
        for sentence, value in found.items()
    ])  # fmt: skip


STUDY = TraceStudy()
