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

_ASSOCIATION_S = 0.6
# Between the largest base in modem sleep, 38 mA, and the least current of an awake radio.
_ALWAYS_ON_MA = 45.0
_WHOLE_S = 5e-4
_FOLLOW_UP_S = 3e-3
_MAX_MISSED = 0.3
_ERROR = 0.05  # usual level of significance: chance alone is taken for missed beacons
_LONGEST_BEACON = 1.12  # relative to the usual one, where the length varies by 5 %
_TIGHT, _AROUND = 0.04, 5.0
_MAX_DTIM = 10
_SHORTEST_S = 0.05


@dataclass
class Calibration:
    """Currents and charges of a chip, estimated from a recording. None is a value that was not found.

    Charges exceed the base. ``beacon_interval_ms`` is the time between two wake-ups, the beacon interval
    times the listen interval. ``beacon_mode_uc`` is the charge of most beacons, ``beacon_uc`` the mean, which
    includes late ones, and ``beacon_error_uc`` half its 95 % interval, including the error of the meter.
    ``shares`` are shares of the mean current that sum to 1.
    """

    length_s: float
    mean_ma: float
    base_ma: float
    awake_ma: float | None = None
    awake_is_resolved: bool = False
    transmit_ma: float | None = None
    beacon_interval_ms: float | None = None
    beacon_uc: float | None = None
    beacon_error_uc: float | None = None
    beacon_mode_uc: float | None = None
    missed_share: float | None = None
    awake_after_frame_ms: float | None = None
    associate_ms: float | None = None
    associate_mc: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)

    @property
    def associations(self) -> int:
        """Number of associations."""
        return self.counts[ASSOCIATION]


class Estimate(NamedTuple):
    """Calibration, with the base in mA at each sample, the pulses and their states."""

    calibration: Calibration
    base_ma: FloatArray
    pulses: Pulses
    states: NDArray[np.str_]


class _Levels(NamedTuple):
    """Levels of an awake and of a transmitting radio in mA.

    ``is_resolved`` says whether samples are seen at the first, and ``sample_uc`` is the charge of one of them
    if they are points, and 0 if they are means. ``sent`` are the indices of the samples with a transmission,
    which may fill them only in part. ``transmit_ma`` is None unless some are filled.
    """

    awake_ma: float
    is_resolved: bool = False
    sample_uc: float = 0.0
    sent: NDArray[np.intp] = np.empty(0, np.intp)
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
    has_sent = np.searchsorted(levels.sent, pulses.begin) < np.searchsorted(levels.sent, pulses.end)
    may_be = ~has_sent & ~is_long & (pulses.charges_uc > 0)
    if recording.step_s <= _WHOLE_S:  # a beacon fills a sample
        may_be &= pulses.peaks_ma > 0.5 * (levels.awake_ma - found.base_ma)
    comb = find_comb(recording, pulses, may_be, beacon_s)
    is_plain = comb.is_on if comb else np.zeros(is_long.size, bool)
    if comb and (is_plain & ~pulses.is_cut).sum() > 1:
        _estimate_beacons(found, pulses, comb, is_plain, levels.sample_uc, states)
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
    """Return the levels at which the current stays, as modes weighted with the charge.

    Associations are left out, since their level is another one, unless there is little else.
    """
    currents = recording.currents_ma
    charge = pulses.charges_uc
    chosen = ~is_long if charge[~is_long].sum() > 0.05 * charge.sum() else np.ones(is_long.size, bool)
    depth = np.zeros(currents.size + 1, int)
    np.add.at(depth, pulses.begin[chosen], 1)
    np.add.at(depth, pulses.end[chosen], -1)
    is_inside = np.cumsum(depth)[:-1] > 0
    if not is_inside.any():
        return _Levels(float(base.mean()))
    excess = currents - base
    is_near = np.append(False, np.abs(np.diff(currents)) < 0.05 * currents[1:])
    is_steady = is_inside & is_near & np.append(is_near[1:], False)
    is_resolved = bool(excess[is_steady].sum() > 0.2 * excess[is_inside].sum())
    use = is_steady if is_resolved else is_inside
    awake_ma = weighted_mode(currents[use], excess[use])
    full_ma = max(awake_ma - float(base.mean()), 1e-9)
    is_partial = is_inside & (excess > 0.15 * full_ma) & (excess < 0.85 * full_ma)
    is_point = is_partial.sum() < 0.5 * (chosen & (pulses.peaks_ma > 0.5 * full_ma)).sum()
    is_resolved |= bool(is_point)
    sample_uc = 1e3 * full_ma * recording.step_s if is_point else 0.0
    # A single high sample above the base is a glitch of the meter.
    is_awake = np.concatenate([[False], excess > 0.5 * full_ma, [False]])
    is_high = (currents > 1.25 * awake_ma) & (is_awake[:-2] | is_awake[2:])
    if is_high.sum() < 5:
        return _Levels(awake_ma, is_resolved, sample_uc)
    high_ma = float(np.quantile(currents[is_high], 0.9))
    sent = np.flatnonzero(is_high & (currents > awake_ma + 0.3 * (high_ma - awake_ma)))
    # Samples that a transmission fills are equal, and no others are higher.
    filled = currents[np.flatnonzero(is_high & is_near & np.append(False, is_high[:-1]))]
    filled_ma = weighted_mode(filled, filled - awake_ma) if filled.size >= 3 else 0.0
    return _Levels(awake_ma, is_resolved, sample_uc, sent, filled_ma if filled_ma > 0.9 * high_ma else None)


