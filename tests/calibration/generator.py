"""Recordings of the current of a Wi-Fi chip, with known charges.

The wake-ups of a station and the pulses of other loads are added to a base current. The truth is the integral
of this current, not of its samples. Nothing of psm_sim is used. Charges are in uC (mA ms).
"""

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Steps = list[tuple[float, float]]  # (length in ms, mA above the base)

EDGE_MS = 0.02  # rise and fall time of the current
STATES = (
    "base",
    "beacons",
    "missed_beacons",
    "group_frames",
    "frames",
    "association",
    "timers",
    "unexplained",
)

# Base, awake and transmit current in mA, of published tables and data sheets.
MODEM_SLEEP = [(29.5, 130, 260), (20.6, 86, 300), (30.7, 96.5, 280), (12.8, 66, 250), (26.8, 103, 320)]
LIGHT_SLEEP = [
    (2.06, 130, 260),
    (0.76, 120, 310),
    (0.26, 66, 250),
    (0.19, 86, 300),
    (0.09, 103, 320),
    (0.12, 50, 232),
]
DEEP_SLEEP = [(0.005, 100, 280), (0.007, 86, 300), (0.02, 66, 250)]
BOOT = [((50, 100), (15, 30)), ((100, 300), (25, 45))]  # ms, and mA above the base
ALWAYS_ON = [(96.5, 104, 280), (86, 92, 300), (50, 55, 232)]


@dataclass(frozen=True)
class Layout:
    """Text format of a recorder, by default that of the Power Profiler Kit II."""

    header: str = "Timestamp(ms),Current(uA)"
    row: str = "{:.3f},{:.3f}"
    time_scale: float = 1e3
    level_scale: float = 1e3
    last_line: str = ""


ARCHIVE = Layout("")  # .ppk2
LOGIC = Layout("Timestamp(ms),Current(uA),D0-D7", "{:.3f},{:.3f},00000000")
MONSOON = Layout("Time(s),Main(mA),Main Voltage(V)", "{:.6f},{:.5f},3.300", 1, 1)
LOGGER = Layout("time_ms,current_mA", "{:.0f},{:.3f}", 1e3, 1)
POWER = Layout("time_s,power_mW", "{:.6f},{:.6f}", 1, 3.3)
AMPERES = Layout("Time (s),Current (A)", "{:.6f},{:.9f}", 1, 1e-3)
COMMAS = Layout("Time [ms]\tCurrent [mA]", "{:.3f}\t{:.5f}", 1e3, 1)
ISO = Layout("timestamp,current_mA", "{},{:.5f}", 1, 1)
SUMMARY = Layout(last_line="Average,{:.3f}\n")


@dataclass(frozen=True)
class Scene:
    """Parameters of the chip, the network and the recorder."""

    chip: tuple[float, float, float]
    up_ms: float
    up_level: float  # share of the awake current above the base
    down_ms: float
    down_level: float
    guard_ms: float
    beacon_ms: float
    timeout_ms: float
    null_ms: float
    data_ms: float
    ack_ms: float
    group_ms: float
    announces: bool  # sends a null data frame before it sleeps
    loss: float
    clock_ppm: float
    mode: str = "power-save"  # or always-on, deep-sleep, off
    length_s: float = 60
    interval_tu: int = 100
    listen_interval: int = 1
    dtim: int = 1
    late_share: float = 0
    late_ms: float = 0
    burst_s: float = np.inf  # late and lost beacons occur in every other interval of this length
    group_share: float = 0
    ping_s: float = 0
    from_network: bool = False
    linger_ms: float = 0
    associations: int = 0
    boots: bool = False
    drift: float = 0
    second_level: float = 1  # base current in some of the seconds, as a factor
    timer_s: float = 0
    timer_ms: float = 0
    timer_ma: float = 0
    tick_ms: float = 0  # each 10 ms
    rate_hz: float = 5000
    points: bool = False  # not means
    gaps: int = 0
    stamp_ms: float = 0
    noise: float = 0.003
    noise_ma: float = 0.001
    step_ma: float = 0.0002
    limit_ma: float = np.inf
    glitches_per_s: float = 0
    layout: Layout = Layout()


