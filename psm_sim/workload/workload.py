"""Workload of a simulated client, which consists of pages and messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from psm_sim.common.errors import InputError
from psm_sim.common.formatting import pluralize
from psm_sim.common.input_limits import MAX_TIME_S
from psm_sim.workload.messages import Messages
from psm_sim.workload.page_view import Page


@dataclass(frozen=True)
class Workload:
    """Pages and background traffic of one client.

    Attributes
    ----------
    name
        Name of the trace in results.
    pages
        Pages in the order in which they are viewed.
    synthetic
        Whether the pages are generated rather than recorded.
    remark
        Description for users, one sentence.
    parameters
        Parameters of the trace as plain values. Together with the seed, they reproduce the pages.
    client
        Identifier of the recorded client; empty without one, as for sampled pages.
    notes
        Warnings about the recording, also contained in the remark.
    messages
        Background traffic.

    Raises
    ------
    InputError
        If there is no page, if an item of *pages* is not a :class:`Page`, or if think times and server delays
        add up to more than :data:`~psm_sim.common.input_limits.MAX_TIME_S`.
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
            raise InputError(f"{where} must have at least one page, got none.")
        for page in self.pages:
            if not isinstance(page, Page):
                raise InputError(f"{where}: pages must be instances of Page, got {page!r}.")
        total_s = sum(page.waiting_s for page in self.pages)
        if total_s > MAX_TIME_S:
            raise InputError(
                f"{where}: think times and server delays must add up to at most {MAX_TIME_S:g} s, "
                f"got {total_s:g} s."
            )

    @property
    def has_pages(self) -> bool:
        """Whether the workload has page views, and not only pauses."""
        return any(page.objects for page in self.pages)


def describe_page_count(recorded: int, requested: int) -> str:
    """Return a text such as ``"the first 10 of 40 pages"`` on the replayed pages of a recording."""
    pages = pluralize(recorded, "page")
    return f"all {pages}" if recorded <= requested else f"the first {requested} of {pages}"
