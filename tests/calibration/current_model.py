"""Model of the current of a Wi-Fi chip, and of the instruments that record it.

It is independent of psm_sim. A chip draws a base current. Other activities add spans of a higher level,
each with a cause. Where spans overlap, the highest level counts. The spans are exact in time, so the charge
of each cause is known, and an instrument integrates or samples them at any rate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TU_S = 1.024e-3


class Span(NamedTuple):
    """Level of current from *start_s* to *end_s*; *number* counts the wake-ups of one cause."""

    start_s: float
    end_s: float
    level_ma: float
    cause: str
    number: int = -1


@dataclass
class Chip:
    """Chip, its firmware and its network. Times are those of the chip's own clock."""

    base_ma: float = 0.3
    awake_ma: float = 80.0
    transmit_ma: float = 240.0
    beacon_ms: float = 1.5
    beacon_spread: float = 0.05
    interval_tu: int = 100
    listen: int = 1
    late_ms: float = 0.0
    missed: float = 0.0
    miss_ms: float = 8.0
    dtim: int = 1
    group: float = 0.0
    group_ms: tuple[float, float] = (3.0, 14.0)
    ping_s: float = 0.0
    push_s: float = 0.0
    linger_ms: float = 50.0
    tick_s: float = 0.0
    tick_ms: float = 0.2
    tick_ma: float = 12.0
    timer_s: float = 0.0
    drift: float = 0.0
    second_base_ma: float = 0.0
    associate_s: float = 0.0
    radio: str = "power save"


@dataclass
class Truth:
    """True parameters of a recording. Charges are those above the base.

    ``interval_ms`` is the time between scheduled wake-ups for a beacon, 0 without power saving.
    """

    base_ma: float = 0.0
    awake_ma: float = 0.0
    transmit_ma: float = 0.0
    interval_ms: float = 0.0
    beacon_uc: float = 0.0
    quiet_beacon_uc: float = 0.0
    missed: float = 0.0
    linger_ms: float = 0.0
    associations: int = 0
    charge_mc: dict[str, float] = field(default_factory=dict)
    mean_ma: float = 0.0


