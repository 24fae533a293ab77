"""Explore page that needs no server: the results of a grid of settings in one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from psm_sim.common.errors import InputError
from psm_sim.common.output_files import atomic_write_text
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.run_many import run_many
from psm_sim.reporting.explore.page import Compare, cell_of, page_text
from psm_sim.reporting.explore.settings import Settings, fitting_sizes

POLICIES_VIEW = "policies"
"""Title of the first view."""

_VIEWS = {
    POLICIES_VIEW: ("bsd:p=1", "lpsm", "anticipate:price=0.25"),
    "bound p of BSD": tuple(f"bsd:p={p}" for p in ("0.1", "0.2", "0.5", "1", "2")),
    "gamma of LPSM": ("lpsm", *(f"lpsm:gamma={gamma}" for gamma in ("0.000001", "0.00001", "0.0001"))),
    "learner of LPSM": ("lpsm", *(f"lpsm:alpha={alpha}" for alpha in ("0", "0.001", "0.1"))),
    "price of anticipate": tuple(f"anticipate:price={price}" for price in ("0.1", "0.25", "1", "10")),
}
"""Compared policies of each view, by the title of the view."""


@dataclass(frozen=True)
class ControlGrid:
    """Values of the controls of a static page.

    Attributes
    ----------
    traces, profiles, round_trips_ms, dtims : sequence of str
        Traces, chip profiles, round-trip times and DTIM periods, as in
        :class:`~psm_sim.reporting.explore.settings.Settings`.
    policies : sequence of str
        Policies of the first view.
    """

    traces: Sequence[str] = ("ucb", "modern", "mqtt")
    profiles: Sequence[str] = ("", "esp32")
    round_trips_ms: Sequence[str] = ("40", "160")
    dtims: Sequence[str] = ("1", "3")
    policies: Sequence[str] = _VIEWS[POLICIES_VIEW]

    @property
    def views(self) -> dict[str, Sequence[str]]:
        """Compared policies of each view, by the title of the view."""
        return {**_VIEWS, POLICIES_VIEW: Settings(policies=tuple(self.policies)).completed_policies}

    @property
    def settings(self) -> list[Settings]:
        """Settings for each combination of trace, chip, round-trip time and DTIM period."""
        policies = tuple(dict.fromkeys(policy for view in self.views.values() for policy in view))
        combinations = product(self.traces, self.profiles, self.round_trips_ms, self.dtims)
        return [
            Settings(
                *values, policies=policies, pages=_pages(values[0]), seeds=fitting_sizes(values[0])["seeds"]
            )
            for values in combinations
        ]


def _pages(trace: str) -> str:
    """Return half of the usual number of pages, because a static page has several times as many policies."""
    return str(max(1, int(fitting_sizes(trace)["pages"]) // 2))


_GENERATOR = '<meta name="generator" content="psm_sim explore --static">'


def usable_page(folder: Path) -> Path:
    """Return the path of the page in *folder* after checking that it replaces no file of the user.

    Raises
    ------
    InputError
        If the folder has an ``index.html`` that :func:`write_static_page` has not written.
    """
    path = folder / "index.html"
    if path.exists() and _GENERATOR not in path.read_text(encoding="utf-8", errors="replace"):
        raise InputError(
            f"--static: {str(path)!r} already exists and is not a page of explore --static; choose another"
            " folder."
        )
    return path


def write_static_page(
    path: Path,
    grid: ControlGrid,
    compare: Compare,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> None:
    """Simulate all settings of the *grid*, and write the page to *path*.

    *workers* and *progress* are as in :func:`~psm_sim.common.run_many.run_many`.
    """
    function = partial(_cell, compare, grid.views)
    cells = run_many(function, grid.settings, workers, progress, "settings")
    titles = {
        "trace": ("trace", grid.traces),
        "profile": ("chip", grid.profiles),
        "round_trip_ms": ("round-trip time (ms)", grid.round_trips_ms),
        "dtim": ("DTIM period (beacons)", grid.dtims),
        "view": ("comparison", grid.views),
    }
    controls = {
        name: {"title": title, "options": [(value, value or "none") for value in values]}
        for name, (title, values) in titles.items()
    }
    data = {"controls": controls, "cells": dict(zip(map(_key, grid.settings), cells, strict=True))}
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(path, page_text(data, _INTRODUCTION, head=_GENERATOR), "--static")


_INTRODUCTION = (
    "The results of these settings were simulated before. <code>psm_sim explore</code> offers more of them,"
    " and simulates your own traces and policies."
)


def _key(settings: Settings) -> str:
    return "|".join((settings.trace, settings.profile, settings.round_trip_ms, settings.dtim))


def _cell(compare: Compare, views: Mapping[str, Sequence[str]], settings: Settings) -> dict[str, Any]:
    return cell_of(compare(settings.arguments, no_progress), settings, views)
