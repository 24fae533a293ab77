"""Bundled traces: their seeds, and the published figures of the modern trace."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from psm_sim.common.input_files import bundled_dir
from psm_sim.workload import Page, load_workload

TRACES = sorted(path.stem for path in bundled_dir("traces").glob("*.toml"))


@cache
def pages() -> tuple[Page, ...]:
    """Return many pages of the modern trace."""
    return load_workload("modern", 5000, 1).pages


@pytest.mark.parametrize("name", TRACES)
def test_the_seed_determines_the_pages_and_the_messages(name: str) -> None:
    """Another seed gives other pages and messages; the remark names the source."""
    first, again, other = (load_workload(name, 9, seed) for seed in (7, 7, 8))
    assert first == again
    assert (first.pages, first.messages) != (other.pages, other.messages)
    assert first.name == name
    assert first.synthetic
    assert first.remark


def test_the_number_of_requests_per_page_has_the_published_quantiles_of_2024() -> None:
    """The quantiles are those of desktops at 10, 25, 50, 75 and 90 %."""
    counts = [page.objects for page in pages()]
    assert np.quantile(counts, [0.1, 0.25, 0.5, 0.75, 0.9]).tolist() == pytest.approx(
        [24, 42, 71, 115, 176], rel=0.03
    )


def test_page_weights_up_to_the_75th_percentile_agree_with_data_of_2025() -> None:
    """The tolerance is 15 %; the profile states its deviation at 90 %."""
    weights_kb = np.array([page.total_bytes for page in pages()]) / 1000
    quantiles_kb = np.quantile(weights_kb, [0.1, 0.25, 0.5, 0.75, 0.9]).tolist()
    assert quantiles_kb[:4] == pytest.approx([607, 1275, 2412, 4570], rel=0.15)
    assert 9179 * 0.68 < quantiles_kb[4] < 9179 * 0.78