@dataclass(frozen=True)
class Truth:
    """Values that an estimator must find. Without an interval there are no beacons."""

    busy: bool  # late beacons
    length_s: float
    recorded_s: float
    shares: Mapping[str, float]
    values: Mapping[str, float]


def csv_text(
    times_s: Floats,
    level_ma: Floats,
    header: str = "Timestamp(ms),Current(uA)",
    scales: tuple[float, float] = (1e3, 1e3),
    separator: str = ",",
    decimal: str = ".",
) -> str:
    """Return a CSV file in the units of the *header*, which are *scales* times seconds and milliamperes."""
    rows = (
        separator.join(f"{value:.6f}".replace(".", decimal) for value in row)
        for row in zip(scales[0] * times_s, scales[1] * level_ma, strict=True)
    )
    return "\n".join([header, *rows]) + "\n"


def ppk2_bytes(level_ma: Floats, rate_hz: float) -> bytes:
    """Return a ``.ppk2`` file, in which each sample has a current in uA and eight digital channels."""
    frames = np.zeros(level_ma.size, [("ua", "<f4"), ("bits", "<u2")])
    frames["ua"], frames["bits"] = 1e3 * level_ma, 0xAAAA
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        metadata = {"formatVersion": 2, "metadata": {"samplesPerSecond": rate_hz, "startSystemTime": 1.6e12}}
        archive.writestr("metadata.json", json.dumps(metadata))
        archive.writestr("session.raw", frames.tobytes())
        archive.writestr("minimap.raw", b"{}")
    return file.getvalue()


@dataclass(frozen=True)
class Recording:
    """Samples as a recorder states them, and the truth."""

    kind: str
    times_s: Floats
    currents_ma: Floats
    truth: Truth
    layout: Layout

    def write(self, folder: Path) -> Path:
        """Write the recording in the format of its recorder, and return its path."""
        layout = self.layout
        if layout == ARCHIVE:
            return self._write_archive(folder / f"{self.kind}.ppk2")
        path = folder / f"{self.kind}.csv"
        times: NDArray[Any] = layout.time_scale * self.times_s
        if layout == ISO:
            offsets = np.round(1e6 * self.times_s).astype("timedelta64[us]")
            times = np.datetime_as_string(np.datetime64("2026-03-01T12:00:00") + offsets)
        levels = layout.level_scale * self.currents_ma
        rows = "\n".join(map(layout.row.format, times.tolist(), levels.tolist()))
        if layout == COMMAS:
            rows = rows.replace(".", ",")
        last_line = layout.last_line.format(levels.mean())
        path.write_text(f"{layout.header}\n{rows}\n{last_line}", encoding="utf-8")
        return path

    def _write_archive(self, path: Path) -> Path:
        rate_hz = round((self.times_s.size - 1) / (self.times_s[-1] - self.times_s[0]) / 1000) * 1000
        path.write_bytes(ppk2_bytes(self.currents_ma, rate_hz))
        return path


class Curve:
    """Current as a polyline over time, with its integral."""

    def __init__(self, times_s: Sequence[float] | Floats, levels_ma: Sequence[float] | Floats):
        self.times, self.levels = np.asarray(times_s, dtype=float), np.asarray(levels_ma, dtype=float)
        charges = 1e3 * np.diff(self.times) * (self.levels[1:] + self.levels[:-1]) / 2
        self._charges = np.append(0, np.cumsum(charges))

    def at(self, times_s: Floats) -> Floats:
        """Return the current at some times."""
        return np.asarray(np.interp(times_s, self.times, self.levels))

    def charge_until(self, times_s: Floats) -> Floats:
        """Return the charge from the first point of the curve to some times."""
        before = np.clip(np.searchsorted(self.times, times_s, side="right") - 1, 0, self.times.size - 2)
        mean_ma = (self.levels[before] + self.at(times_s)) / 2
        return np.asarray(self._charges[before] + 1e3 * (times_s - self.times[before]) * mean_ma)

    def charge_within(self, windows_s: Floats) -> float:
        """Return the charge within windows, shape (n, 2)."""
        return float(np.diff(self.charge_until(windows_s), axis=1).sum())