def _estimate_beacons(
    found: Calibration,
    pulses: Pulses,
    comb: Comb,
    is_plain: BoolArray,
    sample_uc: float,
    states: NDArray[np.str_],
) -> None:
    """Estimate the charge per beacon and the share of missed ones, and set the *states* of the wake-ups.

    Wake-ups of a usual charge are beacons. Of the others, those with equal charges, or with another wake-up a
    beacon interval later, are missed beacons, and the rest are beacons with group
    addressed frames.
    """
    charges = pulses.charges_uc
    is_whole = is_plain & ~pulses.is_cut
    is_dtim = _group_wake_ups(charges, comb, is_plain)
    is_missed = np.zeros(is_plain.size, bool)
    mode_uc = _mode(charges[is_whole & ~is_dtim])
    if sample_uc < 0.1 * mode_uc:
        sample_uc = 0.0
    is_large = charges > 1.25 * mode_uc
    follow_up_s = _follow_up_s(pulses, comb, is_plain & is_large, is_plain & ~is_large, mode_uc)
    index = _next_pulse(pulses, pulses.starts_s + follow_up_s)
    is_followed = is_plain & is_large & (index >= 0) & (charges[index] > 0.5 * mode_uc) & ~comb.is_on[index]
    is_missed, missed = _equal_wake_ups(charges, mode_uc, sample_uc, comb, is_plain)
    if follow_up_s and is_followed.sum() >= missed:
        is_missed, missed = is_followed, float(is_followed.sum())
    mode_uc = _mode(charges[is_whole & ~is_dtim & ~is_missed])
    cut_uc = _highest_charge(charges[is_whole & ~is_dtim & ~is_missed], mode_uc, sample_uc)
    is_usual = is_plain & ~is_missed & (charges <= cut_uc)
    states[is_plain] = GROUP_FRAMES
    states[is_usual] = BEACONS
    states[is_missed] = MISSED
    if follow_up_s:
        after = index[is_missed & is_followed]
        states[after] = np.where(charges[after] <= cut_uc, BEACONS, MISSED)
    normal = charges[is_usual & is_whole & ~is_dtim]
    count = normal.size
    if mode_uc < 1.5 * sample_uc:  # points miss some pulses
        count += max(0, comb.observed - int(comb.is_on.sum()))
    mean_uc = float(normal.sum()) / max(count, 1)
    spread_uc = float(np.sqrt(np.mean((normal - normal.mean()) ** 2))) if normal.size else 0.0
    found.beacon_interval_ms = 1e3 * comb.interval_s
    found.beacon_mode_uc, found.beacon_uc = mode_uc, mean_uc
    found.beacon_error_uc = float(np.hypot(1.96 * spread_uc / max(count, 1) ** 0.5, METER_ERROR * mean_uc))
    found.missed_share = missed / max(1, comb.observed)


def _mode(charges: FloatArray) -> float:
    """Return the charge of most wake-ups; missed beacons and group addressed frames have more."""
    mode = half_sample_mode(charges[charges <= np.quantile(charges, 0.6)])
    near = charges[np.abs(charges - mode) < 0.15 * mode]
    return float(np.median(near)) if near.size else mode


def _next_pulse(pulses: Pulses, times_s: FloatArray) -> NDArray[np.intp]:
    """Return the pulse that begins at each time, or -1."""
    index = np.searchsorted(pulses.starts_s, times_s - _FOLLOW_UP_S)
    starts_s = np.append(pulses.starts_s, np.inf)[index]
    return np.where(starts_s < times_s + _FOLLOW_UP_S, index, -1)


