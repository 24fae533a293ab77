"""Workload: the pages of one run, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from psm_sim.workload.page import Page
from psm_sim.workload.push import Push


@dataclass(frozen=True)
class Workload:
    """The pages that one client views, in order.

    ``name`` is the trace's name for results; ``synthetic`` says that nobody browsed these pages;
    ``remark`` is one plain sentence of what they are, for people; ``parameters`` are the trace's
    parameters as plain values, enough to draw the same pages again with the same seed. ``client``
    identifies whose pages a recording's are, if they are one client's, and ``notes`` say what was odd in it;
    the remark has them too. ``pushes`` are datagrams that nobody asked for, in order, beside the pages.
    """

    name: str
    pages: tuple[Page, ...]
    synthetic: bool
    remark: str
    parameters: dict[str, Any] = field(default_factory=dict)
    client: str = ""
    notes: tuple[str, ...] = ()
    pushes: tuple[Push, ...] = ()


def how_many(found: int, asked: int) -> str:
    """Say how many pages of a recording are replayed: never more than it has."""
    pages = f"{found} page" if found == 1 else f"{found} pages"
    if found < asked:
        return f"all {pages} it has; {asked} were asked for"
    return f"all {pages}" if found == asked else f"the first {asked} of {pages}"