@dataclass(frozen=True)
class Pulse:
    """Wake-up, or pulse of another load."""

    state: str
    start_s: float
    steps: Steps
    group_uc: float = 0

    @property
    def end_s(self) -> float:
        """End of the fall of the current."""
        return self.start_s + (sum(length_ms for length_ms, _ in self.steps) + EDGE_MS) / 1e3


def polyline(pulses: Sequence[Pulse], length_s: float) -> Curve:
    """Return the current of pulses in order of time, none of which overlap."""
    times, levels = [-10.0], [0.0]
    for pulse in pulses:
        start_s = pulse.start_s
        for length_ms, level in [*pulse.steps, (0.0, 0.0)]:
            times += [start_s, start_s + EDGE_MS / 1e3]
            levels += [levels[-1], level]
            start_s += length_ms / 1e3
    return Curve([*times, max(times[-1], length_s) + 10], [*levels, 0.0])


class Station:
    """Wake-ups of a station."""

    def __init__(self, scene: Scene, random: Generator):
        self.scene, self.random = scene, random
        self.base, *above = (level * random.uniform(0.9, 1.1) for level in scene.chip)
        self.awake, self.transmit = (level - self.base for level in above)
        self.up = (scene.up_ms, scene.up_level * self.awake)
        self.down = (scene.down_ms, scene.down_level * self.awake)
        self.interval_s = scene.interval_tu * 1.024e-3 * (1 + random.uniform(-20e-6, 20e-6))
        self.first_s = random.uniform(0, self.interval_s)

    def pulses(self) -> list[Pulse]:
        """Return all wake-ups of the recording, in order of time."""
        kept: list[Pulse] = []
        for pulse in sorted([*self.associations(), *self.pings()], key=lambda pulse: pulse.start_s):
            if not kept or pulse.start_s > kept[-1].end_s + 0.01:
                kept.append(pulse)
        if self.scene.mode == "power-save":
            kept += self.beacons(kept)
        return sorted(kept, key=lambda pulse: pulse.start_s)

    def beacons(self, others: Sequence[Pulse]) -> Iterator[Pulse]:
        """Yield the wake-ups for beacons, while the radio is not awake already."""
        scene, random = self.scene, self.random
        starts_s = np.array([-20, *(pulse.start_s for pulse in others)])
        ends_s = np.array([-20, *(pulse.end_s for pulse in others)])
        again = False  # after a missed beacon the station listens to the next
        for number in range(-scene.listen_interval, int(scene.length_s / self.interval_s) + 2):
            if number % scene.listen_interval and not again:
                continue
            start_s, listen_ms, heard = self.listen(number)
            group_ms = 0.0
            if heard and number % scene.dtim == 0 and random.random() < scene.group_share:
                group_ms = random.uniform(0.2, 1)
                group_ms += random.geometric(0.5) * scene.group_ms * random.uniform(0.6, 1.4)
            steps = [self.up, (listen_ms + group_ms, self.awake), self.down]
            state = "beacons" if heard else "missed_beacons"
            pulse = Pulse(state, start_s, steps, group_ms * self.awake)
            asleep = ends_s[np.searchsorted(starts_s, pulse.end_s + 3e-4) - 1] + 3e-4 < start_s
            again = asleep and not heard
            if asleep:
                yield pulse

    def listen(self, number: int) -> tuple[float, float, bool]:
        """Return when a wake-up begins, how long it listens in ms, and whether it receives the beacon."""
        scene, random = self.scene, self.random
        due_s = self.first_s + number * self.interval_s
        busy = due_s // scene.burst_s % 2 == 0
        delay_ms, late_ms = random.uniform(0, 0.1), random.exponential(scene.late_ms)
        if busy and random.random() < scene.late_share:
            delay_ms += late_ms
        heard = delay_ms <= scene.timeout_ms and not (busy and random.random() < scene.loss)
        start_s = due_s - (scene.up_ms + scene.guard_ms + random.uniform(0, 0.03)) / 1e3
        return start_s, scene.guard_ms + (delay_ms + scene.beacon_ms if heard else scene.timeout_ms), heard

    def pings(self) -> Iterator[Pulse]:
        """Yield exchanges of an echo request and its reply."""
        scene, random = self.scene, self.random
        period_s = scene.ping_s * (1 + random.uniform(-1e-4, 1e-4))
        for number in range(int((scene.length_s - 0.5) / period_s) if period_s else 0):
            start_s, listen_ms = float((number + 0.4) * period_s + random.uniform(0, 0.002)), scene.guard_ms
            if scene.from_network:  # the request follows a beacon
                beacon = scene.listen_interval * int(1 + start_s / self.interval_s / scene.listen_interval)
                heard = False
                while not heard:
                    start_s, listen_ms, heard = self.listen(beacon)
                    beacon += scene.listen_interval
            yield Pulse("frames", start_s, [self.up, (listen_ms, self.awake), *self.exchange()])

    def exchange(self) -> Steps:
        """Return the current from the first transmission until the radio sleeps."""
        scene, random = self.scene, self.random
        own = [(random.uniform(0.1, 0.6), self.awake), (scene.data_ms, self.transmit)]
        other = [(random.uniform(1, 6), self.awake), (scene.ack_ms, self.transmit)]
        frames = [(scene.null_ms, self.transmit), *other, *own] if scene.from_network else [*own, *other]
        linger = (scene.linger_ms + random.uniform(0.1, 1), self.awake)
        null = [(scene.null_ms, self.transmit), (0.3, self.awake)] if scene.announces else []
        return [*frames, linger, *null, self.down]

    def associations(self) -> Iterator[Pulse]:
        """Yield boots and associations, which are the reports of a station in deep sleep."""
        scene, random = self.scene, self.random
        starts_s = random.uniform(0.1, 0.8, scene.associations) * scene.length_s
        boot: Steps = []
        if scene.boots or scene.mode == "deep-sleep":
            starts_s = np.array([0.05])
            boot = [(random.uniform(*ms), random.uniform(*ma)) for ms, ma in BOOT]
        if scene.mode == "deep-sleep":
            starts_s = np.arange(random.uniform(1, 5), scene.length_s - 5, random.uniform(8, 25))
        for start_s in starts_s.tolist():
            steps = list(boot)
            for _ in range(random.integers(8, 14)):  # scan, authentication, handshake and DHCP
                steps += [(random.uniform(20, 250), self.awake), (random.uniform(0.3, 1.5), self.transmit)]
            yield Pulse("association", start_s, [*steps, (random.uniform(50, 200), self.awake), self.down])


