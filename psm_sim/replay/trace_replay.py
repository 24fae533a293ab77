"""Trace replay of a learner over the network activity of each client.

Source: thesis, section 2.5.4, "Trace-based evaluation framework" to "Competitive analysis".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_POLLS
from psm_sim.common.progress import Progress
from psm_sim.replay.binned_arrivals import BinnedArrivals
from psm_sim.replay.polling_learner import ReplayPoller
from psm_sim.replay.replay_config import ReplayConfig
from psm_sim.replay.replay_history import ReplayHistory
from psm_sim.workload.activity_loading import load_activities
from psm_sim.workload.network_activity import Activity, NominalTransfers, Transfer, without_gaps


@dataclass(frozen=True)
class ReplayedClient:
    """Replay of one client: its activity, the configuration and the outcome."""

    activity: Activity
    method: ReplayConfig
    replay: ReplayPoller
    history: ReplayHistory | None = None

    @property
    def best_expert(self) -> int:
        """Index of the expert with the minimum cumulative loss (the best fixed expert in hindsight)."""
        return int(self.replay.expert_losses.argmin())

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values. Losses and regrets are cumulative, in nats."""
        replay, times_ms, best = self.replay, self.replay.times_ms.tolist(), self.best_expert
        fixed, current = replay.expert_losses.item(best), replay.current_best
        return {
            "client": self.activity.client,
            "remark": self.activity.remark,
            "synthetic": self.activity.synthetic,
            "trace_parameters": self.activity.parameters,
            "polls": replay.polls,
            "replayed_s": replay.now_us / 1e6,
            "bytes": replay.buffered_bytes,
            "trace_bytes": self.activity.total_bytes,
            "polling_ms": {
                "mean": replay.now_us / 1e3 / replay.polls,
                "min": replay.shortest_us / 1e3,
                "max": replay.longest_us / 1e3,
            },
            "loss": {"mixture": replay.mixture, "suffered": replay.suffered},
            "best_expert": {"ms": times_ms[best], "loss": fixed},
            "current_best_loss": current,
            "expert_losses": dict(
                zip(map("{:g}".format, times_ms), replay.expert_losses.tolist(), strict=True)
            ),
            "regret": {
                name: {"best_expert": loss - fixed, "current_best": loss - current}
                for name, loss in (("mixture", replay.mixture), ("suffered", replay.suffered))
            },
        }


def replay_trace(
    trace: str | Spec = "ucb",
    method: ReplayConfig | None = None,
    *,
    pages: int = 100,
    seed: int = 1,
    nominal: NominalTransfers | None = None,
    history: bool = False,
    progress: Progress | None = None,
) -> list[ReplayedClient]:
    """Replay each client that *trace* selects, each with a new learner.

    Parameters
    ----------
    trace : str or Spec
        Bundled trace or file. A recording is replayed as it is.
    method : ReplayConfig or None
        Configuration of the replay; None uses the defaults.
    pages : int
        Number of pages, at least 1. Used if the trace is not a recording.
    seed : int
        Seed of the sampled pages. Used if the trace is not a recording.
    nominal : NominalTransfers or None
        Model of the transfer times. Used if the trace is not a recording.
    history : bool
        Whether to record the data for figures.
    progress : callable or None
        Called with the number of retrieved bytes, the total number of bytes, and the client.

    Returns
    -------
    list of ReplayedClient
        Outcome of each client.

    Raises
    ------
    InputError
        If the trace, a parameter or the selection of clients is invalid, or there is nothing to replay.

    Examples
    --------
    >>> (client,) = replay_trace("ucb", pages=5)
    >>> client.replay.buffered_bytes == client.activity.total_bytes
    True
    """
    method = method or ReplayConfig()
    activities = load_activities(trace, pages, seed, nominal or NominalTransfers())
    return [replay_activity(activity, method, history=history, progress=progress) for activity in activities]


def replay_activity(
    activity: Activity, method: ReplayConfig, *, history: bool = False, progress: Progress | None = None
) -> ReplayedClient:
    """Replay the *activity* of one client. *method*, *history* and *progress* as for :func:`replay_trace`.

    Raises
    ------
    InputError
        If the client has no transfers, or the loss fails.
    """
    if not activity.transfers:
        raise InputError(f"client {activity.client} has no requests to replay.")
    _check_length(activity, method)
    recorder = ReplayHistory(method.clock.times_ms.size) if history else None
    arrivals = BinnedArrivals(_limit_gaps(activity, method.max_gap_s))
    replay = ReplayPoller(arrivals, method.make_learner(), method.tried_loss, method.clock, recorder)
    total = activity.total_bytes
    replay.run(method.polls, progress and (lambda done: progress(done, total, activity.client)))
    return ReplayedClient(activity, method, replay, recorder)


def _limit_gaps(activity: Activity, max_gap_s: float | None) -> Iterable[Transfer]:
    if max_gap_s is None:
        return activity.transfers
    return without_gaps(activity.transfers, round(max_gap_s * 1e6))


def _check_length(activity: Activity, method: ReplayConfig) -> None:
    """Reject activity that is too long to poll in reasonable time."""
    transfers = _limit_gaps(activity, method.max_gap_s)
    lasts_s = (max(transfer.end_us for transfer in transfers) - activity.transfers[0].start_us) / 1e6
    polls = lasts_s / (method.clock.times_ms[-1] / 1e3)
    if method.polls is None and polls > MAX_POLLS:
        raise InputError(
            f"client {activity.client}: {lasts_s:g} s of activity need more than {MAX_POLLS:,} polls; limit "
            "the polls, shorten idle periods with max_gap_s, or increase the polling times."
        )
