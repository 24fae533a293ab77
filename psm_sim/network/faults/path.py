"""Path of frames between a station and its server, on which faults happen."""

from __future__ import annotations

from typing import NamedTuple

from psm_sim.network.device.build import Device
from psm_sim.network.link import Link
from psm_sim.network.mac.faulty import FaultyDevice
from psm_sim.network.radio import Radio
from psm_sim.network.station import Station


class Path(NamedTuple):
    """Path of frames: its four links, and the radio at its end, with its station and device."""

    wireless_up: Link
    wired_up: Link
    wired_down: Link
    wireless_down: Link
    radio: Radio
    station: Station
    device: Device | FaultyDevice | None
