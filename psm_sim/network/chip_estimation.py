"""Estimates of a chip's base current and charge per beacon from one or two mean currents.

The mean current of an idle station that receives every D-th beacon is ``base + charge / (D x interval)``. Two
means determine base and charge. With one mean, the most probable pair is chosen. The prior is a joint normal
distribution of the logarithms of base and charge of the other chips.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from psm_sim.common.errors import InputError

BEACON_MS = 102.4
"""Beacon interval for which currents at a DTIM period are stated, 100 TU."""

BEACON_AIR_MS = 1.384
"""Time awake for each beacon if the charge per beacon is unknown: air time of 149 B at 1 Mbit/s.

The comparison for :data:`DOZING_RATIOS` makes the same assumption.
"""

ASSOCIATION_MC = (80.0, 200.0, 400.0)
"""Low, typical and high charge in mC of a start-up with an association, for a chip whose profile states none.

Two chips were measured. The ESP32 needs 109 mC with a static address and 204 mC with DHCP (glenn20,
upy-esp32-experiments), the ESP32-C5 233 to 396 mC (sjain166/XiFi). The range is rounded.
"""

DOZING_RATIOS = {"light-sleep": (0.86, 3.5), "modem-sleep": (0.7, 1.55), "modem-sleep-dfs": (0.7, 1.55)}
"""Interval of the ratio of measured to predicted mean current of a dozing station, for a chip not measured.

The interval for light sleep was chosen on 29 measured currents, of which it covers 24. It also covers the
three currents of a chip that was added later (reports/validation). The interval for modem sleep comes from
Espressif's table and two measurements: an ESP32 with esp-at at 80 MHz, and a board.
"""

AWAKE_RATIOS = (0.65, 1.25)
"""Interval of the ratio of true to predicted current of an awake radio.

It comes from seven chips. The receive current of the data sheet counts as the true current. The predicted
current is the greatest measured current, which includes that of the processor.
"""


def dozing_ratios_after(periods: Collection[int]) -> tuple[float, float]:
    """Return the lowest and the highest likely ratio of measured to predicted current.

    *periods* are the DTIM periods at which mean currents of the chip were measured. The bounds were chosen on
    the measured currents of all chips. They contain more than four fifths of the currents that were not used
    as means (reports/validation, calibration).
    """
    if len(periods) == 1:
        half = 0.13 if min(periods) >= 3 else 0.25
    else:
        half = 0.06 if max(periods) >= 10 * min(periods) else 0.11
    return round(1 - half, 2), round(1 + half, 2)


def estimate_base_and_charge(
    means_ma: Mapping[int, float], others: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    """Return the base current in mA and the charge per beacon in uC.

    Parameters
    ----------
    means_ma : mapping of int to float
        One or two mean currents of an idle station in mA, by DTIM period.
    others : sequence of (float, float)
        Base and charge of at least four other chips, from which the prior is computed. Not used with two
        means.

    Raises
    ------
    InputError
        If base or charge, computed from two means, is not positive.
    """
    if len(means_ma) == 2:
        (first, low_ma), (second, high_ma) = sorted(means_ma.items(), reverse=True)
        charge_uc = (high_ma - low_ma) * BEACON_MS / (1 / second - 1 / first)
        base_ma = low_ma - charge_uc / (first * BEACON_MS)
        if charge_uc <= 0 or base_ma <= 0:
            raise InputError(
                f"{low_ma:g} mA at DTIM {first} and {high_ma:g} mA at DTIM {second} do not fit a base current"
                " and a charge per beacon above 0; measure an idle station in one mode, or state one mean."
            )
        return base_ma, charge_uc
    ((period, mean_ma),) = means_ma.items()
    known = np.log(others)
    # One mean does not determine base and charge, so choose the most probable pair.
    bases_ma = mean_ma * np.linspace(0, 1, 10_002)[1:-1]
    charges_uc = (mean_ma - bases_ma) * period * BEACON_MS
    deviation = np.log([bases_ma, charges_uc]) - known.mean(axis=0)[:, None]
    distance = np.einsum("in,ij,jn->n", deviation, np.linalg.inv(np.cov(known.T)), deviation)
    best = int(distance.argmin())
    return float(bases_ma[best]), float(charges_uc[best])
