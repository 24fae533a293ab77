"""Members of a topology: the stations that share the air of one access point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from psm_sim.errors import InputError
from psm_sim.parameters import check_all, parameter
from psm_sim.registry import unknown_name_error


@dataclass(frozen=True)
class StationSpec:
    """Some stations alike on one access point; what is left out is as the run is asked for.

    250 stations are more than an access point serves, whose TIM has room for 2007. ``seed`` is that of the
    first one, the others have the seeds after it; without, a station has the run's seed plus its place among
    all of them, counted from 0.
    """

    name: str
    count: int = parameter(1, "how many there are", at_least=1, at_most=250)
    policy: str | None = parameter(None, "its policy, with parameters", optional=True, kind=str)
    trace: str | None = parameter(None, "what it loads, with parameters", optional=True, kind=str)
    pages: int | None = parameter(
        None, "how many pages it loads", at_least=1, at_most=10_000_000, optional=True, kind=int
    )
    profile: str | None = parameter(None, "its chip", optional=True, kind=str)
    seed: int | None = parameter(
        None, "seed of its pages", at_least=0, at_most=2**32 - 1, optional=True, kind=int
    )

    def __post_init__(self) -> None:
        check_all(self, f"station {self.name}")

    @property
    def names(self) -> list[str]:
        """The name of each of them."""
        if self.count == 1:
            return [self.name]
        return [f"{self.name}-{number}" for number in range(1, self.count + 1)]


def members_of(tables: Any, where: str) -> tuple[StationSpec, ...]:
    """Return the members that the tables ``[[stations]]`` of a file declare.

    Raises
    ------
    InputError
        If they are no tables, have unknown keys or values out of range, or two have the same name.
    """
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{where}: stations is {tables!r}; expected tables, each as [[stations]].")
    members = tuple(_member(table, f"{where}: stations") for table in tables)
    names = [name for member in members for name in member.names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{where}: stations: two have the name {twice[0]!r}; expected one name each.")
    return members


def _member(table: Mapping[str, Any], where: str) -> StationSpec:
    known = [field.name for field in fields(StationSpec)]
    for key in table:
        if key not in known:
            raise InputError(f"{where}: {unknown_name_error('key', key, known)}")
    if not table.get("name"):
        raise InputError(f"{where}: name is {table.get('name')!r}; expected a text, the name of the station.")
    for key in ("name", "policy", "trace", "profile"):
        if not isinstance(table.get(key, ""), str):
            raise InputError(f"{where}: {key} is {table[key]!r}; expected a text.")
    return StationSpec(**table)
