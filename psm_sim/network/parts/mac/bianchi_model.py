"""Bianchi's model of the throughput of saturated stations (IEEE JSAC 18(3), 2000).

Each station sends in a slot with the same probability tau. Each transmission collides with the same
probability p, independently of the past. Both follow from a fixed-point equation.
"""

from __future__ import annotations

from psm_sim.network.parts.frame_timing import FrameTiming


def attempt_rate(stations: int, timing: FrameTiming) -> float:
    """Return the probability that a station sends in a slot (Bianchi, equations 7 and 9).

    Parameters
    ----------
    stations
        Number of stations, at least 1.
    timing
        Timing with the minimum and maximum contention windows.
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        tau = (low + high) / 2
        collides = 1 - (1 - tau) ** (stations - 1)
        low, high = (tau, high) if _tau_of(collides, timing) > tau else (low, tau)
    return (low + high) / 2


def _tau_of(collides: float, timing: FrameTiming) -> float:
    """Return tau for a collision probability, by Bianchi's equation (7) written as a sum."""
    slots, stages = timing.cw_min + 1, 0
    while slots << stages < timing.cw_max + 1:
        stages += 1
    doubled = sum((2 * collides) ** stage for stage in range(stages))
    return 2 / (1 + slots + collides * slots * doubled)


def saturation_mbps(stations: int, timing: FrameTiming, packet_bytes: int) -> float:
    """Return the saturation throughput in Mbit/s, without the headers below IP.

    Parameters
    ----------
    stations
        Number of stations, at least 1.
    timing
        Durations of frames and gaps. After a collision the channel is free when the ACK timeout ends.
    packet_bytes
        Size of every packet, in bytes.
    """
    tau, frame_s = attempt_rate(stations, timing), timing.data_s(packet_bytes)
    difs_s = timing.sifs_s + timing.first_slots * timing.slot_s
    busy = 1 - (1 - tau) ** stations
    success = stations * tau * (1 - tau) ** (stations - 1)
    idle_s = (1 - busy) * timing.slot_s
    used_s = success * (frame_s + timing.answer_s) + (busy - success) * (frame_s + timing.timeout_s)
    return 8e-6 * packet_bytes * success / (idle_s + used_s + busy * difs_s)