class Current:
    """Current of a chip over *length_s* seconds."""

    def __init__(self, chip: Chip, length_s: float, rng: Generator) -> None:
        self.chip, self.length_s, self._rng = chip, length_s, rng
        self._spans: list[Span] = []
        self._missed = self._scheduled = 0
        start_s = 0.0
        if chip.associate_s:
            start_s = self._associate(float(rng.uniform(0.5, 2.0)))
        if chip.radio == "power save":
            self._beacons(start_s)
        self._traffic(start_s)
        self._timers()
        self._phase = float(rng.uniform(0, 2 * np.pi))
        self._paint()
        self.truth = self._truth()

    def base_at(self, times_s: Floats) -> Floats:
        """Return the base in mA."""
        chip = self.chip
        wave = np.sin(2 * np.pi * times_s / max(20.0, self.length_s) + self._phase)
        base = chip.base_ma * (1 + chip.drift * wave)
        if chip.second_base_ma:  # another sleep state, for four seconds of twelve
            base = np.where(times_s % 12 < 4, chip.second_base_ma, base)
        return np.asarray(base)

    def excess_at(self, times_s: Floats) -> Floats:
        """Return the current above the base in mA."""
        index = np.searchsorted(self._edges_s, times_s, side="right") - 1
        return self._excess_ma[np.clip(index, 0, self._excess_ma.size - 1)]

    def excess_charge_until(self, times_s: Floats) -> Floats:
        """Return the charge above the base from 0 to each time, in mC."""
        return np.interp(times_s, self._edges_s, self._charge_mc)

    def _add(self, start_s: float, length_s: float, level_ma: float, cause: str, number: int = -1) -> float:
        end_s = start_s + length_s
        if start_s < self.length_s:
            self._spans.append(Span(start_s, min(end_s, self.length_s), level_ma, cause, number))
        return end_s

    def _associate(self, at_s: float) -> float:
        """Scan, authenticate, and wait for an address; return when it ends."""
        chip, rng, end_s = self.chip, self._rng, at_s + self.chip.associate_s
        self._add(at_s, chip.associate_s, 1.15 * chip.awake_ma, "association")
        for _ in range(int(20 * chip.associate_s)):
            self._add(
                float(rng.uniform(at_s, end_s)),
                float(rng.uniform(2e-4, 1e-3)),
                chip.transmit_ma,
                "association",
            )
        return end_s + float(rng.uniform(0.05, 0.15))

    def _beacons(self, start_s: float) -> None:
        chip, rng = self.chip, self._rng
        interval_s = chip.interval_tu * TU_S
        first_s = start_s + float(rng.uniform(0.2, 1.0)) * interval_s
        count = int((self.length_s - first_s) / interval_s) + 1
        follow_up = False
        for number in range(count):
            scheduled = number % chip.listen == 0
            if not (scheduled or follow_up):
                continue
            self._scheduled += scheduled
            # Timers make each wake-up a few hundredths of a millisecond early or late.
            at_s = first_s + number * interval_s + float(rng.normal(0, 2e-5))
            missed = rng.random() < chip.missed
            follow_up = missed and chip.listen > 1
            if missed:
                self._missed += scheduled
                self._add(
                    at_s, chip.miss_ms / 1e3 * float(rng.normal(1, 0.01)), chip.awake_ma, "missed", number
                )
                continue
            length_s = chip.beacon_ms / 1e3 * float(np.exp(rng.normal(0, chip.beacon_spread)))
            late_s = float(rng.exponential(chip.late_ms / 1e3)) if chip.late_ms else 0.0
            self._add(at_s, 3e-4, 0.3 * chip.awake_ma, "beacon", number)  # the clock starts
            end_s = self._add(at_s + 3e-4, length_s + late_s, chip.awake_ma, "beacon", number)
            if number % chip.dtim == 0 and rng.random() < chip.group:
                self._add(end_s, float(rng.uniform(*chip.group_ms)) / 1e3, chip.awake_ma, "group", number)

    def _traffic(self, start_s: float) -> None:
        chip, rng = self.chip, self._rng
        times = []
        if chip.ping_s:
            times += list(np.arange(start_s + rng.uniform(0.1, chip.ping_s), self.length_s, chip.ping_s))
        if chip.push_s:
            times += list(
                np.cumsum(rng.exponential(chip.push_s, int(2 * self.length_s / chip.push_s) + 9)) + start_s
            )
        for at_s in map(float, times):
            if chip.radio == "always on":
                self._add(at_s, 6e-4, chip.transmit_ma, "frames")
                self._add(at_s + float(rng.uniform(2e-3, 9e-3)), 6e-5, chip.transmit_ma, "frames")
            elif chip.radio == "power save":
                sent_s = self._add(at_s, 5e-4, chip.transmit_ma, "frames")
                received_s = self._add(sent_s, float(rng.uniform(2e-3, 9e-3)), chip.awake_ma, "frames")
                answered_s = self._add(received_s, 3e-4, chip.transmit_ma, "frames")
                self._add(
                    answered_s, chip.linger_ms / 1e3 * float(rng.normal(1, 0.002)), chip.awake_ma, "frames"
                )

    def _timers(self) -> None:
        chip = self.chip
        for every_s, length_s, level_ma in ((chip.tick_s, chip.tick_ms / 1e3, chip.tick_ma),
                                            (chip.timer_s, 4e-3, 20.0)):  # fmt: skip
            if every_s:
                for at_s in np.arange(self._rng.uniform(0, every_s), self.length_s, every_s):
                    self._add(float(at_s), length_s, level_ma + chip.base_ma, "timers")

    def _paint(self) -> None:
        spans = self._spans
        marks = [mark for span in spans for mark in (span.start_s, span.end_s)]
        edges_s = np.unique(np.clip([0.0, *marks, self.length_s], 0, self.length_s))
        excess_ma, owner = np.zeros(edges_s.size - 1), np.full(edges_s.size - 1, -1)
        bounds = np.searchsorted(
            edges_s, np.clip([(span.start_s, span.end_s) for span in spans] or [(0, 0)], 0, None)
        )
        for index, (span, (begin, end)) in enumerate(zip(spans, bounds, strict=False)):
            level_ma = max(span.level_ma - self.chip.base_ma, 0.0)
            higher = np.flatnonzero(level_ma > excess_ma[begin:end]) + begin
            excess_ma[higher], owner[higher] = level_ma, index
        self._edges_s, self._excess_ma, self._owner = edges_s, excess_ma, owner
        self._charge_mc = np.concatenate([[0.0], np.cumsum(excess_ma * np.diff(edges_s))])

    def _truth(self) -> Truth:
        chip, spans = self.chip, self._spans
        charges = np.zeros(len(spans) + 1)
        np.add.at(charges, self._owner + 1, self._excess_ma * np.diff(self._edges_s))
        charges = charges[1:]
        charge_mc: dict[str, float] = {}
        for span, charge in zip(spans, charges, strict=True):
            charge_mc[span.cause] = charge_mc.get(span.cause, 0.0) + float(charge)
        fine_s = (np.arange(200_000) + 0.5) / 200_000 * self.length_s
        base_ma = float(self.base_at(fine_s).mean())
        truth = Truth(base_ma, chip.awake_ma, charge_mc=charge_mc)
        truth.mean_ma = base_ma + sum(charge_mc.values()) / self.length_s
        truth.charge_mc["base"] = base_ma * self.length_s
        truth.associations = int(chip.associate_s > 0)
        if {"frames", "association"} & charge_mc.keys():
            truth.transmit_ma = chip.transmit_ma
        if "frames" in charge_mc and chip.radio == "power save":
            truth.linger_ms = chip.linger_ms
        if chip.radio == "power save":
            truth.interval_ms = chip.interval_tu * TU_S * chip.listen * 1e3
            truth.beacon_uc = 1e3 * self._mean_beacon_mc(charges)
            truth.quiet_beacon_uc = chip.beacon_ms * (chip.awake_ma - chip.base_ma) + 0.3 * max(
                0.3 * chip.awake_ma - chip.base_ma, 0.0
            )
            truth.missed = self._missed / self._scheduled
        else:
            truth.base_ma = base_ma if chip.radio != "always on" else chip.base_ma
        return truth

    def _mean_beacon_mc(self, charges: Floats) -> float:
        """Return the mean charge of the received beacons for which the radio woke."""
        own: dict[int, float] = {}
        whole: dict[int, float] = {}
        for span, charge in zip(self._spans, charges, strict=True):
            if span.cause == "beacon":
                length_s, level_ma = span.end_s - span.start_s, max(span.level_ma - self.chip.base_ma, 0.0)
                own[span.number] = own.get(span.number, 0.0) + float(charge)
                whole[span.number] = whole.get(span.number, 0.0) + length_s * level_ma
        return float(np.mean([own[number] for number in own if own[number] > 0.999 * whole[number]]))


