"""Every beacon as an event, also those that nobody hears: for tests of what is worked out afterwards."""

from __future__ import annotations

from math import inf, nextafter

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.radio import Radio
from psm_sim.network.timers import LOWEST_PRIORITY, Alarm


def schedule_every_beacon(env: Environment, beacons: Beacons, radio: Radio) -> None:
    """Look at a radio at every beacon.

    Parameters
    ----------
    env, beacons
        The clock, and when beacons are sent.
    radio
        It works out then what it has done.
    """
    number = 0

    def beacon() -> None:
        nonlocal number
        # One bit later than the beacon, so that the radio has heard it.
        radio.advance(nextafter(beacons.time(number), inf))
        number += 1
        alarm.at(beacons.time(number))

    alarm = Alarm(env, beacon, LOWEST_PRIORITY)
    alarm.at(0.0)
