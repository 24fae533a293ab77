"""Judge of the calibration by recordings with known charges.

Run ``python -m tests.calibration.judge --seed N [N ...] [--kind KIND ...]``. The tolerances were fixed before
the first run.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from psm_sim.calibration.estimator import estimate
from psm_sim.calibration.recording import Recording as Samples
from psm_sim.calibration.recording import make_recording as samples_of
from psm_sim.calibration.recording_readers import read_recording
from psm_sim.calibration.report import compare_with_simulation, mode_of, to_dict
from tests.calibration.generator import KINDS, STATES, Recording, Truth, make_recording

# Relative and absolute tolerance, of which the larger one counts.
TOLERANCES = {
    "base_ma": (0.02, 0),
    "beacon_interval_ms": (50e-6, 0),
    "beacon_uc": (0.02, 0),
    "missed_share": (0, 0.02),
    "awake_ma": (0.05, 0),
    "transmit_ma": (0.10, 0),
    "awake_after_frame_ms": (0.10, 3),
    "association_uc": (0.05, 0),
}
BUSY_FACTOR = 5  # for the charge of late beacons
SHORT_FACTOR = 2  # for the interval and the charge in less than 10 s
SHARE = 0.03
SUM = 1e-6
SIMULATED = 0.05
# Scale and unit of the errors that are printed
COLUMNS = {
    "base_ma": (100, " %"),
    "beacon_uc": (100, " %"),
    "beacon_interval_ms": (1e6, " ppm"),
    "missed_share": (1, ""),
}
GROUPS = {
    "10 s at 10 or 100 kHz": ["means-10-khz", "means-100-khz", "decimal-commas", "last-line"],
    "3 s at 10 kHz": ["3-s"],
    "60 s, means at 100 Hz or 1 kHz": ["means-100-hz", "means-1-khz", "usb-8-bit"],
    "120 s, points at 410 Hz with gaps and stamps of a millisecond": ["points-410-hz"],
    "missed beacons, group frames, listen intervals of 3 and 10": [
        "lost-beacons", "group-frames", "listen-interval-10", "dtim-3",
    ],
    "drift, noise of 3 %, two sleep levels, timers, pings, an association": [
        "drift", "noise", "glitches", "floor-15-ua", "two-levels", "timers", "led", "pings-50-ms",
        "pings-200-ms", "200-tu", "50-tu", "clock-400-ppm", "association", "clipped", "boot", "iso-times",
    ],
    "late beacons, alone and with all others": ["late-beacons", "busy-bursts", "everything"],
    "no beacons": ["always-on", "deep-sleep", "off"],
}  # fmt: skip


def failures(values: Mapping[str, Any], truth: Truth) -> Iterator[str]:
    """Yield a line for each value of ``[calibration]`` that is not within its tolerance."""
    if abs(sum(values["shares"].values()) - 1) > SUM:
        yield f"shares sum to {sum(values['shares'].values()):.7f}"
    for state in STATES:
        share, true = values["shares"].get(state, 0.0), truth.shares[state]
        if not abs(share - true) <= SHARE:
            yield f"share of {state} {share:.3f}, true {true:.3f}"
    association_uc = 1e3 * values["shares"]["association"] * values["mean_ma"] * truth.recorded_s
    found = {**values, "association_uc": association_uc}
    for name, (relative, absolute) in TOLERANCES.items():
        if name in truth.values:
            true = truth.values[name]
            allowed = max(relative * true, absolute) * _factor(name, truth)
            if found.get(name) is None or not abs(found[name] - true) <= allowed:
                yield f"{name} {found.get(name)}, true {true:.6g} (allowed {allowed:.2g})"
    if "beacon_interval_ms" not in truth.values and "beacon_interval_ms" in values:
        yield f"beacons every {values['beacon_interval_ms']} ms claimed"


def _factor(name: str, truth: Truth) -> float:
    if name == "beacon_uc" and truth.busy:
        return BUSY_FACTOR
    return SHORT_FACTOR if name.startswith("beacon") and truth.length_s < 10 else 1


def calibrate(samples: Samples) -> dict[str, Any]:
    """Return the values of ``[calibration]``, and the means of the simulation and of the recording."""
    fit = estimate(samples).calibration
    mode = mode_of(fit, 3.3)
    line = compare_with_simulation(fit, mode) if mode else ""
    return to_dict(fit) | {"means": [float(text) for text in re.findall(r"[\d.]+", line)[:2]]}


def in_memory(recording: Recording) -> Samples:
    """Return the samples of a recording without a file."""
    return samples_of(recording.times_s.astype(float), recording.currents_ma.astype(float))


def judge(recording: Recording) -> tuple[dict[str, Any], list[str]]:
    """Write a file, read and calibrate it, and return the values and the failures."""
    with TemporaryDirectory() as folder:
        values = calibrate(read_recording(recording.write(Path(folder))))
    found = list(failures(values, recording.truth))
    means = values["means"]
    if means and abs(means[0] / means[1] - 1) > SIMULATED:
        found.append(f"simulated mean {means[0]}, recorded {means[1]}")
    return values, found


def main() -> int:
    """Print the failures, the largest error in each group of kinds, and how many recordings pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, nargs="+", required=True)
    parser.add_argument("--kind", choices=KINDS, nargs="+", default=list(KINDS))
    options = parser.parse_args()
    worst: dict[tuple[str, str], float] = {}
    passed, inside, ranges = 0, 0, 0
    for seed in options.seed:
        for kind in options.kind:
            recording = make_recording(kind, seed)
            values, found = judge(recording)
            passed += not found
            print(f"{seed} {kind:20} {'; '.join(found) or 'pass'}", flush=True)  # noqa: T201
            true = recording.truth.values
            if "beacon_uc" in true and "beacon_range_uc" in values:
                low_uc, high_uc = values["beacon_range_uc"]
                inside, ranges = inside + (low_uc <= true["beacon_uc"] <= high_uc), ranges + 1
            group = next(group for group, kinds in GROUPS.items() if kind in kinds)
            for name in COLUMNS.keys() & true.keys() & values.keys():
                error = abs(values[name] - true[name]) / (1 if name == "missed_share" else true[name])
                worst[group, name] = max(error, worst.get((group, name), 0.0))
    print("\n| recordings | base | charge per beacon | interval | share missed |\n|---|---|---|---|---|")  # noqa: T201
    for group in GROUPS:
        cells = [
            f"{scale * worst[group, name]:.2g}{unit}" if (group, name) in worst else "-"
            for name, (scale, unit) in COLUMNS.items()
        ]
        print(f"| {group} | {' | '.join(cells)} |")  # noqa: T201
    count = len(options.seed) * len(options.kind)
    print(f"\n{passed} of {count} recordings pass; the range has the true charge in {inside} of {ranges}")  # noqa: T201
    return int(passed < count)


if __name__ == "__main__":
    sys.exit(main())
