"""Beacons of a capture: when they are transmitted, and the TIM bits in them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, nextafter

import numpy as np
from numpy.typing import NDArray

from psm_sim.beacons import TOLERANCE_S, Beacons
from psm_sim.network.air_frame import AirFrame
from psm_sim.network.parts.capture.capture_header_values import CaptureHeaderValues


class BeaconTimes:
    """Transmission times of the beacons, all in seconds.

    A beacon is sent when it is due or, with the DCF, an interframe space later. Beacons that a busy
    channel delays further are reported by :meth:`late`. A late beacon replaces all beacons that have
    become due in the meantime.
    """

    def __init__(self, settings: CaptureHeaderValues) -> None:
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


class TimBitmap:
    """TIM bit of one station over time. All times are in seconds.

    The TIM of a beacon includes frames that are buffered at the beacon time. A frame that the station
    retrieves because of a beacon counts as buffered until then.

    Attributes
    ----------
    changed_s : list of float
        Times at which the bit changes.
    is_set : bool
        Current value of the bit.
    group : set of int
        Numbers of the beacons that group addressed frames follow.
    heard_s : float
        Time of the last beacon for which the station woke.
    notified_s : float
        Last change of the number of buffered frames, even if the bit did not change.
    """

    def __init__(self) -> None:
        self.changed_s, self._first_bit = [-inf], False
        self.is_set = False
        self.heard_s = self.notified_s = -inf
        self.group: set[int] = set()

    def buffered(self, time_s: float, frames: int, retrieved: int) -> float:
        """Record the number of buffered frames.

        Parameters
        ----------
        time_s, frames, retrieved
            As for :meth:`Observer.buffered <psm_sim.network.observers.Observer.buffered>`.

        Returns
        -------
        float
            Time of the change, moved after the beacon if the beacon caused it.
        """
        if retrieved and abs(time_s - self.heard_s) < TOLERANCE_S:
            time_s = nextafter(self.heard_s, inf)
        if time_s < self.notified_s:
            time_s = self.notified_s
        self.notified_s = time_s
        if (frames > 0) is not self.is_set:
            self.is_set = frames > 0
            self.changed_s.append(time_s)
        return time_s

    def settled(self, now_s: float) -> float:
        """Return the time up to which the bit is final. Frames that age out are reported late."""
        return min(self.notified_s, now_s) if self.is_set else now_s

    def bits(self, times_s: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Return the bit in the beacons at ordered times, shape (n,). Earlier changes are forgotten."""
        if len(self.changed_s) == 1:
            return np.full(times_s.size, self._first_bit)
        passed = np.searchsorted(times_s, self.changed_s, side="left")
        last_changes = np.cumsum(np.bincount(passed, minlength=times_s.size + 1))[: times_s.size] - 1
        bits = (last_changes & 1) != self._first_bit
        done = int(last_changes[-1]) if last_changes.size else 0
        self._first_bit ^= bool(done & 1)
        del self.changed_s[:done]
        return np.asarray(bits)

    def groups(self, first: int, count: int) -> NDArray[np.bool_]:
        """Return which of *count* beacons from number *first* on are followed by group frames.

        These beacons are then removed from ``group``.
        """
        followed = np.zeros(count, bool)
        for number in [member for member in self.group if member < first + count]:
            self.group.discard(number)
            followed[max(0, number - first)] = True
        return followed


def bitmaps_of(tims: Sequence[TimBitmap], times_s: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Return the TIM bitmaps of beacons, shape (n, octets). Bit k belongs to association k.

    Parameters
    ----------
    tims
        TIM bits of associations 1, 2 and so on.
    times_s
        Times at which the beacons are due, in order, in seconds, shape (n,).
    """
    if len(tims) == 1:
        return np.where(tims[0].bits(times_s), np.uint8(2), np.uint8(0))[:, None]
    bits = np.zeros((times_s.size, 1 + len(tims)), bool)
    for aid, tim in enumerate(tims, 1):
        bits[:, aid] = tim.bits(times_s)
    return np.packbits(bits, axis=1, bitorder="little")
