"""Size of a timeline, estimated before the run."""

from __future__ import annotations

from collections.abc import Sequence

from psm_sim.workload.messages import Messages
from psm_sim.workload.page_view import Page

_PAGE, _OBJECT, _MESSAGE = 2000, 2000, 1000
"""Bytes of the events of each, about."""


def timeline_bytes(pages: Sequence[Page], messages: Messages) -> int:
    """Return the bytes that a timeline will have, about: those of a policy that is asked often are more."""
    objects = sum(page.objects for page in pages)
    return _PAGE * len(pages) + _OBJECT * objects + _MESSAGE * len(messages)
