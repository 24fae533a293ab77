"""Wireless hop over the DCF with frame errors, missed beacons and access-point restarts."""

from __future__ import annotations

from typing import Any

from psm_sim.network.access_point import AccessPoint
from psm_sim.network.link import Link
from psm_sim.network.parts.association_timeout import Association, is_null
from psm_sim.network.parts.beacon_loss import BeaconReception, LossyBeaconRadio
from psm_sim.network.parts.mac.ap_queue import MacPort
from psm_sim.network.parts.mac.frame_errors import AirBeaconReception, FrameErrors
from psm_sim.network.parts.mac.radio import MacRadio, RadioContext
from psm_sim.network.parts.mac.station_queue import NULL_AWAKE
from psm_sim.network.parts.mac.wireless_hop import MacHop
from psm_sim.network.radio import BUSY, DOZING
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll


class FaultyPort(MacPort):
    """Port as :class:`MacPort` that drops frames for a station without an association.

    Parameters
    ----------
    association
        Association of the station with the access point.
    arguments
        As for :class:`MacPort`.
    """

    def __init__(self, association: Association, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._association = association

    def forward(self, segment: Segment) -> None:
        """Forward a frame to the station, or drop it if the association has lapsed."""
        if self._association.lapsed:
            self._drop(segment)
        else:
            super().forward(segment)

    def empty(self) -> int:
        """Drop all queued and buffered frames. Return the number of queued ones."""
        queued = self.rebuffer()
        buffered, self._buffered = self._buffered, []
        for _, segment in buffered:
            self._drop(segment)
        if buffered and self.on_buffered:
            self._notify(self._env.now)
        return queued


class FaultyRadio(LossyBeaconRadio, MacRadio):
    """Radio as :class:`MacRadio` that can miss beacons and renews its association.

    Parameters
    ----------
    association, reception
        Association with the access point, and the model of lost beacons.
    context
        Environment of the radio.
    arguments, more
        As for :class:`~psm_sim.network.radio.Radio`.
    """

    def __init__(
        self,
        association: Association,
        reception: BeaconReception,
        context: RadioContext,
        *arguments: Any,
        **more: Any,
    ) -> None:
        super().__init__(context, *arguments, **more)
        self._association = association
        self.configure_reception(reception, context.topology.station, context.ledger)

    def wake_to_send(self, now_s: float) -> Poll | None:
        """Wake up to transmit. A renewed association delays the frame further."""
        delay_s, dozed = self._association.sends(), self._state is DOZING
        poll = super().wake_to_send(now_s)
        self._missed_beacon = self._missed_beacon and not dozed
        if delay_s:
            contender = self._queue.contender
            contender.earliest_s = max(contender.earliest_s, now_s) + delay_s
        return poll

    def send(self, segment: Segment) -> None:
        """Send a segment. A null frame is sent as a null data frame with PM = 0."""
        if is_null(segment):
            self._state = BUSY
            self._push(NULL_AWAKE)
        else:
            super().send(segment)

    def port_emptied(self, queued: int) -> None:
        """Handle the loss of all frames at the port, of which *queued* were awaited."""
        self._beacon_alarm.cancel()
        self._awaited -= queued
        self._arm_idle_alarm()

    def _wake_for_beacon(self) -> None:
        if self._awaiting_beacon or not self._mac_port.tim_bit:
            return
        grid = self._context.beacons
        number = self._doze.number if self._state is DOZING else grid.after(self._env.now) - 1
        if not self._reception.lost(number):
            self._missed_beacon = False
            super()._wake_for_beacon()
        elif self._state is DOZING:
            self._miss()
            if self._state is DOZING:
                self.announced()
        else:
            self.beacons_missed += 1
            self.announced()


class FaultyMacHop(MacHop):
    """Hop as :class:`MacHop` with frame errors, missed beacons or access-point restarts."""

    def join(self, access_point: AccessPoint, wired_up: Link) -> None:
        """Create ``port`` and ``radio``."""
        topology = self.topology
        self.association = association = Association(self.env, None, topology.station.association_ms / 1000)
        arguments = self.env, topology.access_point, self.down, self.cell.sender
        self.port: FaultyPort = FaultyPort(association, *arguments)
        reception, others = self._reception(), self._radio_arguments(self.port)
        self.radio: FaultyRadio = FaultyRadio(
            association, reception, self._join_cell(access_point, self.port), *others
        )
        self._connect(self.port, self.radio)

    def _reception(self) -> BeaconReception:
        """Return the reception of beacons, and add frame errors to both links."""
        mac = self.topology.mac
        if not mac.has_errors:
            return BeaconReception.of(self.topology, self.number)
        self.up.errors = self.down.errors = FrameErrors(mac, self.topology.seed, self.number)
        return AirBeaconReception(self.topology, self.number)

    def forget(self, back_s: float) -> int:
        """Lose the association, and drop all frames at the port once the channel is free.

        The frame on the channel is not lost, so the number of lost frames is 0.
        """
        self.association.lose(back_s)
        self.cell.channel.when_free(lambda: self.radio.port_emptied(self.port.empty()))
        return 0

    def report(self) -> dict[str, float]:
        """Return the numbers of missed beacons and renewed associations, by name."""
        counts: dict[str, float] = {}
        if self.topology.beacon.loss or self.topology.mac.has_errors:
            counts["beacons missed"] = self.radio.beacons_missed
        if self.topology.faults.restart_every_s is not None:
            counts["associations renewed"] = self.association.renewals
        return counts
