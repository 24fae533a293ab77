"""Energy accounting by exact integration of the power over the radio states."""

from __future__ import annotations

from typing import NamedTuple

from psm_sim.network.observers import Observer
from psm_sim.network.topology_sections import PowerParameters


class Usage(NamedTuple):
    """Time, beacons and energy since the start of the run.

    Attributes
    ----------
    awake_s, asleep_s : float
        Time in each radio state, in seconds.
    beacons : int
        Number of beacons received while dozing.
    awake_j, asleep_j, beacons_j : float
        Energy of the two states and of the beacons, in joules.
    extra_j : float
        Energy that belongs to no state, in joules: the transmit power above the awake power, and the
        energy of waking up to transmit.
    """

    awake_s: float
    asleep_s: float
    beacons: int
    awake_j: float
    asleep_j: float
    beacons_j: float
    extra_j: float = 0.0

    @property
    def total_j(self) -> float:
        """Total energy, in joules."""
        return self.awake_j + self.asleep_j + self.beacons_j + self.extra_j

    def __sub__(self, before: Usage) -> Usage:
        """Return the usage since *before*."""
        return Usage(
            self.awake_s - before.awake_s,
            self.asleep_s - before.asleep_s,
            self.beacons - before.beacons,
            self.awake_j - before.awake_j,
            self.asleep_j - before.asleep_j,
            self.beacons_j - before.beacons_j,
            self.extra_j - before.extra_j,
        )


class EnergyLedger(Observer):
    """Observer that computes the energy E = P_awake t_awake + P_asleep t_asleep + E_beacon n.

    The open interval is added when the ledger is read and never splits a sum. Reading the ledger
    therefore does not change later results.
    """

    def __init__(self, power: PowerParameters) -> None:
        self._power = power
        self._awake = True
        self._since_s = 0.0
        self._awake_s = 0.0
        self._asleep_s = 0.0
        self._beacons = 0
        self._extra_j = 0.0

    def radio(self, time_s: float, awake: bool) -> None:
        """Close the interval of the previous state."""
        if self._awake:
            self._awake_s += time_s - self._since_s
        else:
            self._asleep_s += time_s - self._since_s
        self._awake, self._since_s = awake, time_s

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Count the received beacons."""
        self._beacons += count

    def spend(self, joules: float) -> None:
        """Add energy that belongs to no state."""
        self._extra_j += joules

    def usage(self, now_s: float) -> Usage:
        """Return the usage up to *now_s*, which must not precede the last change."""
        open_s = now_s - self._since_s
        awake_s = self._awake_s + (open_s if self._awake else 0.0)
        asleep_s = self._asleep_s + (0.0 if self._awake else open_s)
        power = self._power
        return Usage(
            awake_s,
            asleep_s,
            self._beacons,
            power.awake_w * awake_s,
            power.asleep_w * asleep_s,
            power.beacon_j * self._beacons,
            self._extra_j,
        )
