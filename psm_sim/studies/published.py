"""Published numbers beside ours, and whether they agree, by a rule that was fixed beforehand."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psm_sim.estimates import Interval, interval

_FILE = Path(__file__).with_name("published.toml")


@dataclass(frozen=True)
class Published:
    """One published number: a value with the unit of its last digit, an upper bound, or a range."""

    study: str
    policy: str
    quantity: str
    source: str
    value: float | None = None
    unit: float = 0.0
    at_most: float | None = None
    low: float | None = None
    high: float | None = None
    not_comparable: str = ""

    def __str__(self) -> str:
        if self.value is not None:
            return f"{self.value:g}"
        return f"<= {self.at_most:g}" if self.at_most is not None else f"{self.low:g} to {self.high:g}"

    def difference(self, ours: float) -> float | None:
        """Return ours minus the published value; None for a bound or a range."""
        return None if self.value is None else ours - self.value

    def verdict(self, ours: Interval, largest: float, relative: float) -> str:
        """Return ``agrees``, ``differs`` or ``not comparable`` (the rule stands in ``published.toml``).

        Parameters
        ----------
        ours : Interval
            Our mean with its confidence interval, in the published unit.
        largest : float
            Our largest value, which is held against a published bound.
        relative : float
            The tolerance as a share of the published value.
        """
        if self.not_comparable:
            return "not comparable"
        if self.at_most is not None:
            return "agrees" if largest <= self.at_most * (1 + 1e-9) else "differs"
        low, high = (self.value, self.value) if self.value is not None else (self.low, self.high)
        assert low is not None  # noqa: S101
        assert high is not None  # noqa: S101
        ends = ((low, -1), (high, 1))
        below, above = (
            end + sign * (max(self.unit / 2, relative * abs(end)) + ours.half_width) for end, sign in ends
        )
        return "agrees" if below <= ours.mean <= above else "differs"


@dataclass(frozen=True)
class Claim:
    """A published number with ours beside it."""

    published: Published
    ours: Interval
    largest: float
    verdict: str


def published_numbers(study: str) -> list[Published]:
    """Return the published numbers that a study is compared with."""
    return [number for number in _load()[0] if number.study == study]


def claims(study: str, values: Mapping[tuple[str, str], Sequence[float]]) -> list[Claim]:
    """Set ours beside each published number of a study; *values* are ours by (policy, quantity)."""
    numbers, relative = _load()
    found = []
    for number in numbers:
        if number.study == study:
            ours = list(values[number.policy, number.quantity])
            mean, largest = interval(ours), max(ours)
            found.append(Claim(number, mean, largest, number.verdict(mean, largest, relative)))
    return found


def _load() -> tuple[list[Published], float]:
    table = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return [_number(entry) for entry in table["number"]], float(table["relative_tolerance"])


def _number(entry: dict[str, Any]) -> Published:
    renamed = {"from": "low", "to": "high"}
    return Published(**{renamed.get(key, key): value for key, value in entry.items()})
