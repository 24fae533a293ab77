"""Transmission times of the captured beacons."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from psm_sim.beacons import Beacons
from psm_sim.network.air_frame import AirFrame
from psm_sim.network.parts.capture.capture_settings import CaptureSettings


class BeaconTimes:
    """Transmission times of the beacons, all in seconds.

    A beacon is sent when it is due or, with the DCF, an interframe space later. Beacons that a busy
    channel delays further are reported by :meth:`late`. A late beacon replaces all beacons that have
    become due in the meantime.
    """

    def __init__(self, settings: CaptureSettings) -> None:
        self._grid = Beacons(settings.beacon_s)
        self._gap_s, self._air_s = settings.beacon_gap_s, settings.beacon_air_s
        self._late: dict[int, float] = {}

    def late(self, frame: AirFrame) -> None:
        """Record a late beacon."""
        number = self._grid.after(frame.starts_s) - 1
        first = round(frame.queued_s / self._grid.interval_s)
        self._late |= dict.fromkeys(range(first, number), nan) | {number: frame.starts_s}

    def due_s(self, numbers: NDArray[np.int64]) -> NDArray[np.floating]:
        """Return when beacons are due and their TIM is composed, shape (n,)."""
        return np.asarray(numbers * self._grid.interval_s)

    def starts_s(self, numbers: NDArray[np.int64]) -> NDArray[np.floating]:
        """Return the starts of transmission, shape (n,), with nan for beacons that are not sent.

        Late beacons up to the last of *numbers* are then forgotten.
        """
        starts_s = self.due_s(numbers) + self._gap_s
        if numbers.size:
            for number in [late for late in self._late if late <= numbers[-1]]:
                starts_s[number - numbers[0]] = self._late.pop(number)
        return starts_s

    def heard_s(self, number: int) -> float:
        """Return when a beacon is received. For a beacon that is not sent, return the regular time."""
        start_s = self._late.get(number, nan)
        return (start_s if start_s > 0 else self._grid.time(number) + self._gap_s) + self._air_s

    def before(self, time_s: float) -> int:
        """Return the number of the first beacon that is not received before *time_s*."""
        last = self._grid.before(time_s - self._gap_s - self._air_s) + 1
        return min([number for number in self._late if self.heard_s(number) >= time_s] + [last])
