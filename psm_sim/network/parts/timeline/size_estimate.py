"""Estimate of the size of a timeline before the run."""

from __future__ import annotations

from collections.abc import Sequence

from psm_sim.workload.messages import Messages
from psm_sim.workload.page_view import Page

_PAGE, _OBJECT, _MESSAGE = 2000, 2000, 1000
"""Approximate bytes of the events of a page, an object and a message."""


def timeline_bytes(pages: Sequence[Page], messages: Messages) -> int:
    """Return the approximate size of a timeline in bytes.

    A policy that decides often needs more.
    """
    objects = sum(page.objects for page in pages)
    return _PAGE * len(pages) + _OBJECT * objects + _MESSAGE * len(messages)
