"""Rounds of a learner in a run: logged as polls by an observer, and learned again afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from psm_sim.arrays import Floats
from psm_sim.network import Observer, load_topology
from psm_sim.policies import Poll, Rest
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import prepare
from psm_sim.workload import Workload


class PollLog(Observer):
    """Log of the polls that a policy was asked after, each with the time in seconds."""

    def __init__(self) -> None:
        self.polls: list[tuple[float, Poll]] = []

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Keep the poll, if there was one to learn from."""
        if poll is not None:
            self.polls.append((time_s, poll))


class Round(NamedTuple):
    """Round of learning: its time, the experts' losses (n,), the mixture's, and the time predicted next."""

    time_s: float
    losses: Floats
    mixture: float
    polling_ms: float


def learned_rounds(policy: Lpsm, polls: Sequence[tuple[float, Poll]], beacon_s: float) -> list[Round]:
    """Return the rounds that a run learned, by learning again from its polls.

    Parameters
    ----------
    policy
        The policy of the run, or one like it; it begins anew. Its loss must not adapt, and it must not
        learn from dozes that an uplink packet cuts short: of these there is no log.
    polls
        Times in seconds and polls, in order.
    beacon_s
        The beacon interval of the run, in seconds.
    """
    policy.start(beacon_s)
    rounds = []
    for time_s, poll in polls:
        losses = policy.losses(poll)
        mixture = policy.learner.update(losses)
        rounds.append(Round(time_s, losses, mixture, policy.learner.predict(policy.times_ms)))
    return rounds


def logged_run(
    workload: Workload, gamma: float | None, alpha: float | None, times_s: Sequence[float] | None = None
) -> tuple[Result, list[Round]]:
    """Run a learner over the pages; return the result, and the rounds that it learned.

    Parameters
    ----------
    workload
        Where the pages are from.
    gamma
        Of the loss; ``None``: as published.
    alpha
        Its switching rate; ``None``: Learn-alpha.
    times_s
        Time of each page without power saving, in seconds; without them no slowdown is measured.
    """
    topology, policy, log = load_topology(), Lpsm(gamma=gamma, alpha=alpha), PollLog()
    run = prepare(policy, topology, [log]).over(workload.pages, times_s)
    return run, learned_rounds(policy, log.polls, topology.beacon.interval_s)
