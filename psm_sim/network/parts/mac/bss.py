"""BSS of one access point: its channel, its transmit queue and the supported topology keys."""

from __future__ import annotations

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.common.errors import InputError
from psm_sim.network.parts.frame_timing import RETRY_LIMIT, FrameTiming
from psm_sim.network.parts.mac.ap_queue import ApQueue, MacPort
from psm_sim.network.parts.mac.channel import Channel
from psm_sim.network.topology import Topology

_UNSUPPORTED = (
    ("beacon.busy_air", 0.0),
    ("access_point.group_per_s", 0.0),
    ("access_point.ageing_s", None),
    ("access_point.idle_limit_s", None),
    ("station.keep_alive_s", None),
    ("station.drift_ppm", 0.0),
    ("station.guard_ms", 0.0),
)
"""Topology keys that ``mac.model=dcf`` does not support, each with the value that disables it."""


class Bss:
    """Channel of one access point, and the queue from which the access point sends.

    Raises
    ------
    InputError
        If the topology sets a key that the DCF does not support, or beacons leave too little time
        for frames.
    """

    def __init__(self, env: Environment, topology: Topology) -> None:
        _check(topology)
        self.env, self.ports = env, list[MacPort]()
        self.timing = FrameTiming(topology.mac)
        self.beacons = Beacons(topology.beacon.interval_s)
        self.channel = Channel(env, self.timing, self.beacons, RETRY_LIMIT, topology.seed)
        self.sender = ApQueue(self.channel)

    def several_tim_bits(self) -> bool:
        """Return whether the TIM bits of more than one station are set."""
        return sum(port.tim_bit for port in self.ports) > 1


def _check(topology: Topology) -> None:
    """Raise an error for a topology that the DCF does not support."""
    config = topology.config()
    for key, off in _UNSUPPORTED:
        if config[key] != off:
            raise InputError(
                f"mac: {key}={config[key]:g} is not supported by model=dcf; remove {key} or set"
                " mac.model=link."
            )
    air_s, interval_s = FrameTiming(topology.mac).beacon_s, topology.beacon.interval_s
    if 2 * air_s > interval_s:
        raise InputError(
            f"mac: a beacon must take at most half of the beacon interval, got {1000 * air_s:g} ms of"
            f" {1000 * interval_s:g} ms; increase beacon.interval_ms or mac.beacon_mbps."
        )
