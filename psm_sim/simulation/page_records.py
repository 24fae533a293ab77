"""Page records of a run, computed lazily from the visits of the world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import nan

from psm_sim.network import World
from psm_sim.network.browser import Visit
from psm_sim.network.energy_ledger import Usage
from psm_sim.simulation.result_parts import PageRecord

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
