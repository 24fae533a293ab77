"""Stations of a topology that share the channel of one access point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from psm_sim.common.errors import InputError
from psm_sim.common.parameters import check_all, parameter
from psm_sim.common.registry import unknown_name_error


@dataclass(frozen=True)
class StationSpec:
    """Group of identical stations at one access point. Omitted values are those of the run.

    A TIM addresses 2007 stations, but access points serve fewer than the maximum of 250. The stations of the
    group have the seeds ``seed``, ``seed + 1`` and so on. Without ``seed``, a station has the seed of the run
    plus its index among all stations, counted from 0.
    """

    name: str
    count: int = parameter(1, "number of stations", at_least=1, at_most=250)
    policy: str | None = parameter(None, "policy, with parameters", optional=True, kind=str)
    trace: str | None = parameter(None, "trace, with parameters", optional=True, kind=str)
    pages: int | None = parameter(
        None, "number of pages", at_least=1, at_most=10_000_000, optional=True, kind=int
    )
    profile: str | None = parameter(None, "chip profile", optional=True, kind=str)
    seed: int | None = parameter(
        None, "seed of the pages", at_least=0, at_most=2**32 - 1, optional=True, kind=int
    )

    def __post_init__(self) -> None:
        check_all(self, f"station {self.name}")

    @property
    def names(self) -> list[str]:
        """The name of each station."""
        if self.count == 1:
            return [self.name]
        return [f"{self.name}-{number}" for number in range(1, self.count + 1)]


def members_of(tables: Any, where: str) -> tuple[StationSpec, ...]:
    """Return the station groups that the tables ``[[stations]]`` of a file declare.

    Raises
    ------
    InputError
        If *tables* is not a list of tables, has unknown keys or values out of range, or a name twice.
    """
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{where}: stations must be declared as [[stations]] tables, got {tables!r}.")
    members = tuple(_member(table, f"{where}: stations") for table in tables)
    names = [name for member in members for name in member.names]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise InputError(f"{where}: stations: duplicate name {duplicates[0]!r}; names must be unique.")
    return members


def _member(table: Mapping[str, Any], where: str) -> StationSpec:
    valid = [field.name for field in fields(StationSpec)]
    for key in table:
        if key not in valid:
            raise InputError(f"{where}: {unknown_name_error('key', key, valid)}")
    if not table.get("name"):
        raise InputError(f"{where}: name must be a non-empty string, got {table.get('name')!r}.")
    for key in ("name", "policy", "trace", "profile"):
        if not isinstance(table.get(key, ""), str):
            raise InputError(f"{where}: {key} must be a string, got {table[key]!r}.")
    return StationSpec(**table)
