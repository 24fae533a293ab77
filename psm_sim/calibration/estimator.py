"""Estimate of where the charge in a recording goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.calibration.comb import Comb, find_comb
from psm_sim.calibration.levels import half_sample_mode, track_base, weighted_mode
from psm_sim.calibration.pulses import Pulses, find_pulses
from psm_sim.calibration.recording import Recording
from psm_sim.common.array_types import BoolArray, FloatArray

BEACONS, MISSED, GROUP_FRAMES, FRAMES, ASSOCIATION, TIMERS = STATES = (
    "beacons",
    "missed beacons",
    "group frames",
    "frames",
    "association",
    "timers",
)
"""States of a pulse."""

METER_ERROR = 0.01
"""Relative error of a meter."""

_ASSOCIATION_S = 0.6  # the shortest published association with WPA2 takes 0.77 s; 0.4 works as well
_ALWAYS_ON_MA = 45.0  # between the largest base in modem sleep, 38 mA, and the smallest current when awake
_WHOLE_S = 5e-4  # a beacon at 6 Mbit/s takes about as long, and so fills a sample
_MAX_DTIM = 10  # largest DTIM period of common access points; 5 works as well
_ERROR = 0.05  # usual level of significance
_WIDE = 6.0  # standard deviations of wake-ups; 4, 5 and 8 work as well
# _TIGHT: width within which charges of missed beacons are equal, relative to the charge. 0.015, 0.02, 0.03
# and 0.04 give 66, 66, 61 and 58 of 72 recordings within their tolerances.
# _AROUND: the density within so many widths shows how many are equal by chance. 3 and 10 work as well.
# _PRIOR: added to this number. 0.05, 0.1 and 0.25 give 201, 199 and 199 of 210. With 0.05, a single long
# wake-up is a missed beacon.
_TIGHT, _AROUND, _PRIOR = 0.02, 5.0, 0.05


@dataclass
class Calibration:
    """Currents and charges of a chip, estimated from a recording. Values not estimated are None.

    Charges are measured above the base. ``beacon_interval_ms`` is the time between two wake-ups, the beacon
    interval times the listen interval. ``beacon_mode_uc`` is the charge of most beacons, and ``beacon_uc``
    the mean charge, late beacons included. ``beacon_range_uc`` is the 95 % interval of the mean, including
    the error of the meter. If it is unclear whether a longer wake-up is a late beacon or has group frames,
    the mean includes the wake-up, and the lower end of the range excludes it. ``shares`` are shares of the
    mean current that sum to 1.
    """

    length_s: float
    mean_ma: float
    base_ma: float
    awake_ma: float | None = None
    awake_is_resolved: bool = False
    transmit_ma: float | None = None
    beacon_interval_ms: float | None = None
    beacon_uc: float | None = None
    beacon_range_uc: tuple[float, float] | None = None
    beacon_mode_uc: float | None = None
    missed_share: float | None = None
    awake_after_frame_ms: float | None = None
    associate_ms: float | None = None
    associate_mc: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)


class Estimate(NamedTuple):
    """Calibration, with the base in mA at each sample, the pulses and their states."""

    calibration: Calibration
    base_ma: FloatArray
    pulses: Pulses
    states: NDArray[np.str_]


class _Levels(NamedTuple):
    """Levels of an awake and of a transmitting radio in mA.

    ``is_resolved`` is true if there are samples at the level of an awake radio. ``sample_uc`` is the charge
    of such a sample above the base, or 0 if samples are means over time instead of points in time. ``sent``
    are the indices of the samples with a transmission, and ``owners`` the indices of their pulses.
    ``transmit_ma`` is None if no transmission fills a sample.
    """

    awake_ma: float
    is_resolved: bool = False
    sample_uc: float = 0.0
    sent: NDArray[np.intp] = np.empty(0, np.intp)
    owners: NDArray[np.intp] = np.empty(0, np.intp)
    transmit_ma: float | None = None


def estimate(recording: Recording, beacon_s: float | None = None) -> Estimate:
    """Return the calibration from a recording.

    *beacon_s* is the beacon interval in seconds, if it is known.
    """
    base, noise_ma = track_base(recording)
    pulses = find_pulses(recording, recording.currents_ma - base, noise_ma)
    found = Calibration(
        recording.length_s, recording.mean_ma, float(base @ recording.lengths_s) / recording.length_s
    )
    states = np.full(pulses.begin.size, "", dtype="U16")
    is_long = pulses.lengths_s >= _ASSOCIATION_S
    levels = _levels(recording, base, pulses, is_long)
    has_sent = np.zeros(is_long.size, bool)
    has_sent[levels.owners] = True
    may_be = ~is_long & (pulses.charges_uc > 0)
    if recording.step_s <= _WHOLE_S:  # a beacon fills a sample
        may_be &= pulses.peaks_ma > 0.5 * (levels.awake_ma - found.base_ma)
    comb = find_comb(recording, pulses, may_be, beacon_s)
    is_plain = comb.is_on & ~has_sent if comb else np.zeros(is_long.size, bool)
    if comb and is_plain.sum() < 0.5 * comb.is_on.sum():
        # No station transmits in most wake-ups. The lower level is that of the starting clock, and the higher
        # level that of the awake radio.
        awake_ma = levels.transmit_ma or found.base_ma + float(np.median(pulses.peaks_ma[has_sent]))
        levels, is_plain = _Levels(awake_ma, levels.transmit_ma is not None), comb.is_on
        has_sent[:] = False
    if comb and is_plain.sum() > 1:
        observed = comb.observed - int((comb.is_on & ~is_plain).sum())
        _estimate_beacons(found, pulses, comb, is_plain, observed, levels.sample_uc, states)
    if found.beacon_uc is not None or is_long.any():
        found.awake_ma, found.awake_is_resolved = levels.awake_ma, levels.is_resolved
    elif found.base_ma > _ALWAYS_ON_MA:
        found.awake_ma, found.awake_is_resolved = found.base_ma, True
    found.transmit_ma = levels.transmit_ma
    states[is_long & (states == "")] = ASSOCIATION
    mean_ma = pulses.charges_uc / 1e3 / np.maximum(pulses.lengths_s, recording.step_s)
    is_large = pulses.charges_uc > 3 * (found.beacon_uc or 0.0)
    is_awake = mean_ma > 0.5 * (levels.awake_ma - found.base_ma)
    states[(states == "") & (has_sent | (is_large & is_awake))] = FRAMES
    states[states == ""] = TIMERS
    if comb or is_long.any():
        found.awake_after_frame_ms = _awake_after_frame(recording, base, pulses, states == FRAMES, levels)
    _share(found, pulses, states)
    return Estimate(found, base, pulses, states)


def _levels(recording: Recording, base: FloatArray, pulses: Pulses, is_long: BoolArray) -> _Levels:
    """Return the levels of the current in the pulses, as modes weighted with the charge.

    Associations have a different level. They are ignored if there are other pulses.
    """
    currents = recording.currents_ma
    chosen = ~is_long | is_long.all()
    owners = pulses.owners(currents.size)
    is_inside = (owners >= 0) & np.append(chosen, False)[owners]
    if not is_inside.any():
        return _Levels(float(base.mean()))
    excess = currents - base
    is_near = np.append(False, np.abs(np.diff(currents)) < 0.05 * currents[1:])
    is_resolved = bool(excess[is_inside & is_near].sum() > 0.2 * excess[is_inside].sum())
    awake_ma = weighted_mode(currents[is_inside], excess[is_inside])
    full_ma = max(awake_ma - float(base.mean()), 1e-9)
    # Samples at the edges of a pulse have all intermediate values if they are means, and few if they are
    # points. A pulse of one sample has no edges.
    counts = np.histogram(excess[is_inside] / full_ma, np.arange(0.15, 1.0, 0.15))[0]
    has_edges = chosen & (pulses.peaks_ma > 0.5 * full_ma) & (pulses.end - pulses.begin > 1)
    is_point = counts.min() <= 0.12 * has_edges.sum()
    is_resolved |= bool(is_point)
    sample_uc = 1e3 * full_ma * recording.step_s if is_point else 0.0
    is_high = (currents > 1.25 * awake_ma) & (owners >= 0)
    if not is_resolved or is_high.sum() < 5:  # a longer pulse has a higher mean, too
        return _Levels(awake_ma, is_resolved, sample_uc)
    sent = np.flatnonzero(is_high)
    # Samples within one transmission are equal, and no other samples are higher.
    filled = currents[is_high & is_near & np.append(False, is_high[:-1])]
    filled_ma = weighted_mode(filled, filled - awake_ma) if filled.size >= 3 else 0.0
    is_filled = filled_ma > 0.9 * float(np.quantile(currents[sent], 0.9))
    return _Levels(awake_ma, is_resolved, sample_uc, sent, owners[sent], filled_ma if is_filled else None)


def _estimate_beacons(
    found: Calibration,
    pulses: Pulses,
    comb: Comb,
    is_plain: BoolArray,
    observed: int,
    sample_uc: float,
    states: NDArray[np.str_],
) -> None:
    """Estimate the charge per beacon and the share of missed beacons, and fill in the wake-ups' *states*.

    A wake-up with a usual charge is a beacon. A wake-up with a larger charge is

    - a missed beacon, if the charges of several such wake-ups are equal,
    - else a beacon with group addressed frames, if it is in the phase of the DTIM beacons, or if a gap
      separates its charge from the usual charges,
    - else a late beacon.
    """
    charges = pulses.charges_uc
    mode_uc = _mode(charges[is_plain])
    is_missed, missed = _equal_wake_ups(charges, mode_uc, sample_uc, comb, is_plain)
    usual_uc = _highest_usual_uc(charges[is_plain & ~is_missed], mode_uc, sample_uc)
    is_dtim = _group_wake_ups((charges > usual_uc) & ~is_missed, comb, is_plain)
    normal = charges[is_plain & ~is_dtim & ~is_missed]
    if not (normal <= usual_uc).any():  # all wake-ups of a usual charge are in the DTIM phase
        normal = charges[is_plain & ~is_missed]
    cut_uc = usual_uc + _least_group_uc(normal[normal > usual_uc] - usual_uc)
    is_group = is_plain & ~is_missed & (charges > np.where(is_dtim, usual_uc, cut_uc))
    states[is_plain] = BEACONS
    states[is_group] = GROUP_FRAMES
    states[is_missed] = MISSED
    kept = normal[normal <= cut_uc]
    # Beacons that fell between two points
    unseen = max(0, observed - int(is_plain.sum())) if mode_uc < 1.5 * sample_uc else 0
    mean_uc = float(kept.sum()) / (kept.size + unseen)
    error_uc = float(np.hypot(1.96 * kept.std() / (kept.size + unseen) ** 0.5, METER_ERROR * mean_uc))
    low_uc = mean_uc if is_dtim.any() else min(mean_uc, float(kept[kept <= usual_uc].mean()))
    found.beacon_interval_ms = 1e3 * comb.interval_s
    found.beacon_mode_uc, found.beacon_uc = mode_uc, mean_uc
    found.beacon_range_uc = (max(0.0, low_uc - error_uc), mean_uc + error_uc)
    found.missed_share = missed / max(1, observed)


def _mode(charges: FloatArray) -> float:
    """Return the most frequent charge of a wake-up."""
    mode = half_sample_mode(charges)
    return float(np.median(charges[np.abs(charges - mode) <= 0.15 * mode]))


def _highest_usual_uc(charges: FloatArray, mode_uc: float, sample_uc: float) -> float:
    """Return the largest charge of a wake-up for a beacon that is not late.

    This is the mode plus six standard deviations, estimated from the charges below the mode. If samples are
    points in time, equal wake-ups differ by one or two samples, so the margin is at least the charge of 1.5
    samples.
    """
    below_uc = mode_uc - float(np.quantile(charges[charges <= mode_uc], 0.32))
    return mode_uc + max(_WIDE * below_uc, 1.5 * sample_uc)


def _group_wake_ups(is_large: BoolArray, comb: Comb, is_plain: BoolArray) -> BoolArray:
    """Return which wake-ups are for DTIM beacons, which group addressed frames may follow.

    For each possible DTIM period, the phase with the most large wake-ups is tested. The wake-ups in the most
    significant phase are returned, or none if no phase is significant.
    """
    from scipy.special import bdtrc

    large, numbers = comb.numbers[is_plain & is_large], comb.numbers[is_plain]
    best, is_dtim = _ERROR / _MAX_DTIM**2, np.zeros(is_plain.size, bool)
    for dtim in range(2, _MAX_DTIM + 1):
        own, due = (np.bincount(values % dtim, minlength=dtim) for values in (large, numbers))
        phase = int(own.argmax())
        error = float(bdtrc(own[phase] - 1, large.size, due[phase] / max(1, numbers.size)))
        if error < best:
            best, is_dtim = error, is_plain & (comb.numbers % dtim == phase)
    return is_dtim


def _least_group_uc(above: FloatArray) -> float:
    """Return the smallest charge that group addressed frames add to a beacon, or infinity.

    *above* contains the charges of large wake-ups minus the largest usual charge. A late beacon waits for the
    end of a frame on air, and small delays are most frequent. If all large wake-ups are late beacons, at
    least the share x / (2 median) of *above* is therefore below x. Group addressed frames add at least an
    interframe space and a frame. The result is the charge x with the most significant lack of smaller values,
    of which there are at most five.
    """
    from scipy.special import bdtr

    ordered = np.sort(above)
    few = np.arange(min(6, ordered.size))
    if few.size:
        errors = bdtr(few, ordered.size, np.minimum(0.5, ordered[few] / (2 * np.median(ordered))))
        if errors.min() < _ERROR:
            return float(np.nextafter(ordered[errors.argmin()], 0))
    return np.inf


def _equal_wake_ups(
    charges: FloatArray, mode_uc: float, sample_uc: float, comb: Comb, is_plain: BoolArray
) -> tuple[BoolArray, float]:
    """Return whether each pulse has a missed beacon's charge, and the estimated number of missed beacons.

    The receiver waits equally long for each missed beacon, so their charges are equal. The estimate is the
    number of equal charges minus the number expected by chance. Wake-ups with equal charges in a single phase
    of a DTIM period contain group addressed frames of equal length instead. The estimate is then 0.
    """
    from scipy.special import pdtrc

    is_missed = np.zeros(charges.size, bool)
    least_uc = mode_uc + 1.5 * sample_uc
    own = np.sort(charges[is_plain & (charges > least_uc)])
    width = np.maximum(_TIGHT * own, 1.1 * sample_uc)
    tight, around = _count_near(own, width), _count_near(own, _AROUND * width)
    chance = (around - tight) / (_AROUND - 1)
    is_large = own > 1.4 * mode_uc
    errors = is_large.sum() * pdtrc(tight - 1, chance + _PRIOR)
    excess = np.where(is_large & (errors < _ERROR), tight - chance, 0.0)
    if not excess.any():
        return is_missed, 0.0
    best = int(excess.argmax())
    missed = float(excess[best])
    is_equal = is_plain & (charges > least_uc) & (np.abs(charges - own[best]) < 1.5 * width[best])
    numbers = comb.numbers[is_equal]
    is_periodic = numbers.size >= 8 and any(  # fewer than 8 can have the same phase by chance
        np.bincount(numbers % dtim).max() > 0.9 * numbers.size for dtim in range(2, _MAX_DTIM + 1)
    )
    if is_periodic:
        return is_missed, 0.0
    return is_equal, missed


def _count_near(ordered: FloatArray, width: FloatArray) -> FloatArray:
    """Return for each of the *ordered* values how many values are within *width* of it."""
    last = np.searchsorted(ordered, ordered + width, side="right")
    return (last - np.searchsorted(ordered, ordered - width)).astype(float)


def _awake_after_frame(
    recording: Recording, base: FloatArray, pulses: Pulses, is_frame: BoolArray, levels: _Levels
) -> float | None:
    """Return the usual time awake after a frame in ms, or None if fewer than three transmissions are seen.

    In each pulse, this is the longest time between two transmissions, or from the last transmission to the
    end, because a station may announce its doze with a frame. Times are computed from charges, which is exact
    even if samples are long.
    """
    is_used = is_frame[levels.owners]
    sent, owner = levels.sent[is_used], levels.owners[is_used]
    first = np.unique(owner, return_index=True)[1]
    if first.size < 3:
        return None
    charge = np.concatenate([[0.0], np.cumsum((recording.currents_ma - base) * recording.lengths_s)])
    until = np.minimum(np.append(sent[1:], base.size), pulses.end[owner])
    after_mc = np.maximum.reduceat(charge[until] - charge[sent + 1], first)
    after_s = half_sample_mode(after_mc) / (levels.awake_ma - float(base.mean()))
    return 1e3 * after_s


def _share(found: Calibration, pulses: Pulses, states: NDArray[np.str_]) -> None:
    """Set counts and shares of charge. A wake-up with group addressed frames also counts as a beacon."""
    charge = {state: float(pulses.charges_uc[states == state].sum()) for state in STATES}
    found.counts = {state: int((states == state).sum()) for state in STATES}
    with_group = found.counts[GROUP_FRAMES]
    charge[BEACONS] += with_group * (found.beacon_uc or 0.0)
    charge[GROUP_FRAMES] -= with_group * (found.beacon_uc or 0.0)
    found.counts[BEACONS] += with_group
    if associations := found.counts[ASSOCIATION]:
        found.associate_ms = 1e3 * float(pulses.lengths_s[states == ASSOCIATION].mean())
        found.associate_mc = charge[ASSOCIATION] / associations / 1e3
    total_uc = 1e3 * found.mean_ma * found.length_s
    found.shares = {"base": found.base_ma / found.mean_ma}
    found.shares |= {state: value / total_uc for state, value in charge.items()}
    found.shares["unexplained"] = 1 - sum(found.shares.values())
