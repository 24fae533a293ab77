"""Published numbers, simulated values, and verdicts by a rule that was fixed beforehand."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from math import inf, isinf
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from psm_sim.common.summary_stats import Interval, confidence_interval
from psm_sim.simulation.preset import Preset

_FILE = Path(__file__).with_name("published.toml")


class Words(NamedTuple):
    """Names of the four verdicts of :func:`judge`."""

    below: str = "differs"
    inside: str = "agrees"
    above: str = "differs"
    otherwise: str = "undecided"


AGREEMENT, OPEN_AGREEMENT = Words(), Words(otherwise="open")


def judge(value: Interval, low: float = -inf, high: float = inf, words: Words = AGREEMENT) -> str:
    """Return the verdict on a simulated value. Every study judges by this function.

    The verdict depends on whether the confidence interval lies below *low*, between both limits or above
    *high*, or contains a limit.

    Parameters
    ----------
    value : Interval
        Simulated mean with its confidence interval. The interval of a single value has no width.
    low, high : float
        Limits of a claim. A value on a limit is not inside.
    words : Words
        Names of the verdicts.
    """
    if value.high < low:
        return words.below
    if value.low > high:
        return words.above
    return words.inside if low < value.low and value.high < high else words.otherwise


PLURALS = {
    "agrees": "agree",
    "open": "open",
    "undecided": "undecided",
    "differs": "differ",
    "not comparable": "not comparable",
    "no fit": "no fit",
}
"""Verdicts in the order of a tally, with their plurals."""


def tally(verdicts: Iterable[str]) -> str:
    """Return the number of verdicts of each kind as text, such as ``2 agree, 1 differ``."""
    counts = Counter(verdicts)
    return ", ".join(f"{counts[verdict]} {plural}" for verdict, plural in PLURALS.items() if counts[verdict])


def agreement(verdicts: Iterable[str]) -> str:
    """Return the number of verdicts that agree as text, such as ``2 of 3``."""
    verdicts = list(verdicts)
    return f"{verdicts.count('agrees')} of {len(verdicts)}"


def tally_rows(verdicts: Iterable[str]) -> str:
    """Return the tally of rows as text, such as ``2 of 3 rows agree, 1 differ``."""
    verdicts = list(verdicts)
    others = tally(verdict for verdict in verdicts if verdict != "agrees")
    return f"{agreement(verdicts)} rows agree{', ' * bool(others)}{others}"


@dataclass(frozen=True)
class PublishedNumber:
    """Published number or statement: a value with the unit of its last digit, a bound, or a range.

    Parameters
    ----------
    study, policy, quantity : str
        Names that identify the number.
    source : str
        Publication, with the section or figure.
    value, unit : float
        Value and the unit of its last printed digit.
    at_most : float, optional
        Upper bound, which the largest simulated value must not exceed.
    low, high : float
        Ends of a range. A range with one end states the sign of a difference, and a range from 0 to 0 states
        that there is no difference.
    not_comparable : str
        Reason why no simulated value can be compared with the number; empty if one can.
    """

    study: str
    policy: str
    quantity: str
    source: str
    value: float | None = None
    unit: float = 0.0
    at_most: float | None = None
    low: float = -inf
    high: float = inf
    not_comparable: str = ""

    def __str__(self) -> str:
        if self.value is not None:
            return f"{self.value:g}"
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        if self.low == self.high:
            return "no difference"
        if isinf(self.high):
            return f"above {self.low:g}"
        return f"below {self.high:g}" if isinf(self.low) else f"{self.low:g} to {self.high:g}"

    @property
    def key(self) -> str:
        """Name of the number in the preset files: ``STUDY/POLICY/QUANTITY``."""
        return f"{self.study}/{self.policy}/{self.quantity}"

    def difference(self, ours: float) -> float | None:
        """Return the simulated value *ours* minus the published value; None for a bound or a range."""
        return None if self.value is None else ours - self.value

    def verdict(self, ours: Interval, largest: float, relative: float = 0.0, words: Words = AGREEMENT) -> str:
        """Return the verdict on simulated values, or ``not comparable``.

        The rule is stated in ``published.toml``.

        Parameters
        ----------
        ours : Interval
            Simulated mean with its confidence interval, in the published unit.
        largest : float
            Largest simulated value, which is compared with a published bound.
        relative : float
            Tolerance as a share of the published value.
        words : Words
            Names of the verdicts.
        """
        if self.not_comparable:
            return "not comparable"
        judged = ours if self.at_most is None else Interval(largest, 0.0, ours.replications)
        return judge(judged, *self.limits(relative), words)

    def limits(self, relative: float = 0.0) -> tuple[float, float]:
        """Return the limits between which the number agrees.

        The tolerance is the larger of half a unit of the last digit and *relative* times the value.
        """
        if self.at_most is not None:
            return -inf, self.at_most * (1 + 1e-9)
        low, high = (self.low, self.high) if self.value is None else (self.value, self.value)
        if self.value is None and not 0 < high - low < inf:  # a difference, which has no tolerance
            return low, high
        tolerances = [max(self.unit / 2, relative * abs(end)) for end in (low, high)]
        slack = 1e-12  # rounding errors do not decide about a mean on the edge
        return low - tolerances[0] - slack, high + tolerances[1] + slack


@dataclass(frozen=True)
class Claim:
    """Published number with the simulated value and the verdict.

    ``ours`` is the simulated mean and ``largest`` the largest simulated value. ``preset`` names the setting
    of the runs, and ``role`` is the role of the number in that preset. ``kept`` is the share of replications
    that keep a published bound.
    """

    published: PublishedNumber
    ours: Interval
    largest: float
    verdict: str
    preset: str = ""
    role: str = ""
    kept: float | None = None


def study_texts(study: str) -> dict[str, Any]:
    """Return the name of a study with its title and other fixed texts, as arguments of its findings."""
    return {"study": study, **_load()["study"][study]}


def published_numbers(study: str) -> list[PublishedNumber]:
    """Return the published numbers of a study."""
    return [_number(entry) for entry in _entries("number", study)]


def searched_sources(study: str) -> pd.DataFrame:
    """Return the sources that were searched for a study, with what was found, as a table."""
    return pd.DataFrame(_entries("source", study)).drop(columns="study")


def published_claims(
    study: str, values: Mapping[tuple[str, str], Sequence[float]], preset: Preset
) -> list[Claim]:
    """Compare the simulated values with each published number of a study.

    Parameters
    ----------
    study : str
        Name of the study in the file of published numbers.
    values : mapping of (str, str) to sequence of float
        Simulated values, one per replication, by policy and quantity.
    preset : Preset
        Setting of the runs.
    """
    numbers = published_numbers(study)
    return [claim_of(number, values[number.policy, number.quantity], preset) for number in numbers]


CALIBRATES, FITTED, PREDICTED = "calibrates", "fitted", "predicted"
"""Role of a published number for a preset: it calibrated the preset, it influenced a choice, or neither."""


def role_of(number: str, preset: Preset) -> str:
    """Return the role of a published number, ``STUDY/POLICY/QUANTITY``."""
    for role, choices in ((CALIBRATES, preset.calibrated), (FITTED, preset.fitted)):
        if any(fnmatchcase(number, pattern) for choice in choices for pattern in choice.looked_at):
            return role
    return PREDICTED


def claim_of(number: PublishedNumber, values: Sequence[float], preset: Preset | None = None) -> Claim:
    """Compare the simulated values with one published number.

    Parameters
    ----------
    number : PublishedNumber
        Published number.
    values : sequence of float
        Simulated values, one per replication, at least one.
    preset : Preset, optional
        Setting of the runs. Without a preset, no choice depends on the number, so its role is ``PREDICTED``.
    """
    ours, largest = confidence_interval(values), max(values)
    share_kept = None
    if number.at_most is not None:
        share_kept = sum(value <= number.limits()[1] for value in values) / len(values)
    verdict = number.verdict(ours, largest, relative=_load()["relative_tolerance"])
    name, role = ("", PREDICTED) if preset is None else (preset.name, role_of(number.key, preset))
    return Claim(number, ours, largest, verdict, name, role, share_kept)


def count_agreeing(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims that agree."""
    return [claim for claim in claims if claim.verdict == "agrees"]


@cache
def _load() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _entries(kind: str, study: str) -> list[dict[str, Any]]:
    return [entry for entry in _load()[kind] if entry["study"] == study]


def _number(entry: dict[str, Any]) -> PublishedNumber:
    fields = {"from": "low", "to": "high"}
    return PublishedNumber(**{fields.get(key, key): value for key, value in entry.items()})