def base_curve(scene: Scene, base_ma: float, random: Generator) -> Curve:
    """Return the current of the chip asleep, which drifts or has two levels."""
    if scene.second_level > 1:
        edges_s = np.append(-10, np.cumsum(random.uniform(4, 12, int(scene.length_s / 4) + 3)))
        levels = base_ma * np.where(np.arange(edges_s.size - 1) % 2, scene.second_level, 1)
        return Curve(np.column_stack([edges_s[:-1] + 0.001, edges_s[1:]]).ravel(), np.repeat(levels, 2))
    phases = np.linspace(-0.5, 1.5, 200)
    wave = np.sin(random.uniform(0, 2 * np.pi) + 2 * np.pi * random.uniform(0.3, 1.5) * phases)
    levels = base_ma * (1 + scene.drift / 2 * (wave + random.choice([-1, 1]) * phases))
    return Curve(scene.length_s * phases, levels)


def load_curve(period_s: float, length_ms: float, level_ma: float, scene: Scene, random: Generator) -> Curve:
    """Return the current of a timer, a sensor or an LED."""
    first_s = random.uniform(0, period_s)
    starts_s = np.arange(first_s, scene.length_s, period_s * (1 + random.uniform(-2e-5, 2e-5)))
    pulses = [Pulse("timers", start_s, [(length_ms, level_ma)]) for start_s in starts_s.tolist()]
    return polyline(pulses, scene.length_s)


