"""Tolerances of a calibration, fixed before the estimator was written."""

from __future__ import annotations

from typing import Any

from tests.calibration.current_model import KINDS, Truth

BASE = 0.02
BEACON = 0.02
BUSY_BEACON = 0.10  # beacons are late, so the mean of the wake-ups and the beacon's own charge differ
PERIOD_PPM = 50.0
MISSED = 0.02
AWAKE = 0.03
TRANSMIT = 0.05
LINGER = 0.05
BASE_SHARE = 0.02
ASSOCIATION_CHARGE = 0.05
SHORT = 2.5
"""Factor of the tolerances of a recording of less than 10 s."""

BUSY = {"busy", "everything"}
NO_BEACONS = {"always on", "deep sleep", "off"}
UNRESOLVED = {"400 Hz", "100 Hz", "noise", "200 TU", "points"}
"""Recordings whose samples are not much shorter than the pulses, so that a level is seen by chance."""

UNRESOLVED_PEAKS = {"ping", "long linger"}
"""Recordings whose samples of 0.5 ms are not shorter than a transmission."""


def failures(kind: str, truth: Truth, calibration: Any) -> list[str]:
    """Return the parameters of *calibration* that are out of tolerance, with both values."""
    factor = SHORT if KINDS[kind].length_s < 10 else 1.0
    checks: list[tuple[str, float | None, float, float]] = [
        ("base_ma", calibration.base_ma, truth.base_ma, BASE * truth.base_ma),
        ("mean_ma", calibration.mean_ma, truth.mean_ma, 0.01 * truth.mean_ma),
        ("sum of shares", sum(calibration.shares.values()), 1.0, 1e-9),
    ]
    if kind in NO_BEACONS:
        checks.append(("beacons", float(calibration.beacon_interval_ms is not None), 0.0, 0.0))
    else:
        uc, total = truth.beacon_uc, sum(truth.charge_mc.values())
        bound = (BUSY_BEACON if kind in BUSY else BEACON) * uc
        share = truth.charge_mc["base"] / total
        checks += [
            ("beacon_uc", calibration.beacon_uc, uc, bound * factor),
            ("ppm", _ppm(calibration.beacon_interval_ms, truth.interval_ms), 0.0, PERIOD_PPM * factor),
            ("missed_share", calibration.missed_share, truth.missed, MISSED * factor),
            ("base share", calibration.shares["base"], share, BASE_SHARE),
        ]
        if kind not in UNRESOLVED:
            checks.append(("awake_ma", calibration.awake_ma, truth.awake_ma, AWAKE * truth.awake_ma))
    if truth.linger_ms:
        linger_ms = truth.linger_ms
        checks.append(
            ("awake_after_frame_ms", calibration.awake_after_frame_ms, linger_ms, LINGER * linger_ms)
        )
        # A transmission does not fill such samples, so its current may be missing, but not wrong.
        if kind not in UNRESOLVED | UNRESOLVED_PEAKS or calibration.transmit_ma is not None:
            transmit_ma = truth.transmit_ma
            checks.append(("transmit_ma", calibration.transmit_ma, transmit_ma, TRANSMIT * transmit_ma))
    checks.append(("associations", calibration.associations, truth.associations, 0.0))
    if truth.associations:
        charge = truth.charge_mc["association"]
        checks.append(("associate_mc", calibration.associate_mc, charge, ASSOCIATION_CHARGE * charge))
    return [
        f"{name}: got {value}, expected {expected:.6g} within {bound:.2g}"
        for name, value, expected, bound in checks
        if value is None or not abs(value - expected) <= bound
    ]


def _ppm(interval_ms: float | None, expected_ms: float) -> float | None:
    return None if interval_ms is None else 1e6 * (interval_ms / expected_ms - 1)
