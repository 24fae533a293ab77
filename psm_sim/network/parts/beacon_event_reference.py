"""One event per beacon, to test the event-free beacon logic against."""

from __future__ import annotations

from math import inf, nextafter

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.radio import Radio
from psm_sim.network.timers import LOWEST_PRIORITY, Alarm


def schedule_every_beacon(env: Environment, beacons: Beacons, radio: Radio) -> None:
    """Schedule an event for every beacon, at which the radio advances its state.

    Parameters
    ----------
    env, beacons
        The clock, and the beacon times.
    radio
        The radio to advance.
    """
    number = 0

    def beacon() -> None:
        nonlocal number
        # advance() excludes its own time: the next float makes the radio process this beacon.
        radio.advance(nextafter(beacons.time(number), inf))
        number += 1
        alarm.at(beacons.time(number))

    alarm = Alarm(env, beacon, LOWEST_PRIORITY)
    alarm.at(0.0)