@dataclass
class Instrument:
    """Instrument that records a current.

    ``noise`` is relative to the current, ``noise_ma`` is added. ``clock_ppm`` is the error of its clock.
    """

    rate_hz: float = 10_000.0
    averages: bool = True
    noise: float = 0.002
    noise_ma: float = 0.002
    quantum_ma: float = 0.0
    stamps_s: float = 0.0
    gaps: int = 0
    glitches: float = 0.0
    clock_ppm: float = 0.0

    def record(self, current: Current, rng: Generator) -> tuple[Floats, Floats]:
        """Return times in s and currents in mA."""
        step_s = 1 / self.rate_hz
        times_s = np.arange(0, current.length_s - step_s, step_s)
        if self.averages:
            edges_s = np.append(times_s, times_s[-1] + step_s)
            level_ma = np.diff(current.excess_charge_until(edges_s)) / step_s + current.base_at(
                times_s + step_s / 2
            )
        else:
            level_ma = current.excess_at(times_s) + current.base_at(times_s)
        level_ma = level_ma * (1 + rng.normal(0, self.noise, times_s.size)) + rng.normal(
            0, self.noise_ma, times_s.size
        )
        if self.glitches:
            level_ma = np.where(rng.random(times_s.size) < self.glitches, 900.0, level_ma)
        if self.quantum_ma:
            level_ma = np.round(level_ma / self.quantum_ma) * self.quantum_ma
        recorded = np.ones(times_s.size, bool)
        for at in rng.integers(0, times_s.size, self.gaps):
            recorded[at : at + int(rng.uniform(0.02, 0.2) * self.rate_hz)] = False
        times_s = times_s * (1 + self.clock_ppm / 1e6)
        if self.stamps_s:
            times_s = np.floor(times_s / self.stamps_s) * self.stamps_s
        return times_s[recorded], level_ma[recorded]


