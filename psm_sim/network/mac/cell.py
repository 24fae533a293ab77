"""Cell: the air around one access point, and what a topology may have on it."""

from __future__ import annotations

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.errors import InputError
from psm_sim.network.frame_timing import FrameTiming
from psm_sim.network.mac.ap_queue import ApQueue, MacPort
from psm_sim.network.mac.channel import Channel
from psm_sim.network.mac.random_backoffs import RandomBackoffs
from psm_sim.network.topology import Topology

_UNUSED = (
    ("access_point.group_per_s", 0.0),
    ("access_point.ageing_s", None),
    ("access_point.idle_limit_s", None),
    ("station.keep_alive_s", None),
    ("station.drift_ppm", 0.0),
    ("station.guard_ms", 0.0),
    ("station.ps_poll_ms", 0.0),
)
"""Keys of a device that the air does not know yet, with the value that leaves them out."""


class Cell:
    """Cell of one access point: the air, and who sends on it for the access point.

    Raises
    ------
    InputError
        If the topology has what the air does not know, or beacons leave no air for frames.
    """

    def __init__(self, env: Environment, topology: Topology) -> None:
        check_topology(topology)
        self.env, self.ports = env, list[MacPort]()
        self.timing = FrameTiming(topology.mac)
        self.beacons = Beacons(topology.beacon.interval_s)
        backoffs = RandomBackoffs(topology.mac.seed)
        self.air = Channel(env, self.timing, self.beacons, topology.mac.retry_limit, backoffs)
        self.sender = ApQueue(self.air, self.timing)

    @property
    def stations(self) -> int:
        """The number of stations that have joined."""
        return len(self.ports)

    def crowded(self) -> bool:
        """Say whether a beacon would name more than one station now."""
        return sum(port.tim_bit for port in self.ports) > 1


def check_topology(topology: Topology) -> None:
    """Refuse a topology that has what the air does not know, or no air left for frames."""
    config = topology.config()
    for key, off in _UNUSED:
        if config[key] != off:
            raise InputError(
                f"mac: model is dcf and {key} is {config[key]:g}; expected {off}, since the air does not know"
                " it: leave it out, or take mac.model=link."
            )
    air_s, interval_s = FrameTiming(topology.mac).beacon_s, topology.beacon.interval_s
    if 2 * air_s > interval_s:
        raise InputError(
            f"mac: a beacon takes {1000 * air_s:g} ms every {1000 * interval_s:g} ms; expected at most half"
            " of the time: raise beacon.interval_ms or mac.beacon_mbps."
        )