def _follow_up_s(
    pulses: Pulses, comb: Comb, is_large: BoolArray, is_small: BoolArray, mode_uc: float
) -> float:
    """Return the time from a missed beacon to the next one, at which the station wakes up again, or 0.

    It is a fraction of the interval between the wake-ups if the station does not wake up for every beacon.
    More pulses follow large wake-ups at that time than small ones.
    """
    from scipy.special import pdtrc

    best_s, least = 0.0, _ERROR
    for listen_interval in range(2, int(comb.interval_s / _SHORTEST_S) + 1):
        wait_s = comb.interval_s / listen_interval
        index = _next_pulse(pulses, pulses.starts_s + wait_s)
        follows = (index >= 0) & ~comb.is_on[index] & (pulses.charges_uc[index] > 0.5 * mode_uc)
        chance = (0.5 + (follows & is_small).sum()) / (1 + is_small.sum()) * is_large.sum()
        error = float(pdtrc((follows & is_large).sum() - 1, chance))
        if error < least:
            best_s, least = wait_s, error
    return best_s


def _group_wake_ups(charges: FloatArray, comb: Comb, is_plain: BoolArray) -> BoolArray:
    """Return which wake-ups are for beacons followed by group addressed frames.

    They are one in a DTIM period, and have more charge than the others.
    """
    index = np.flatnonzero(is_plain)
    numbers = comb.numbers[index]
    ranks = np.argsort(np.argsort(charges[index])) / max(1, index.size - 1)
    best, is_dtim = 5.0, np.zeros(charges.size, bool)
    for dtim in range(2, _MAX_DTIM + 1):
        for phase in range(dtim):
            own = ranks[numbers % dtim == phase]
            if own.size >= 5 and (own.mean() - 0.5) * (12 * own.size) ** 0.5 > best:
                best = (own.mean() - 0.5) * (12 * own.size) ** 0.5
                is_dtim[:] = False
                is_dtim[index[numbers % dtim == phase]] = True
    return is_dtim


def _highest_charge(charges: FloatArray, mode_uc: float, sample_uc: float) -> float:
    """Return the charge above which a wake-up is more than a beacon, perhaps a late one.

    A beacon waits for the rest of the frames on air, so longer delays are rarer. Where the excess over the
    mode is more likely a mixture of an exponential distribution and a uniform one that begins higher than a
    mixture of two exponential ones, the uniform part has group frames, and the limit is where both are
    equally likely. Point samples are too coarse for a mixture. Their limit is 4.5 times the mean delay,
    estimated by the lowest quarter. A pause of the charges before that ends the beacons, too.
    """
    above = np.sort(charges[charges > mode_uc]) - mode_uc
    if not above.size:
        return np.inf
    if sample_uc:
        limit_uc = 4.5 * float(np.quantile(above, 0.25)) / np.log(4 / 3) + 1.5 * sample_uc
    else:
        below_uc = mode_uc - float(np.quantile(charges[charges <= mode_uc], 0.32))
        limit_uc = max(_end_of_late(above), 4 * below_uc)
    pauses = np.diff(np.log(above + mode_uc)) > 0.2 + (np.log1p(sample_uc / mode_uc) if sample_uc else 0.0)
    if pauses.any():
        limit_uc = min(limit_uc, float(above[pauses.argmax()]))
    return float(mode_uc + max(limit_uc, 0.3 * mode_uc))


def _end_of_late(above: FloatArray) -> float:
    """Return the excess at which group addressed frames begin, or infinity, by expectation maximisation."""
    longest = float(above[-1])
    start = max(float(np.quantile(above, 0.25)), 1e-3 * longest)
    best, limit = _mixture(above, start, None)[0], np.inf
    for begin in (0.0, *np.quantile(above, np.linspace(0.3, 0.95, 14))):
        likelihood, mean, share = _mixture(above, start, float(begin))
        if likelihood > best:
            odds = share * (longest - begin) / max((1 - share) * mean, 1e-9)
            best, limit = likelihood, max(begin, mean * np.log(max(odds, 1.0)))
    return float(limit)


def _mixture(above: FloatArray, mean: float, begin: float | None) -> tuple[float, float, float]:
    """Return log likelihood of a mixture, and mean and share of its exponential part.

    The other part is uniform from *begin* to the largest value, or exponential, too, if *begin* is None.
    """
    share, longest, other = 0.5, float(above[-1]) * (1 + 1 / above.size), float(above.mean())
    for _ in range(60):
        late = share * np.exp(-above / mean) / mean
        density = np.exp(-above / other) / other
        if begin is not None:
            density = (above >= begin) / max(longest - begin, 1e-9)
        rest = (1 - share) * density
        total = late + rest + 1e-300
        weight = late / total
        share = float(np.clip(weight.mean(), 1e-3, 0.999))
        mean = max(float(weight @ above / weight.sum()), 1e-3 * longest / above.size)
        if begin is None:
            other = max(float((1 - weight) @ above / (1 - weight).sum()), mean)
    return float(np.log(total).sum()), mean, share


