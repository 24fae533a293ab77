"""Replay of a trace: a learner over network activity, client by client (the thesis's trace study).

Source: thesis, section 2.5.4, "Trace-based evaluation framework" to "Competitive analysis".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from psm_sim.component_spec import Spec
from psm_sim.errors import InputError
from psm_sim.limits import MAX_POLLS
from psm_sim.progress import Progress
from psm_sim.replay.binned_arrivals import BinnedArrivals
from psm_sim.replay.poller import ReplayPoller
from psm_sim.replay.replay_config import ReplayConfig
from psm_sim.replay.replay_history import ReplayHistory
from psm_sim.workload.activity_loading import load_activities
from psm_sim.workload.modem_transfer_times import NominalTransfers
from psm_sim.workload.network_activity import Activity, Transfer, without_gaps


@dataclass(frozen=True)
class ReplayedClient:
    """One client's activity, the method that polled it, and the outcome."""

    activity: Activity
    method: ReplayConfig
    replay: ReplayPoller
    history: ReplayHistory | None = None

    @property
    def best_expert(self) -> int:
        """The index of the expert with the least cumulative loss, the best fixed one in hindsight."""
        return int(self.replay.expert_losses.argmin())

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values; losses and regrets are cumulative, in nats."""
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
    clients: str | None = None,
    nominal: NominalTransfers | None = None,
    history: bool = False,
    progress: Progress | None = None,
) -> list[ReplayedClient]:
    """Replay each client that *trace* chooses, each with a learner that has learnt nothing.

    Parameters
    ----------
    trace : a bundled trace or a file, as text or spec; a recording is taken as it was.
    method : how it is polled and learned from.
    pages, seed, nominal : the number of pages, at least 1, the seed with which they are drawn, and how long
        their transfers take: for traces that are no recordings.
    clients : the recording's parameter of that name: the number of the busiest, ``all``, or an identifier.
    history : keep what figures need.
    progress : called with the bytes fetched, those in all, and the client.

    Raises
    ------
    InputError
        If the trace, a parameter or the choice is unusable, or there is nothing to replay.

    Examples
    --------
    >>> (client,) = replay_trace("ucb", pages=5)
    >>> client.replay.buffered_bytes == client.activity.total_bytes
    True
    """
    method = method or ReplayConfig()
    activities = load_activities(trace, pages, seed, nominal or NominalTransfers(), clients)
    return [replay_activity(activity, method, history=history, progress=progress) for activity in activities]


def replay_activity(
    activity: Activity, method: ReplayConfig, *, history: bool = False, progress: Progress | None = None
) -> ReplayedClient:
    """Replay one client.

    Parameters
    ----------
    activity : the client's transfers, at least one.
    method, history, progress : as for :func:`replay_trace`.

    Raises
    ------
    InputError
        If the client has no transfer, or the loss fails.
    """
    if not activity.transfers:
        raise InputError(f"client {activity.client} has no request to replay; expected at least one.")
    _check_length(activity, method)
    kept = ReplayHistory(method.clock.times_ms.size) if history else None
    arrivals = BinnedArrivals(_squeezed(activity, method.max_gap_s))
    replay = ReplayPoller(arrivals, method.make_learner(), method.tried_loss, method.clock, kept)
    total = activity.total_bytes
    replay.run(method.polls, progress and (lambda done: progress(done, total, activity.client)))
    return ReplayedClient(activity, method, replay, kept)


def _squeezed(activity: Activity, max_gap_s: float | None) -> Iterable[Transfer]:
    if max_gap_s is None:
        return activity.transfers
    return without_gaps(activity.transfers, round(max_gap_s * 1e6))


def _check_length(activity: Activity, method: ReplayConfig) -> None:
    """Refuse activity that lasts so long that polling all of it would not end in reasonable time."""
    transfers = _squeezed(activity, method.max_gap_s)
    lasts_s = (max(transfer.end_us for transfer in transfers) - activity.transfers[0].start_us) / 1e6
    polls = lasts_s / (method.clock.times_ms[-1] / 1e3)
    if method.polls is None and polls > MAX_POLLS:
        raise InputError(
            f"client {activity.client}: {lasts_s:g} s take more than {MAX_POLLS:,} polls; give a number "
            "of polls, cut silences with max_gap_s, or choose longer polling times."
        )
