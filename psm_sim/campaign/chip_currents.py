"""Mean currents of a chip with their intervals of uncertainty, and a comparison of its modes.

The current of a dozing station is the predicted current times a factor that depends on the board. The current
of an awake radio has a factor that depends on the data sheet. Each factor is the same for all settings of a
chip. These factors can therefore change the order of two settings only if dozing has a larger share of the
current in one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from psm_sim.campaign.driver_settings import Setting
from psm_sim.common.component_spec import Spec
from psm_sim.network.chip_estimation import AWAKE_RATIOS
from psm_sim.network.chip_profiles import ChipProfile, Mode, load_profile
from psm_sim.simulation import Result, Scenario, run_comparison
from psm_sim.simulation.table import usage_of


class Current(NamedTuple):
    """Mean current in mA: low, typical and high."""

    low_ma: float
    typical_ma: float
    high_ma: float


def current_of(result: Result, chip: ChipProfile) -> Current:
    """Return the mean current of a station with its interval."""
    dozing_ma, awake_ma = _parts(result, chip)
    low, high = (dozing_ma * chip.interval[n] + awake_ma * AWAKE_RATIOS[n] for n in (0, 1))
    return Current(low, dozing_ma + awake_ma, high)


def keeps_order(first: Result, second: Result, chip: ChipProfile) -> bool:
    """Return whether the same result has the lower current at all ends of the intervals of uncertainty."""
    pairs = list(zip(_parts(first, chip), _parts(second, chip), strict=True))
    ends = product(chip.interval, AWAKE_RATIOS)
    signs = {sum(factor * (a - b) for factor, (a, b) in zip(end, pairs, strict=True)) > 0 for end in ends}
    return len(signs) == 1


def _parts(result: Result, chip: ChipProfile) -> tuple[float, float]:
    """Return two summands of the mean current, in mA: of dozing with its beacons, and of being awake."""
    usage = usage_of(result.row)
    volts = result["simulated_s"] * chip.values["power.supply_v"]
    dozing_j = usage.asleep_j + usage.beacons_j
    return 1000 * dozing_j / volts, 1000 * (usage.total_j - dozing_j) / volts


@dataclass(frozen=True)
class ModeRow:
    """Mean current of a chip in one mode, with the default setting of the driver.

    Attributes
    ----------
    mode : Mode
        The mode.
    current : Current
        Mean current. In a mode without association between reports, it is the current asleep, plus the charge
        of an association and a report divided by the interval of the reports.
    """

    mode: Mode
    current: Current

    def break_even_s(self, other: Current) -> Current | None:
        """Return the interval of reports, in seconds, above which this mode draws less than *other*.

        The values are low, typical and high; None if this mode never draws less.
        """
        floor_ma, charges_mc = self.mode.base_ma, self.mode.associate_mc
        if self.mode.associated or not charges_mc or other.low_ma <= floor_ma:
            return None
        above = (other.high_ma, other.typical_ma, other.low_ma)
        return Current(*(mc / (ma - floor_ma) for mc, ma in zip(charges_mc, above, strict=True)))


def _default_current(scenario: Scenario, settings: Sequence[Setting], workers: int | None) -> Current:
    """Return the mean current in the driver's default setting, from one seed.

    If no setting is the default, the chip uses static PSM and wakes for DTIM beacons.
    """
    beacon = scenario.resolve_unseeded_topology().beacon
    unknown = f"psm:listen_interval={beacon.dtim_period}"
    policy = next((setting.policy for setting in settings if setting.is_default), unknown)
    result = run_comparison([policy], scenario, 1, workers=workers).runs[0]
    return current_of(result, load_profile(scenario.profile))


def currents_at_dtim_3(
    scenario: Scenario, settings: Sequence[Setting], workers: int | None
) -> Mapping[str, Current]:
    """Simulate the driver's settings at a DTIM period of 3, and return the mean current of each by name.

    *settings* are those for a DTIM period of 1. A listen interval of 1 is replaced by 3, so that the station
    still wakes for DTIM beacons only. There is one seed.
    """
    policies = {
        setting.name: re.sub("listen_interval=1$", "listen_interval=3", setting.policy)
        for setting in settings
        if not setting.needs
    }
    distinct = list(dict.fromkeys(policies.values()))
    other = replace(scenario, settings={**scenario.settings, "beacon.dtim_period": 3})
    runs = dict(zip(distinct, run_comparison(distinct, other, 1, workers=workers).runs, strict=True))
    chip = load_profile(scenario.profile)
    return {name: current_of(runs[policy], chip) for name, policy in policies.items()}


def compare_modes(
    scenario: Scenario, settings: Sequence[Setting], report_every_s: float | None, workers: int | None
) -> tuple[ModeRow, ...]:
    """Return the modes of the chip by ascending current; empty if the chip has no modes.

    Each associated mode is simulated with the default of the driver's *settings* and one seed.
    *report_every_s* is the interval of the reports. Modes without association between reports are omitted if
    it is None or shorter than an association.
    """
    spec = Spec.parse(scenario.profile, "profile")
    chip = load_profile(scenario.profile)
    rows = []
    for mode in chip.modes.values():
        if mode.associated:
            # The measured currents of a profile are those of the selected mode.
            profile = spec if mode is chip.mode else Spec(spec.name).with_("mode", mode.name)
            same = replace(scenario, profile=str(profile))
            rows.append(ModeRow(mode, _default_current(same, settings, workers)))
        elif report_every_s is not None and mode.associate_mc and mode.name != "off":  # no timer ends "off"
            if report_every_s < mode.numbers.get("associate_ms", 0.0) / 1000:
                continue
            currents = (mode.base_ma + charge_mc / report_every_s for charge_mc in mode.associate_mc)
            rows.append(ModeRow(mode, Current(*currents)))
    return tuple(sorted(rows, key=lambda row: row.current.typical_ma))
