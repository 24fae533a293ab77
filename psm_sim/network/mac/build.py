"""Building of a station on the air: its port, its radio and the air itself, put together."""

from __future__ import annotations

from collections.abc import Sequence

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.errors import InputError
from psm_sim.network.access_point import AccessPoint
from psm_sim.network.air_timing import Timing
from psm_sim.network.association import Association
from psm_sim.network.beacon_reception import BeaconReception
from psm_sim.network.doze import Doze
from psm_sim.network.link import Link
from psm_sim.network.mac.air import Air
from psm_sim.network.mac.air_link import AirLink
from psm_sim.network.mac.ap_queue import ApQueue, MacPort
from psm_sim.network.mac.backoffs import Backoffs
from psm_sim.network.mac.faulty import FaultyDevice, FaultyPort, FaultyRadio, is_faulty
from psm_sim.network.mac.power_management import RadioContext
from psm_sim.network.mac.radio import MacRadio
from psm_sim.network.observers import EnergyLedger, ObserverHooks
from psm_sim.network.topology import Topology
from psm_sim.policies.service_period import ServicePeriod

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
        check(topology)
        self.env, self._ports = env, list[MacPort]()
        self.timing = Timing(topology.mac)
        self.beacons = Beacons(topology.beacon.interval_s)
        backoffs = Backoffs(topology.mac.seed)
        self.air = Air(env, self.timing, self.beacons, topology.mac.retry_limit, backoffs)
        self.sender = ApQueue(self.air, self.timing)

    def join(
        self,
        topology: Topology,
        doze: Doze,
        access_point: AccessPoint,
        links: Sequence[Link],
        ledger: EnergyLedger,
        hooks: ObserverHooks,
    ) -> tuple[FaultyDevice | None, MacPort, MacRadio]:
        """Associate a station; return the device if it is one to which faults happen, its port and its radio.

        Parameters
        ----------
        topology
            Of this station.
        doze
            Its doze, not begun.
        access_point
            The part of the access point that is this station's.
        links
            Its ways up and down, on the air, and further ones.
        ledger, hooks
            Where energy is added that belongs to no state, and whom the radio tells.
        """
        up, down = links[:2]
        if not (isinstance(up, AirLink) and isinstance(down, AirLink)):
            raise TypeError("the wireless links are not on the air")
        association = Association(self.env, None, topology.station.association_ms / 1000)
        faulty, ports = is_faulty(topology), (self.env, topology.access_point, down, self.sender)
        port = FaultyPort(association, *ports) if faulty else MacPort(*ports)
        port.tell_held = hooks.held
        self.air.late += hooks.air
        access_point.ports.append(port)
        place = RadioContext(
            topology, self.air, self.timing, self.beacons, port, up, self._crowded, ledger.spend
        )
        ears = (self.env, doze, port, up, hooks.radio, hooks.beacons)
        radio = MacRadio(place, *ears)
        device = None
        if isinstance(port, FaultyPort):
            reception = BeaconReception(topology.beacon, self.stations)
            radio = FaultyRadio(association, reception, place, *ears)
            device = FaultyDevice(port, radio, association, place)
        port.missed = radio.missed
        self._ports.append(port)
        return device, port, radio

    @property
    def stations(self) -> int:
        """The number of stations that have joined."""
        return len(self._ports)

    def _crowded(self) -> bool:
        return sum(port.tim_bit for port in self._ports) > 1


def refuse(service: ServicePeriod | None) -> None:
    """Refuse a policy's service periods, which the air does not know yet."""
    if service is not None:
        raise InputError(
            "mac: model is dcf, and the policy has service periods; expected a policy without, or"
            " mac.model=link."
        )


def check(topology: Topology) -> None:
    """Refuse a topology that has what the air does not know, or no air left for frames."""
    config = topology.config()
    for key, off in _UNUSED:
        if config[key] != off:
            raise InputError(
                f"mac: model is dcf and {key} is {config[key]:g}; expected {off}, since the air does not know"
                " it: leave it out, or take mac.model=link."
            )
    air_s, interval_s = Timing(topology.mac).beacon_s, topology.beacon.interval_s
    if 2 * air_s > interval_s:
        raise InputError(
            f"mac: a beacon takes {1000 * air_s:g} ms every {1000 * interval_s:g} ms; expected at most half"
            " of the time: raise beacon.interval_ms or mac.beacon_mbps."
        )
