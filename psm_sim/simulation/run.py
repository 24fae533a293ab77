"""One policy, one workload, one topology: a world is built, run, and read."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise

from psm_sim.network import Observer, PagesDone, Topology, Usage, World
from psm_sim.policies import Policy
from psm_sim.policies.guard import guarded
from psm_sim.simulation.result import PageRecord, Result, Traffic
from psm_sim.workload.page import Page


def run_policy(
    label: str,
    policy: Policy,
    topology: Topology,
    pages: Sequence[Page],
    always_on_times_s: Sequence[float] | None = None,
    progress: Callable[[int], None] = lambda _: None,
    observers: Sequence[Observer] = (),
) -> Result:
    """Run a fresh copy of *policy* over the pages, and tell it when the run is over.

    *always_on_times_s* are the times of the same pages without power saving; without them the run's own
    times are taken, which makes it the reference.
    """
    fresh = guarded(policy)
    world = World(topology, fresh, [PagesDone(progress), *observers])
    begun = time.perf_counter()
    world.run(pages)
    wall_s = time.perf_counter() - begun
    fresh.finish()
    return Result(
        policy=label,
        parameters=policy.config(),
        page_records=_records(world, always_on_times_s),
        simulated_s=world.env.now,
        wall_s=wall_s,
        events=world.events,
        usage=world.usage(),
        traffic=_traffic(world),
    )


def page_times_s(result: Result) -> list[float]:
    """Return the time of each page of a run, in seconds."""
    return [record.page_time_s for record in result.page_records]


def _records(world: World, always_on_times_s: Sequence[float] | None) -> tuple[PageRecord, ...]:
    times = [visit.ended_s - visit.started_s for visit, _ in world.visits]
    usages = [Usage(0.0, 0.0, 0, 0.0, 0.0, 0.0), *(usage for _, usage in world.visits)]
    rows = zip(world.visits, times, always_on_times_s or times, pairwise(usages), strict=True)
    records = []
    for number, ((visit, _), taken, reference, (before, after)) in enumerate(rows, 1):
        awake_s, asleep_s, beacons, awake_j, asleep_j, beacons_j = (
            end - start for start, end in zip(before, after, strict=True)
        )
        records.append(
            PageRecord(
                number, visit.page.think_s, visit.page.objects, visit.page.total_bytes, visit.started_s,
                taken, reference, taken / reference, awake_j + asleep_j + beacons_j, awake_j, asleep_j,
                beacons_j, awake_s, asleep_s, int(beacons),
            )
        )  # fmt: skip
    return tuple(records)


def _traffic(world: World) -> Traffic:
    return Traffic(
        server_sent_bytes=world.server.sent_bytes,
        client_received_bytes=world.client.received_bytes,
        undelivered_bytes=world.undelivered_bytes,
        dropped_bytes=world.access_point.dropped_bytes,
        dropped_frames=world.access_point.dropped_frames,
        retransmissions=world.server.retransmissions + world.client.retransmissions,
    )
