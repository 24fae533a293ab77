"""One run of a policy, from its initialisation to its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import PluginError
from psm_sim.common.record_array import RecordArray, record_column
from psm_sim.network import Observer, PagesDone, Topology, World, build_world
from psm_sim.network.browser import Visit
from psm_sim.network.energy_ledger import Usage
from psm_sim.network.page_outcomes import PageError
from psm_sim.policies import Policy
from psm_sim.policies.user_policy_guard import guard_policy, unwrap_policy
from psm_sim.simulation.result import Result
from psm_sim.simulation.result_parts import (
    Origin,
    PageRecord,
    PolicyLike,
    PushRecord,
    Traffic,
    label_of,
    latencies_of,
    spec_text,
)
from psm_sim.workload.messages import NO_MESSAGES, Messages
from psm_sim.workload.page_view import Page

if TYPE_CHECKING:
    from psm_sim.network.parts.mac.cell import Cell


@dataclass(frozen=True)
class Run:
    """Policy in a separate world, initialised and not started.

    Attributes
    ----------
    policy_spec, resolved_topology
        Inputs of the run.
    label : str
        The policy as the user specified it, without its label.
    policy : Policy
        The policy instance of this run.
    parameters : dict
        Parameters of the policy, as plain values.
    world : World
        The simulated network.
    pages_done : PagesDone
        Observer that reports the progress.
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
        """Run the simulation on the pages, once, and finish the policy.

        *always_on_times_s* are the times of the same *pages* without power saving; None uses the times of
        this run. *progress* is called with the number of finished pages after each page. *messages* are
        background traffic.

        Raises
        ------
        PageError
            If a page fails and failures are not reported in the result. It is an
            :class:`~psm_sim.common.errors.InputError`.
        """
        world, started = self.world, time.perf_counter()
        self.pages_done.progress = progress
        try:
            world.run(pages, messages)
        except PageError as error:
            raise error.under(self.label) from None
        except PluginError as error:
            raise error.on_page(len(world.visits) + 1) from error.__cause__
        return self.result(pages, always_on_times_s, time.perf_counter() - started, messages)

    def result(
        self,
        pages: Sequence[Page],
        always_on_times_s: Sequence[float] | None,
        wall_s: float,
        messages: Messages,
    ) -> Result:
        """Return the result of a run whose last page has ended after *wall_s* seconds, and finish the policy.

        *pages*, *always_on_times_s* and *messages* as for :meth:`execute`.
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
            policy_report={**self.policy.report(), **_world_counts(world)},
            power=world.power,
            pushes=PushRecord.of(world.messenger),
            latency=latencies_of(world.messenger),
            reports_failures=self.resolved_topology.can_fail,
            failures={index + 1: reason for index, reason in failures.items()},
            origin=Origin(self.policy_spec, self.resolved_topology, tuple(pages), messages),
            policy_state=unwrap_policy(self.policy),
            policy_label=label_of(self.policy_spec),
        )


def prepare(
    policy_spec: PolicyLike, topology: Topology, observers: Sequence[Observer] = (), cell: Cell | None = None
) -> Run:
    """Build a world for a policy, and initialise the policy.

    *policy_spec* may be a spec, a class or an instance, which is copied. *topology* is resolved. *observers*
    are those of the run. *cell* is that which the station shares with others, if any.

    Raises
    ------
    InputError
        If the policy does not exist or cannot be initialised.
    """
    policy = guard_policy(policy_spec)
    pages_done = PagesDone()
    world = build_world(topology, policy, [pages_done, *observers], cell)
    return Run(policy_spec, topology, spec_text(policy_spec), policy, policy.config(), world, pages_done)


def page_times_s(result: Result) -> list[float]:
    """Return the time of each page in seconds, with nan for failed pages."""
    times_s = record_column(result.page_records, "page_time_s")
    for number in result.failures:
        times_s[number - 1] = nan
    return times_s


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


def _world_counts(world: World) -> dict[str, float]:
    """Return the counters of the wireless hop and the end systems, by name."""
    return {**world.hop.report(), **world.ends.report()}


_ZERO_USAGE = Usage(0.0, 0.0, 0, 0.0, 0.0, 0.0)


def records_of(world: World, always_on_times_s: Sequence[float] | None) -> Iterator[PageRecord]:
    """Yield a record for each page, with the energy used since the end of the previous page.

    *always_on_times_s* are the times of the same pages without power saving; None uses those of this run.
    """
    before = _ZERO_USAGE
    for index, (visit, after) in enumerate(world.visits):
        taken_s = visit.ended_s - visit.started_s
        own_s = nan if visit.failure else taken_s
        reference_s = own_s if always_on_times_s is None else always_on_times_s[index]
        yield _record(index + 1, visit, taken_s, reference_s, after - before)
        before = after


def _record(number: int, visit: Visit, taken_s: float, reference_s: float, used: Usage) -> PageRecord:
    complete_s = nan if visit.failure else taken_s
    return PageRecord(
        page=number,
        think_s=visit.page.think_s,
        objects=visit.page.objects,
        bytes=visit.page.total_bytes,
        start_s=visit.started_s,
        page_time_s=taken_s,
        always_on_time_s=reference_s,
        slowdown=complete_s / reference_s if reference_s else 1.0,  # a pause takes no time under any policy
        energy_j=used.total_j,
        awake_j=used.awake_j,
        asleep_j=used.asleep_j,
        beacons_j=used.beacons_j,
        awake_s=used.awake_s,
        asleep_s=used.asleep_s,
        beacons=used.beacons,
    )
