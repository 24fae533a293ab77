"""The beacon grid: beacon k is sent at k times the interval; what comes after and before a time."""

from __future__ import annotations


def beacon_after(time_s: float, beacon_s: float) -> int:
    """Return the number of the first beacon after a time; one within a nanosecond of it is past."""
    return int(time_s / beacon_s + 1e-9 / beacon_s) + 1


def beacon_before(time_s: float, beacon_s: float) -> int:
    """Return the number of the last beacon sent before a time, exactly."""
    number = int(time_s / beacon_s)
    while (number + 1) * beacon_s < time_s:
        number += 1
    while number * beacon_s >= time_s:
        number -= 1
    return number
