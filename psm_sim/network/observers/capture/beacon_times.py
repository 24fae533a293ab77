"""Beacon times of a capture: when each is on the air, which are late, and which are left out."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from psm_sim.beacons import Beacons
from psm_sim.network.air_frame import AirFrame
from psm_sim.network.observers.capture.capture_settings import CaptureSettings


class BeaconTimes:
    """Beacon times: a beacon is on the air when it is due or, over a finer MAC, some time after.

    Which are later still is told. A late one takes the place of all that have become due meanwhile. All
    times are in seconds.
    """

    def __init__(self, scene: CaptureSettings) -> None:
        self._grid = Beacons(scene.beacon_s)
        self._gap_s, self._air_s = scene.beacon_gap_s, scene.beacon_air_s
        self._late: dict[int, float] = {}

    def late(self, frame: AirFrame) -> None:
        """Take note of a late beacon."""
        number = self._grid.after(frame.starts_s) - 1
        first = round(frame.queued_s / self._grid.interval_s)
        self._late |= dict.fromkeys(range(first, number), nan) | {number: frame.starts_s}

    def due_s(self, numbers: NDArray[np.int64]) -> NDArray[np.floating]:
        """Return when beacons are due, (n,), and the TIM is made."""
        return np.asarray(numbers * self._grid.interval_s)

    def begun_s(self, numbers: NDArray[np.int64]) -> NDArray[np.floating]:
        """Return when beacons go on the air, (n,); nan: left out. Those before the last are then done."""
        begun_s = self.due_s(numbers) + self._gap_s
        if numbers.size:
            for number in [each for each in self._late if each <= numbers[-1]]:
                begun_s[number - numbers[0]] = self._late.pop(number)
        return begun_s

    def heard_s(self, number: int) -> float:
        """Return when a beacon is heard, or would be."""
        begun_s = self._late.get(number, nan)
        return (begun_s if begun_s > 0 else self._grid.time(number) + self._gap_s) + self._air_s

    def before(self, time_s: float) -> int:
        """Return the number of the first beacon that is not heard before a time."""
        last = self._grid.before(time_s - self._gap_s - self._air_s) + 1
        return min([number for number in self._late if self.heard_s(number) >= time_s] + [last])
