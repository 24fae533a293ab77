"""Test reference that advances the radio at every beacon instead of lazily."""

from __future__ import annotations

from math import inf, nextafter

from psm_sim.network.timers import LOWEST_PRIORITY, Alarm
from psm_sim.network.world import World


def schedule_every_beacon(world: World) -> None:
    """Advance the radio of *world* at every beacon. Call this before the world runs."""
    number = 0

    def beacon() -> None:
        nonlocal number
        # advance() excludes events at its argument, so pass the next float to include this beacon.
        world.radio.advance(nextafter(world.beacons.time(number), inf))
        number += 1
        alarm.at(world.beacons.time(number))

    alarm = Alarm(world.env, beacon, LOWEST_PRIORITY)
    alarm.at(0.0)