class Kind(NamedTuple):
    """Kind of recording."""

    length_s: float
    chip: Callable[[Generator], Chip]
    instrument: Instrument


def _light(**more: object) -> Callable[[Generator], Chip]:
    """Return a chip in light sleep with random currents and charges."""

    def make(rng: Generator) -> Chip:
        values = {
            "base_ma": float(rng.uniform(0.15, 2.5)),
            "awake_ma": float(rng.uniform(55, 120)),
            "transmit_ma": float(rng.uniform(220, 330)),
            "beacon_ms": float(rng.uniform(1.2, 4.0)),
            **more,
        }
        return Chip(**values)  # type: ignore[arg-type]

    return make


def _modem(**more: object) -> Callable[[Generator], Chip]:
    """Return a chip in modem sleep."""

    def make(rng: Generator) -> Chip:
        return _light(
            **{"base_ma": float(rng.uniform(13, 38)), "awake_ma": float(rng.uniform(85, 120)), **more}
        )(rng)

    return make


_KHZ = Instrument(2_000)
_INA219 = Instrument(410, averages=False, noise=0.0, noise_ma=0.15, quantum_ma=0.1, stamps_s=1e-3, gaps=3)

KINDS = {
    "quiet": Kind(10, _light(), Instrument()),
    "100 kHz": Kind(10, _light(base_ma=0.015), Instrument(100_000, noise_ma=0.005)),
    "400 Hz": Kind(60, _light(), Instrument(400)),
    "100 Hz": Kind(60, _light(), Instrument(100)),
    "points": Kind(60, _modem(beacon_ms=4.7), _INA219),
    "noise": Kind(30, _modem(), Instrument(1_000, noise=0.03, glitches=2e-5)),
    "drift": Kind(30, _light(drift=0.15), Instrument(5_000)),
    "two sleep levels": Kind(60, _light(base_ma=0.96, second_base_ma=2.25), _KHZ),
    "missed": Kind(60, _light(missed=0.1), _KHZ),
    "missed, listen interval 3": Kind(60, _light(missed=0.1, listen=3), _KHZ),
    "group frames": Kind(60, _light(dtim=3, group=0.5), _KHZ),
    "group frames, missed": Kind(90, _light(dtim=3, listen=3, group=0.3, missed=0.1), _KHZ),
    "listen interval 10": Kind(60, _light(listen=10), _KHZ),
    "busy": Kind(60, _light(late_ms=1.5), _KHZ),
    "timers": Kind(20, _light(tick_s=0.01, timer_s=1.0), Instrument(20_000)),
    "ping": Kind(60, _light(ping_s=1.0), _KHZ),
    "long linger": Kind(60, _modem(ping_s=2.3, push_s=4.0, linger_ms=200.0), _KHZ),
    "200 TU": Kind(60, _light(interval_tu=200), Instrument(1_000, clock_ppm=400.0)),
    "association": Kind(30, _light(associate_s=1.8, ping_s=1.7), Instrument(5_000)),
    "short": Kind(3, _light(), Instrument()),
    "always on": Kind(30, _modem(base_ma=95.0, awake_ma=95.0, ping_s=1.0, radio="always on"), _KHZ),
    "deep sleep": Kind(60, _light(base_ma=0.01, associate_s=2.0, timer_s=1.0, radio="off"), _KHZ),
    "off": Kind(10, _light(base_ma=22.0, radio="off"), _KHZ),
    "everything": Kind(
        60,
        _modem(
            late_ms=0.5, missed=0.04, miss_ms=20.0, dtim=3, group=0.3, push_s=3.0, timer_s=1.0, drift=0.03
        ),
        Instrument(5_000),
    ),
}


def make_recording(kind: str, seed: int) -> tuple[Floats, Floats, Truth]:
    """Return times in s, currents in mA and the truth of one recording."""
    length_s, chip, instrument = KINDS[kind]
    rng = np.random.default_rng([seed, sorted(KINDS).index(kind)])
    current = Current(chip(rng), length_s, rng)
    times_s, level_ma = instrument.record(current, rng)
    current.truth.interval_ms *= 1 + instrument.clock_ppm / 1e6
    return times_s, level_ma, current.truth
