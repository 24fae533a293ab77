"""Pages and workloads created in Python."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psm_sim.common.errors import InputError
from psm_sim.workload import Page, Workload

PAGE = Page(1.0, 1000, (200,), (300, 300), (0.0, 0.0))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"think_s": -5}, "think_s must be a time from 0 to 1e.09 s, got -5"),
        ({"main_bytes": 0}, "main_bytes must be an integer from 1 to 4294967295 bytes, got 0"),
        ({"request_bytes": (300, -1)}, "request_bytes must be an integer from 0 to .*, got -1"),
        ({"image_bytes": (1, 2)}, "request_bytes must have one value for each of the 3 objects, got 2"),
    ],
)
def test_the_constructor_rejects_an_invalid_page(changes, message):
    with pytest.raises(InputError, match=message):
        replace(PAGE, **changes)


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        ((), "workload mine must have at least one page"),
        ((PAGE, 5), "workload mine: pages must be instances of Page, got 5"),
        ((replace(PAGE, think_s=1e9), PAGE), "must add up to at most 1e.09 s, got 1e.09 s"),
    ],
)
def test_the_constructor_rejects_an_invalid_workload(pages, message):
    """A workload is invalid without pages, with an object that is no page, or longer than the clock."""
    with pytest.raises(InputError, match=message):
        Workload("mine", pages, True, "written by hand")