def sample(curves: Sequence[Curve], scene: Scene, random: Generator) -> tuple[Floats, Floats, Floats, float]:
    """Return recorded times and currents, the windows without gaps, and the charge of glitches."""
    step_s = 1 / scene.rate_hz
    times_s = step_s * np.arange(round(scene.length_s * scene.rate_hz))
    if scene.points:
        times_s = np.sort(times_s + random.normal(0, step_s / 80, times_s.size)).clip(0)
        currents = np.sum([curve.at(times_s) for curve in curves], axis=0)
    else:
        edges_s = np.append(times_s, scene.length_s)
        currents = np.sum([np.diff(curve.charge_until(edges_s)) for curve in curves], axis=0) / (1e3 * step_s)
    gaps_s = np.sort(random.uniform(0.05, 0.95, scene.gaps)) * scene.length_s
    gap_ends_s = gaps_s + random.uniform(0.05, 0.5, gaps_s.size)
    windows_s = np.column_stack([np.append(0, gap_ends_s), np.append(gaps_s, scene.length_s)])
    windows_s = windows_s[windows_s[:, 0] < windows_s[:, 1]]
    kept = np.any([(start <= times_s) & (times_s < end) for start, end in windows_s], axis=0)
    currents = currents * (1 + scene.noise * random.standard_normal(times_s.size))
    currents += scene.noise_ma * random.standard_normal(times_s.size)
    glitches = (random.random(times_s.size) < scene.glitches_per_s * step_s).astype(float)
    glitches *= random.uniform(20, 150, times_s.size)
    currents = np.round((currents + glitches) / scene.step_ma) * scene.step_ma
    stamps_s = times_s * (1 + scene.clock_ppm / 1e6)
    if scene.stamp_ms:
        stamps_s = np.round(stamps_s * 1e3 / scene.stamp_ms) * scene.stamp_ms / 1e3
    glitches_uc = 1e3 * step_s * float(glitches[kept].sum())
    return stamps_s[kept], np.minimum(currents, scene.limit_ma)[kept], windows_s, glitches_uc


