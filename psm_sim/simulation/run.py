"""Run: one policy in a world of its own, from its start to its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

from psm_sim.component_spec import Spec
from psm_sim.errors import PluginError
from psm_sim.network import Observer, PagesDone, Topology, World, build_world
from psm_sim.network.page_error import PageError
from psm_sim.policies import POLICIES, Policy, make_policy
from psm_sim.policies.user_policy_guard import guard_policy, probe_and_guard, unwrap_policy
from psm_sim.record_array import RecordArray, record_column
from psm_sim.simulation.message_latency import latencies_of
from psm_sim.simulation.page_records import records_of
from psm_sim.simulation.references import PolicyLike
from psm_sim.simulation.result import Result
from psm_sim.simulation.run_records import Origin, PageRecord, PushRecord, Traffic
from psm_sim.workload.messages import NO_MESSAGES, Messages
from psm_sim.workload.page_view import Page

if TYPE_CHECKING:
    from psm_sim.network.mac.cell import Cell


@dataclass(frozen=True)
class Run:
    """One policy in a world of its own, started and ready.

    ``policy_spec`` and ``resolved_topology`` are what it was made from, ``label`` is the policy as the user named it,
    ``parameters`` its parameters as plain values.
    """

    policy_spec: PolicyLike
    resolved_topology: Topology
    label: str
    policy: Policy
    parameters: dict[str, Any]
    world: World
    pages_done: PagesDone

    def execute(
        self,
        pages: Sequence[Page],
        always_on_times_s: Sequence[float] | None = None,
        progress: Callable[[int], None] = lambda _: None,
        messages: Messages = NO_MESSAGES,
    ) -> Result:
        """Run over the pages, once, and tell the policy when it is over.

        Parameters
        ----------
        pages
            At least one.
        always_on_times_s
            The times of the same pages without power saving, in seconds; ``None``: this run is the one
            without, and its own times are taken.
        progress
            Called with the number of pages done after each page.
        messages
            Sent meanwhile, beside the pages.

        Raises
        ------
        PageError
            If a page cannot be loaded and is not reported: it is an :class:`~psm_sim.errors.InputError`.
        """
        world, begun = self.world, time.perf_counter()
        self.pages_done.progress = progress
        try:
            world.run(pages, messages)
        except PageError as failed:
            raise failed.under(self.label) from None
        except PluginError as failed:
            raise failed.on_page(len(world.visits) + 1) from failed.__cause__
        return self.result(pages, always_on_times_s, time.perf_counter() - begun, messages)

    def result(
        self,
        pages: Sequence[Page],
        always_on_times_s: Sequence[float] | None,
        wall_s: float,
        messages: Messages,
    ) -> Result:
        """Return the result of a run whose last page is complete now, and tell the policy that it is over.

        Parameters
        ----------
        pages, always_on_times_s, messages
            As for :meth:`over`.
        wall_s
            What the run has taken, in seconds.
        """
        world = self.world
        self.policy.finish()
        records, failures = (
            RecordArray(PageRecord, records_of(world, always_on_times_s)),
            world.visits.failures,
        )
        world.visits.forget()
        return Result(
            policy=self.label,
            parameters=self.parameters,
            page_records=records,
            simulated_s=world.env.now,
            wall_s=wall_s,
            events=world.events,
            usage=world.usage(),
            traffic=_traffic(world),
            policy_report={**self.policy.report(), **_counted(world)},
            power=world.power,
            pushes=PushRecord.of(world.messenger),
            latency=latencies_of(world.messenger),
            reports_failures=self.resolved_topology.reports_failures,
            failures={index + 1: reason for index, reason in failures.items()},
            origin=Origin(self.policy_spec, self.resolved_topology, tuple(pages), messages),
            policy_state=unwrap_policy(self.policy),
        )


def prepare(
    policy_spec: PolicyLike, topology: Topology, observers: Sequence[Observer] = (), cell: Cell | None = None
) -> Run:
    """Build a world for a policy, which starts it.

    Parameters
    ----------
    policy_spec
        A text or spec that names a policy, or one already made, which is copied and not changed.
    topology
        The topology.
    observers
        Told what happens in the run.
    cell
        The air that it shares with other stations, if there are any.

    Raises
    ------
    InputError
        If there is no such policy, or it cannot be made or started.
    """
    policy = _fresh(policy_spec)
    label = policy_spec.name if isinstance(policy_spec, Policy) else str(policy_spec)
    done = PagesDone()
    world = build_world(topology, policy, [done, *observers], cell)
    return Run(policy_spec, topology, label, policy, policy.config(), world, done)


def page_times_s(result: Result) -> list[float]:
    """Return the time of each page of a run, in seconds; nan of one that has failed."""
    times_s = record_column(result.page_records, "page_time_s")
    for number in result.failures:
        times_s[number - 1] = nan
    return times_s


def _fresh(policy_spec: PolicyLike) -> Policy:
    """Return a policy for one run alone: made from its text, or a copy; a user's own one is guarded."""
    if isinstance(policy_spec, Policy):
        return guard_policy(policy_spec)
    spec = Spec.of(policy_spec, "policy")
    policy = make_policy(spec)
    return policy if spec.name in POLICIES.names() else probe_and_guard(policy)


def _traffic(world: World) -> Traffic:
    return Traffic(
        server_sent_bytes=world.server.sent_bytes,
        client_received_bytes=world.client.received_bytes,
        undelivered_bytes=world.undelivered_bytes,
        dropped_bytes=world.access_point.dropped_bytes,
        dropped_frames=world.access_point.dropped_frames,
        retransmissions=world.server.retransmissions + world.client.retransmissions,
        lost_bytes=world.ends.lost_bytes("down"),
        lost_frames=world.ends.lost_frames("down"),
    )


def _counted(world: World) -> dict[str, float]:
    """Return what the hop and the end systems have counted, by name."""
    return {**world.hop.report(), **world.ends.report()}
