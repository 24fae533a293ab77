"""Text, HTML and matplotlib representations of results."""

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
    """Plot energy against slowdown, with the offline frontier. Return the matplotlib figure."""
    frontier = _reporting("figures.comparison").frontier_of(comparison)
    return _reporting("figures.comparison").draw_trade_off(comparison, frontier)


def page_timeline(results: Any) -> Any:
    """Plot the timeline of one page, with one panel per result. Return the matplotlib figure."""
    return _reporting("figures.timelines").draw_page_timeline(results)


def _reporting(name: str) -> Any:
    # Imported lazily by name: reporting is a higher layer and may not be imported here.
    return import_module(f"psm_sim.reporting.{name}")