def measure(
    station: Station, pulses: Sequence[Pulse], curves: Sequence[Curve], windows_s: Floats, glitches_uc: float
) -> Truth:
    """Return the truth within the recorded windows."""
    scene = station.scene
    base, radio, *loads = curves
    recorded_s = float(np.diff(windows_s, axis=1).sum())
    charges = dict.fromkeys(STATES, 0.0)
    complete: dict[str, list[float]] = {state: [] for state in STATES}
    for pulse in pulses:
        parts_s = np.clip(windows_s, pulse.start_s, pulse.end_s)
        charge_uc = radio.charge_within(parts_s)
        own_uc = max(charge_uc - pulse.group_uc, 0)
        charges[pulse.state] += own_uc
        charges["group_frames"] += charge_uc - own_uc
        if np.diff(parts_s, axis=1).sum() > pulse.end_s - pulse.start_s - 1e-9:
            complete[pulse.state].append(own_uc)
    charges["base"] = base.charge_within(windows_s)
    charges["timers"] = sum(load.charge_within(windows_s) for load in loads)
    charges["unexplained"] = glitches_uc
    total_uc = sum(charges.values())
    shares = {state: charge_uc / total_uc for state, charge_uc in charges.items()}
    base_ma = charges["base"] / recorded_s / 1e3
    values = {"mean_ma": total_uc / recorded_s / 1e3, "base_ma": base_ma}
    if complete["association"]:
        values["association_uc"] = charges["association"]
    if scene.mode == "power-save":
        interval_s = station.interval_s * scene.listen_interval * (1 + scene.clock_ppm / 1e6)
        values |= {"beacon_interval_ms": 1e3 * interval_s, "beacon_uc": float(np.mean(complete["beacons"]))}
        if scene.length_s >= 60:
            missed = len(complete["missed_beacons"])
            values["missed_share"] = missed / (missed + len(complete["beacons"]))
        # A level is asked for where three samples in a row have it, or where samples are points.
        step_ms = 1e3 / scene.rate_hz
        if scene.points or max(scene.linger_ms, scene.guard_ms + scene.beacon_ms) >= 3 * step_ms:
            values["awake_ma"] = base_ma + station.awake
        if len(complete["frames"]) >= 3 and step_ms <= 1:
            values["awake_after_frame_ms"] = scene.linger_ms + 0.5
            filled = min(scene.data_ms, scene.null_ms) >= 3 * step_ms
            if filled and base_ma + station.transmit < scene.limit_ma:
                values["transmit_ma"] = base_ma + station.transmit
    return Truth(scene.late_share > 0, scene.length_s, recorded_s, shares, values)


