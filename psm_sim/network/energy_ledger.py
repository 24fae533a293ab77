"""Energy accounting by exact integration of the power over the radio states."""

from __future__ import annotations

from typing import NamedTuple

from psm_sim.network.observers import Observer
from psm_sim.network.topology_sections import PowerParameters


class Usage(NamedTuple):
    """Time, beacons and energy since the start of the run.

    ``awake_s`` includes ``transmit_s``, but ``awake_j`` excludes ``transmit_j``.

    Attributes
    ----------
    awake_s, asleep_s : float
        Time in each radio state, in seconds. If a radio listens for a beacon longer than its reception takes,
        this additional time counts as awake.
    beacons : int
        Number of beacons for which the radio woke up.
    awake_j, asleep_j, beacons_j : float
        Energy while awake (without ``transmit_j``), while asleep, and for beacons, in joules.
    transmit_s, transmit_j : float
        Transmission time in seconds, and its energy in joules; 0 without ``power.transmit_w``.
    wake_ups : int
        Number of wake-ups to transmit; 0 without ``power.wake_j``.
    wake_ups_j : float
        Energy of the ``wake_ups``, in joules.
    frames : int
        Number of frames that the station sent or received; 0 without ``power.frame_j``.
    frames_j : float
        Energy to process the ``frames``, in joules.
    """

    awake_s: float
    asleep_s: float
    beacons: int
    awake_j: float
    asleep_j: float
    beacons_j: float
    transmit_s: float = 0.0
    transmit_j: float = 0.0
    wake_ups: int = 0
    wake_ups_j: float = 0.0
    frames: int = 0
    frames_j: float = 0.0

    @property
    def total_j(self) -> float:
        """Total energy, in joules."""
        radio_j = self.awake_j + self.asleep_j + self.beacons_j + self.transmit_j + self.wake_ups_j
        return radio_j + self.frames_j


class EnergyLedger(Observer):
    """Observer that computes the energy of a station.

    The energy is the sum of power times time over the states awake, asleep and transmitting, plus a fixed
    energy for each beacon, for each wake-up to transmit and for each frame.

    Reading the ledger does not modify its sums, so it does not change later results.
    """

    def __init__(self, power: PowerParameters) -> None:
        self._power = power
        self._awake = True
        self._since_s = 0.0
        self._awake_s = 0.0
        self._asleep_s = 0.0
        self._listened_s = 0.0
        self._transmit_s = 0.0
        self._beacons = 0
        self._wake_ups = 0
        self._frames = 0

    def radio(self, time_s: float, awake: bool) -> None:
        """Count the time since the last change as time in the previous state."""
        self._awake_s, self._asleep_s = self._times_s(time_s)
        self._awake, self._since_s, self._listened_s = awake, time_s, 0.0

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Count the received beacons."""
        self._beacons += count

    def listen(self, seconds: float) -> None:
        """Count *seconds* of the current doze as time awake, because the radio listens."""
        self._listened_s += seconds

    def transmit(self, seconds: float) -> None:
        """Count *seconds* of transmission, which are part of the time awake."""
        if self._power.transmit_w is not None:
            self._transmit_s += seconds

    def wake_up(self) -> None:
        """Count a wake-up to transmit."""
        if self._power.wake_j:
            self._wake_ups += 1

    def process_frame(self) -> None:
        """Count a frame that the station sends or receives."""
        self._frames += 1

    def usage(self, now_s: float) -> Usage:
        """Return the usage up to *now_s*, which must not precede the last change."""
        awake_s, asleep_s = self._times_s(now_s)
        power, transmit_s = self._power, self._transmit_s
        return Usage(
            awake_s,
            asleep_s,
            self._beacons,
            power.awake_w * (awake_s - transmit_s),
            power.asleep_w * asleep_s,
            power.beacon_j * self._beacons,
            transmit_s,
            (power.transmit_w or 0.0) * transmit_s,
            self._wake_ups,
            power.wake_j * self._wake_ups,
            self._frames,
            power.frame_j * self._frames,
        )

    def _times_s(self, now_s: float) -> tuple[float, float]:
        """Return the times awake and asleep up to *now_s*, in seconds."""
        open_s = now_s - self._since_s
        if self._awake:
            return self._awake_s + open_s, self._asleep_s
        listening_s = min(self._listening_s(), open_s)
        return self._awake_s + listening_s, self._asleep_s + (open_s - listening_s)

    def _listening_s(self) -> float:
        """Return the time for which the radio listens in the current doze, in seconds."""
        return self._listened_s
