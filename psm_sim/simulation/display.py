"""Showing: how results print, look in a notebook and are drawn."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any


def table_text(comparison: Any) -> str:
    """Return the table of a comparison as the command line prints it."""
    stream = io.StringIO()
    _reporting("terminal.comparison").write(comparison, stream)
    return stream.getvalue().rstrip("\n")


def trade_off(comparison: Any) -> Any:
    """Return the matplotlib figure of energy against slowdown, with hindsight's frontier."""
    frontier = _reporting("figures.run.write_figures").frontier_of(comparison)
    return _reporting("figures.run.trade_off").draw(comparison, frontier)


def page_timeline(results: Any) -> Any:
    """Return the matplotlib figure of one page's timeline, one panel per result."""
    return _reporting("figures.run.page_timeline").draw(results)


def _reporting(name: str) -> Any:
    # By name, when asked: what draws lies above this room, and is given what is drawn.
    return import_module(f"psm_sim.reporting.{name}")