# In the tables below, a tuple is a range and a list is a choice.
QUIET: dict[str, Any] = {
    "chip": MODEM_SLEEP + LIGHT_SLEEP, "up_ms": (0.3, 2.6), "up_level": (0.06, 0.25), "down_ms": (0.1, 0.8),
    "down_level": (0.1, 0.4), "guard_ms": (0.2, 1.5), "beacon_ms": (0.5, 2.5), "timeout_ms": (6, 15),
    "null_ms": (0.3, 0.6), "data_ms": (0.3, 1), "ack_ms": (0.03, 0.3), "group_ms": (0.8, 2.5),
    "announces": [True, True, False], "loss": [0, 0, 0.01, 0.02], "clock_ppm": (-25, 25),
}  # fmt: skip
PINGS = {"ping_s": (2, 5), "from_network": [False, True], "linger_ms": (45, 55), "rate_hz": 10_000}
LATE = {"late_share": (0.3, 0.6), "late_ms": (1, 2)}
SHORT = {"loss": 0, "rate_hz": 10_000}  # one or two missed beacons cannot be told from group frames
TIMER = {"timer_s": 1, "timer_ms": (2, 5), "timer_ma": (10, 25)}
KINDS: Mapping[str, dict[str, Any]] = {
    "means-100-hz": {"rate_hz": 100, "layout": LOGGER},
    "points-410-hz": {
        "chip": MODEM_SLEEP, "length_s": 120, "rate_hz": 410, "points": True, "gaps": 8, "stamp_ms": 1,
        "step_ma": 0.1, "noise_ma": 0.2, "guard_ms": 1, "beacon_ms": (1.7, 2.5), "layout": LOGGER,
    },
    "means-1-khz": {"rate_hz": 1000, "layout": AMPERES},
    "means-10-khz": {**SHORT, "length_s": 10},
    "means-100-khz": {**SHORT, "length_s": 10, "rate_hz": 100_000, "clock_ppm": 0, "layout": ARCHIVE},
    "noise": {**SHORT, "length_s": 30, "noise": 0.03},
    "glitches": {**SHORT, "length_s": 30, "glitches_per_s": (0.5, 2)},
    "drift": {"rate_hz": 2000, "drift": 0.15, "layout": MONSOON},
    "floor-15-ua": {**SHORT, "chip": [(0.016, 58, 200)], "length_s": 30},
    "lost-beacons": {"loss": 0.1, "layout": MONSOON},
    "group-frames": {"group_share": (0.1, 0.5), "dtim": [1, 2]},
    "listen-interval-10": {"listen_interval": 10, "layout": POWER},
    "late-beacons": LATE,
    "timers": {**SHORT, **TIMER, "chip": MODEM_SLEEP, "length_s": 30, "tick_ms": (0.1, 0.3)},
    "pings-50-ms": PINGS,
    "pings-200-ms": {**PINGS, "linger_ms": (180, 220), "rate_hz": 5000},
    "200-tu": {**SHORT, "length_s": 20, "interval_tu": 200},
    "clock-400-ppm": {**SHORT, "length_s": 20, "clock_ppm": [-400, 400]},
    "association": {"associations": 1},
    "3-s": {**SHORT, "length_s": 3},
    "always-on": {
        "chip": ALWAYS_ON, "length_s": 30, "mode": "always-on", "ping_s": 1, "up_ms": 0.1, "announces": False
    },
    "deep-sleep": {"chip": DEEP_SLEEP, "mode": "deep-sleep", "noise_ma": 0.0003},
    "off": {"chip": [(0.001, 1, 2), (0.0025, 1, 2)], "length_s": 10, "mode": "off", "noise_ma": 0.0003},
    "two-levels": {"chip": LIGHT_SLEEP, "second_level": (1.5, 2.5)},
    "led": {
        **SHORT, "length_s": 30, "timer_s": [1, 2, 3], "timer_ms": (20, 150), "timer_ma": (2, 8),
        "layout": LOGIC,
    },
    "50-tu": {**SHORT, "length_s": 20, "interval_tu": 50},
    "dtim-3": {"dtim": 3, "listen_interval": [1, 3], "group_share": 0.4},
    "busy-bursts": {"burst_s": (3, 10), "late_share": 0.8, "late_ms": (2, 4), "loss": 0.1},
    "usb-8-bit": {
        "chip": MODEM_SLEEP, "rate_hz": 100, "step_ma": 150 / 256, "limit_ma": 150, "noise_ma": 0.4,
        "layout": LOGGER,
    },
    "clipped": {**PINGS, "limit_ma": (160, 220)},
    "boot": {**SHORT, "length_s": 30, "boots": True},
    "iso-times": {**SHORT, "length_s": 20, "layout": ISO},
    "decimal-commas": {**SHORT, "length_s": 10, "layout": COMMAS},
    "last-line": {**SHORT, "length_s": 10, "layout": SUMMARY},
    "everything": {
        **PINGS, **LATE, **TIMER, "rate_hz": 5000, "dtim": 3, "listen_interval": [1, 3], "loss": 0.05,
        "drift": 0.1, "group_share": 0.3, "associations": 1, "noise": 0.01,
    },
}  # fmt: skip


def make_recording(kind: str, seed: int) -> Recording:
    """Return a recording of a kind with parameters drawn from a seed."""
    random = np.random.default_rng([seed, list(KINDS).index(kind)])
    drawn: dict[str, Any] = {}
    for name, value in {**QUIET, **KINDS[kind]}.items():
        drawn[name] = value
        if isinstance(value, tuple):
            drawn[name] = random.uniform(*value)
        elif isinstance(value, list):
            drawn[name] = value[random.integers(len(value))]
    scene = Scene(**drawn)
    station = Station(scene, random)
    pulses = station.pulses()
    curves = [base_curve(scene, station.base, random), polyline(pulses, scene.length_s)]
    if scene.timer_ms:
        curves.append(load_curve(scene.timer_s, scene.timer_ms, scene.timer_ma, scene, random))
    if scene.tick_ms:
        curves.append(load_curve(0.01, scene.tick_ms, random.uniform(2, 8), scene, random))
    times_s, currents_ma, windows_s, glitches_uc = sample(curves, scene, random)
    truth = measure(station, pulses, curves, windows_s, glitches_uc)
    return Recording(kind, times_s, currents_ma, truth, scene.layout)