def _equal_wake_ups(
    charges: FloatArray, mode_uc: float, sample_uc: float, comb: Comb, is_plain: BoolArray
) -> tuple[BoolArray, float]:
    """Return the wake-ups of equal charge above that of a beacon, and how many of them are missed beacons.

    The receiver waits equally long for each missed beacon. Pulses that have that charge by chance are
    subtracted from the number. Point samples see a beacon in one of two numbers of samples, so pulses of more
    samples are missed beacons if nearly all of them have two numbers.
    """
    from scipy.special import pdtrc

    is_missed = np.zeros(charges.size, bool)
    least_uc = mode_uc
    if sample_uc:
        longest_uc = _LONGEST_BEACON * float(np.median(charges[is_plain]))
        least_uc = (np.floor(longest_uc / sample_uc) + 1.5) * sample_uc
    own = np.sort(charges[is_plain & (charges > least_uc)])
    width = np.maximum(_TIGHT * own, 1.1 * sample_uc)
    tight, around = _count_near(own, width), _count_near(own, _AROUND * width)
    chance = (around - tight) / (_AROUND - 1)
    is_large = own > 1.4 * mode_uc
    errors = is_large.sum() * pdtrc(tight - 1, chance + 1 / (_AROUND - 1))
    excess = np.where(is_large & (errors < _ERROR), tight - chance, 0.0)
    if not excess.any():
        return is_missed, 0.0
    best = int(excess.argmax())
    missed = float(excess[best])
    is_equal = is_plain & (charges > least_uc) & (np.abs(charges - own[best]) < 1.5 * width[best])
    numbers = comb.numbers[is_equal]
    is_periodic = numbers.size >= 8 and any(  # fewer are in the same phase by chance
        np.bincount(numbers % dtim).max() > 0.9 * numbers.size for dtim in range(2, _MAX_DTIM + 1)
    )
    if (sample_uc and missed < 0.8 * own.size) or is_periodic or missed > _MAX_MISSED * is_plain.sum():
        return is_missed, 0.0
    return is_equal, missed


def _count_near(ordered: FloatArray, width: FloatArray) -> FloatArray:
    """Return how many of the *ordered* values are within *width* of each of them."""
    last = np.searchsorted(ordered, ordered + width, side="right")
    return (last - np.searchsorted(ordered, ordered - width)).astype(float)


def _awake_after_frame(
    recording: Recording, base: FloatArray, pulses: Pulses, is_frame: BoolArray, levels: _Levels
) -> float | None:
    """Return the usual time awake after a frame in ms, or None if fewer than three transmissions are seen.

    It is the longest time in a pulse between two transmissions, or from the last one to the end, since a
    station may announce with a frame that it sleeps. The charge gives the time, also where samples are long.
    Half of the sample with the transmission belongs to it.
    """
    owner = np.searchsorted(pulses.begin, levels.sent, side="right") - 1
    is_used = (is_frame & ~pulses.is_cut)[owner] & (levels.sent < pulses.end[owner])
    sent, owner = levels.sent[is_used], owner[is_used]
    first = np.unique(owner, return_index=True)[1]
    if first.size < 3:
        return None
    charge = np.concatenate([[0.0], np.cumsum((recording.currents_ma - base) * recording.lengths_s)])
    until = np.minimum(np.append(sent[1:], base.size), pulses.end[owner])
    after_mc = np.maximum.reduceat(charge[until] - charge[sent + 1], first)
    after_s = half_sample_mode(after_mc) / (levels.awake_ma - float(base.mean())) + recording.step_s / 2
    return 1e3 * after_s


def _share(found: Calibration, pulses: Pulses, states: NDArray[np.str_]) -> None:
    """Set counts and shares of charge. A wake-up with group addressed frames also counts as a beacon."""
    charge = {state: float(pulses.charges_uc[states == state].sum()) for state in STATES}
    found.counts = {state: int((states == state).sum()) for state in STATES}
    with_group = found.counts[GROUP_FRAMES]
    charge[BEACONS] += with_group * (found.beacon_uc or 0.0)
    charge[GROUP_FRAMES] -= with_group * (found.beacon_uc or 0.0)
    found.counts[BEACONS] += with_group
    if found.associations:
        found.associate_ms = 1e3 * float(pulses.lengths_s[states == ASSOCIATION].mean())
        found.associate_mc = charge[ASSOCIATION] / found.associations / 1e3
    total_uc = 1e3 * found.mean_ma * found.length_s
    found.shares = {"base": found.base_ma / found.mean_ma}
    found.shares |= {state: value / total_uc for state, value in charge.items()}
    found.shares["unexplained"] = 1 - sum(found.shares.values())
