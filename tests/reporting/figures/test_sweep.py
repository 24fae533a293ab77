"""Figure of a sweep."""

from __future__ import annotations

import pytest

from psm_sim.campaign.sweep.results import Point
from psm_sim.common.summary_stats import Interval
from psm_sim.reporting.figures.sweep import MAX_SERIES, draw


@pytest.mark.parametrize("x", [1.0, Interval(1.0, 0.1, 3)], ids=["parameter", "measure"])
def test_all_series_are_distinguishable(x: object) -> None:
    """Two series with the same colour have different markers, with and without a line."""
    points = [Point(f"bsd:p=0.{index:02}", x, Interval(2.0, 0.1, 3)) for index in range(MAX_SERIES)]
    figure, _ = draw(points, "x", "slowdown.mean", "policy")
    lines = [container.lines[0] for container in figure.axes[0].containers]
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == MAX_SERIES
