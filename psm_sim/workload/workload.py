"""Workload: the pages of one run, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from psm_sim.errors import InputError
from psm_sim.limits import MAX_S
from psm_sim.workload.messages import Messages
from psm_sim.workload.page_view import Page


@dataclass(frozen=True)
class Workload:
    """The pages that one client views, in order.

    ``name`` is the trace's name for results; ``synthetic`` says that nobody browsed these pages;
    ``remark`` is one plain sentence of what they are, for people; ``parameters`` are the trace's
    parameters as plain values, enough to draw the same pages again with the same seed. ``client``
    identifies whose pages a recording's are, if they are one client's, and ``notes`` say what was odd in it;
    the remark has them too. ``messages`` are what is sent beside the pages.

    Raises
    ------
    InputError
        If there is no page, one of *pages* is none, or their times add up to more than
        :data:`~psm_sim.limits.MAX_S`.
    """

    name: str
    pages: tuple[Page, ...]
    synthetic: bool
    remark: str
    parameters: dict[str, Any] = field(default_factory=dict)
    client: str = ""
    notes: tuple[str, ...] = ()
    messages: Messages = field(default_factory=Messages)

    def __post_init__(self) -> None:
        where = f"workload {self.name}"
        if not self.pages:
            raise InputError(f"{where} has no page; expected at least one.")
        for page in self.pages:
            if not isinstance(page, Page):
                raise InputError(f"{where}: a page is {page!r}; expected a Page.")
        total_s = sum(page.think_s + sum(page.server_delay_s) for page in self.pages)
        if total_s > MAX_S:
            raise InputError(
                f"{where} takes {total_s:g} s of thinking and serving; expected at most {MAX_S:g} s."
            )


def how_many(found: int, asked: int) -> str:
    """Say how many pages of a recording are replayed: never more than it has."""
    pages = f"{found} page" if found == 1 else f"{found} pages"
    if found < asked:
        return f"all {pages} it has; {asked} were asked for"
    return f"all {pages}" if found == asked else f"the first {asked} of {pages}"
