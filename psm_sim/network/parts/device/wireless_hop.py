"""Wireless hop of a real device, with its port, its radio, and group addressed frames (ARP, mDNS)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.common.random_streams import random_stream
from psm_sim.network.energy_ledger import EnergyLedger
from psm_sim.network.link import Link
from psm_sim.network.observers import Observer
from psm_sim.network.parts.association_timeout import POLL_GRACE_S, Association, IdleTimer
from psm_sim.network.parts.beacon_loss import BeaconReception
from psm_sim.network.parts.device.access_point_port import DevicePort
from psm_sim.network.parts.device.radio import DeviceRadio
from psm_sim.network.parts.device.service_periods import (
    ServicePeriodLedger,
    ServicePeriodPort,
    ServicePeriodRadio,
    check_service_period,
)
from psm_sim.network.segment import GROUP, Segment, is_null, null_frame
from psm_sim.network.sniffed_link import SniffedLink
from psm_sim.network.station import Station
from psm_sim.network.timers import WITH_DTIM, Alarm
from psm_sim.network.topology import Topology
from psm_sim.network.topology_sections import AccessPointParameters, BeaconParameters, LinkParameters
from psm_sim.network.wireless_hop import WirelessHop
from psm_sim.policies.base import ServicePeriod

_GROUP_MBPS = 1.0
"""Bit rate of group addressed frames, the lowest basic rate at 2.4 GHz."""


class GroupFrames:
    """Group addressed frames of one access point, which are buffered until the next DTIM beacon.

    The frames arrive as a Poisson process.

    Attributes
    ----------
    sent, missed : int
        Number of frames sent, and number of these that the station missed because it did not receive the DTIM
        beacon.
    """

    def __init__(
        self,
        env: Environment,
        beacons: Beacons,
        dtim_period: int,
        parameters: AccessPointParameters,
        link: Link,
        listener: DeviceRadio,
        seed: int,
    ) -> None:
        self._beacons, self._period, self._link, self._listener = beacons, dtim_period, link, listener
        self._mean_s, self._bytes = 1 / parameters.group_per_s, parameters.group_bytes
        self._random = random_stream(seed, "network.group frames")
        self._alarm = Alarm(env, self._send, WITH_DTIM)
        self._next_s = float(self._random.exponential(self._mean_s))
        self.sent = self.missed = self._waiting = self._number = 0
        self._plan()

    def _plan(self) -> None:
        """Schedule the next transmission of group frames, after a DTIM beacon, and sample their number."""
        beacon = self._beacons.after(self._next_s)
        self._number = -(-beacon // self._period) * self._period
        due_s = self._beacons.time(self._number)
        while self._next_s < due_s:
            self._waiting += 1
            self._next_s += float(self._random.exponential(self._mean_s))
        self._alarm.at(due_s)

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, 0
        self.sent += waiting
        if self._listener.accepts_group(self._number, waiting):
            for _ in range(waiting):
                self._link.send(self._frame())
        else:
            self.missed += waiting
            if isinstance(self._link, SniffedLink):
                self._link.report_unreceived(self._frame(), waiting)
        self._plan()

    def _frame(self) -> Segment:
        return Segment(GROUP, 0, self._bytes - 40, 0, False, False, self._bytes)


class Transmissions(Observer):
    """Observer that adds the transmit time of a station to its *ledger*."""

    def __init__(self, ledger: EnergyLedger) -> None:
        self._ledger = ledger

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Count a frame that the station transmits."""
        if link.name == "wireless up":
            self._ledger.transmit(link.air_time_s(segment))


class DeviceHop(WirelessHop):
    """Wireless hop with the device features that the topology or the policy requires."""

    def __init__(self, topology: Topology, service: ServicePeriod | None) -> None:
        check_service_period(topology, service)
        super().__init__(topology)
        self._service = service
        if service is not None and service.interval_s is not None:
            self.beacons = Beacons(service.interval_s)
            self.ledger = ServicePeriodLedger(topology.power, service.overhead_s)
        access_point, takes_s = topology.access_point, topology.station.association_ms / 1000
        limit_s = access_point.idle_limit_s
        if limit_s is not None and access_point.poll_idle:
            limit_s += POLL_GRACE_S
        self.association = Association(self.env, limit_s, takes_s)

    def observers(self) -> Sequence[Observer]:
        """Return the observer of transmissions, if ``power.transmit_w`` is set."""
        return () if self.topology.power.transmit_w is None else (Transmissions(self.ledger),)

    def join(self, wired_up: Link) -> None:
        """Create ``port`` and ``radio``."""
        topology, association, service = self.topology, self.association, self._service
        agreed = service is not None and service.interval_s is not None
        reception = BeaconReception.of(replace(topology, beacon=BeaconParameters()) if agreed else topology)
        delay_s = 0.0 if agreed else topology.beacon.mean_delay_s
        port_arguments = (self.env, topology.access_point, self.down, association)
        device = (association, delay_s, reception, topology.station, self.ledger)
        observers = (self.hooks.radio, self.hooks.beacons)
        self.port: DevicePort
        self.radio: DeviceRadio
        if service is None:
            self.port = DevicePort(*port_arguments)
            self.radio = DeviceRadio(*device, self.env, self.doze, self.port, self.up, *observers)
        else:
            self.port = ServicePeriodPort(service, *port_arguments)
            self.radio = ServicePeriodRadio(
                service, self.beacons, *device, self.env, self.doze, self.port, self.up, *observers
            )
        self.group = self._make_group_frames() if topology.access_point.group_per_s else None

    def start(self, station: Station) -> None:
        """Start the enabled timers. Do not forward null data frames beyond the access point."""
        every_s = self.topology.station.keep_alive_s
        if every_s is not None:
            IdleTimer(self.env, self.association, every_s, station.send_null)
        limit_s = self.topology.access_point.idle_limit_s
        if limit_s is not None and self.topology.access_point.poll_idle:
            IdleTimer(self.env, self.association, limit_s, lambda: self.port.forward(null_frame()))
            self.radio.deliver = self.association.answer_polls(self.radio.deliver)
        self.radio.on_group = station.received_group
        forward = self.up.deliver

        def deliver(segment: Segment) -> None:
            if not is_null(segment):
                forward(segment)

        self.up.deliver = deliver

    def forget(self, back_s: float) -> int:
        """Discard the association and the buffered frames in a restart that ends at *back_s* seconds.

        Return the number of frames on the downlink. These frames are lost, too.
        """
        self.association.lose(back_s)
        self.port.empty()
        self.radio.unannounced()
        return len(self.down.flying)

    def report(self) -> dict[str, float]:
        """Return counts of group addressed frames, missed beacons and renewed associations, by name."""
        counts: dict[str, float] = {}
        if self.group is not None:
            counts |= {"group frames": self.group.sent, "group frames missed": self.group.missed}
        if self.topology.beacon.loss:
            counts["beacons missed"] = self.radio.beacons_missed
        restarts = self.topology.faults.restart_every_s is not None
        if restarts or self.topology.access_point.idle_limit_s is not None:
            counts["associations renewed"] = self.association.renewals
        return counts

    def _make_group_frames(self) -> GroupFrames:
        topology, access_point = self.topology, self.topology.access_point
        hop = LinkParameters(_GROUP_MBPS, topology.wireless.latency_ms)
        link = self.link_at("wireless down", hop)
        link.deliver = self.radio.receive_group
        beacons, period = Beacons(topology.beacon.interval_s), topology.beacon.dtim_period
        return GroupFrames(self.env, beacons, period, access_point, link, self.radio, topology.seed)
