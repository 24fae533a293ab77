"""Device: the port and the radio of a station that is more than the papers' model, put together."""

from __future__ import annotations

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.access_point import AccessPoint, Port
from psm_sim.network.association import Association, KeepAlive, is_null, null_frame
from psm_sim.network.beacon_reception import BeaconReception
from psm_sim.network.device.group import GroupFrames
from psm_sim.network.device.port import DevicePort
from psm_sim.network.device.radio import DeviceRadio, RadioTraits
from psm_sim.network.device.service_port import ServicePort
from psm_sim.network.device.service_radio import ServiceRadio
from psm_sim.network.device.transmissions import Transmissions
from psm_sim.network.doze import Doze
from psm_sim.network.link import Link
from psm_sim.network.mac.build import Cell, refuse
from psm_sim.network.mac.faulty import FaultyDevice
from psm_sim.network.observers import EnergyLedger, ObserverHooks
from psm_sim.network.radio import Radio
from psm_sim.network.segment import Segment
from psm_sim.network.sniffed_link import uplink_of, wireless_link
from psm_sim.network.station import Station
from psm_sim.network.topology import Topology
from psm_sim.network.topology_sections import BeaconParameters, LinkParameters
from psm_sim.network.topology_station import StationParameters
from psm_sim.policies.service_period import ServicePeriod


def is_plain(topology: Topology) -> bool:
    """Say whether nothing of a topology goes beyond the papers' model."""
    access_point, power = topology.access_point, topology.power
    off = (topology.beacon.loss, access_point.group_per_s, power.wake_j) == (0, 0, 0)
    given = (access_point.ageing_s, access_point.idle_limit_s, power.transmit_w)
    none = (*given, topology.faults.restart_every_s) == (None, None, None, None)
    return off and none and topology.station == StationParameters()


class Device:
    """Device: a port and a radio with what the topology wants beyond the papers' model.

    Parameters
    ----------
    topology, env
        The scenario in numbers, and the clock.
    beacons, doze
        The times at which the station wakes, and its doze, not begun.
    links
        The wireless links, up and down, and the wired one up.
    ledger, hooks
        Where energy is added that belongs to no state, and whom the radio tells.
    service
        The rule of the station's service periods, if it has any.
    """

    def __init__(
        self,
        topology: Topology,
        env: Environment,
        beacons: Beacons,
        doze: Doze,
        links: tuple[Link, Link, Link],
        ledger: EnergyLedger,
        hooks: ObserverHooks,
        service: ServicePeriod | None = None,
    ) -> None:
        self._topology, self._env, self._told = topology, env, hooks
        (self._up, down, _), station = links, topology.station
        self._down = down
        limit_s = topology.access_point.idle_limit_s
        self.association = association = Association(env, limit_s, station.association_ms / 1000)
        agreed = service is not None and service.interval_s is not None
        reception = BeaconReception(BeaconParameters() if agreed else topology.beacon)
        traits = RadioTraits(station, topology.power, reception, association, self._up, down, ledger.spend)
        place = (env, topology.access_point, down, association, station.ps_poll_ms / 1000)
        ears = (self._up, hooks.radio, hooks.beacons)
        self.port: DevicePort
        self.radio: DeviceRadio
        if service is None:
            self.port = DevicePort(*place)
            self.radio = DeviceRadio(traits, env, doze, self.port, *ears)
        else:
            self.port = port = ServicePort(service, *place)
            self.radio = ServiceRadio(service, traits, beacons, port, env, doze, *ears)
        self.group = self._group() if topology.access_point.group_per_s else None

    def start(self, station: Station) -> None:
        """Begin to keep the association alive, if the station does; end null frames at the access point."""
        every_s = self._topology.station.keep_alive_s
        if every_s is not None:
            KeepAlive(self._env, self.association, every_s, lambda: station.send_null(null_frame()))
        self.radio.tell_group = station.received_group
        forward = self._up.deliver

        def deliver(segment: Segment) -> None:
            if not is_null(segment):
                forward(segment)

        self._up.deliver = deliver

    def forget(self, back_s: float) -> int:
        """Lose the association and what is held; the access point is back at *back_s* seconds.

        Return how many of the next frames that reach the station are lost: those on the link.
        """
        self.association.lose(back_s)
        self.port.empty()
        self.radio.unannounced()
        return self._down.in_flight

    def report(self) -> dict[str, float]:
        """Return what can go wrong, by name: group frames and beacons missed, associations renewed."""
        found: dict[str, float] = {}
        if self.group is not None:
            found |= {"group frames": self.group.sent, "group frames missed": self.group.missed}
        if self._topology.beacon.loss:
            found["beacons missed"] = self.radio.beacons_missed
        restarts = self._topology.faults.restart_every_s is not None
        if restarts or self._topology.access_point.idle_limit_s is not None:
            found["associations renewed"] = self.association.renewals
        return found

    def _group(self) -> GroupFrames:
        topology, access_point = self._topology, self._topology.access_point
        hop = LinkParameters(access_point.group_rate_mbps, topology.wireless.latency_ms)
        link = wireless_link(self._env, "wireless down", hop, self._told.frame, self._told.air)
        link.deliver = self.radio.receive_group
        beacons, beacon = Beacons(topology.beacon.interval_s), topology.beacon
        return GroupFrames(
            self._env, beacons, beacon.dtim_period, access_point, link, self.radio, beacon.loss_seed
        )


def build_radio(
    topology: Topology,
    env: Environment,
    beacons: Beacons,
    doze: Doze,
    access_point: AccessPoint,
    links: tuple[Link, Link, Link],
    ledger: EnergyLedger,
    hooks: ObserverHooks,
    service: ServicePeriod | None,
    cell: Cell | None = None,
) -> tuple[Device | FaultyDevice | None, Port, Radio]:
    """Associate a station; return the device if it is one, its port and its radio.

    Parameters
    ----------
    topology, env, beacons, doze, links, ledger, hooks, service
        As for :class:`Device`.
    access_point
        What the station is associated with.
    cell
        The air that it shares with other stations, if there are any.
    """
    if topology.mac.model == "dcf":
        refuse(service)
        air = cell or Cell(env, topology)
        return air.join(topology, doze, access_point, links, ledger, hooks)
    if is_plain(topology) and service is None:
        port = access_point.associate(links[1])
        port.tell_held = hooks.held
        # Who is told of each frame is told when it is queued on the second link, which takes an event.
        uplink = links[0] if hooks.frame or topology.can_fail else uplink_of(env, links[0], links[2])
        return None, port, Radio(env, doze, port, uplink, hooks.radio, hooks.beacons)
    device = Device(topology, env, beacons, doze, links, ledger, hooks, service)
    access_point.ports.append(device.port)
    device.port.tell_held = hooks.held
    return device, device.port, device.radio


def transmissions(topology: Topology, ledger: EnergyLedger) -> list[Transmissions]:
    """Return the observer that charges what is sent, if transmitting takes a power of its own."""
    power = topology.power
    # A radio on the air charges by itself, since it also sends what is no packet.
    if power.transmit_w is None or topology.mac.model == "dcf":
        return []
    return [Transmissions(power.transmit_w - power.awake_w, ledger.spend)]
