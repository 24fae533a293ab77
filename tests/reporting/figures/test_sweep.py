"""Figure of a sweep."""

from __future__ import annotations

import pytest

from psm_sim.campaign.sweep.results import Point
from psm_sim.common.summary_stats import Interval
from psm_sim.reporting.figures.sweep import MAX_SERIES, draw
from psm_sim.reporting.style import policy_style

ENERGY = Interval(2.0, 0.1, 3)


@pytest.mark.parametrize("x", [1.0, Interval(1.0, 0.1, 3)], ids=["parameter", "measure"])
def test_variants_of_a_policy_share_a_colour_and_are_labelled(x: object) -> None:
    """A mark tells its parameters, because there are more variants than markers."""
    points = [Point(f"bsd:p=0.{index:02}", x, ENERGY) for index in range(MAX_SERIES)]
    figure, _ = draw(points, "policy.bsd.p", "energy_per_page_j", "policy")
    lines = [container.lines[0] for container in figure.axes[0].containers]
    assert {line.get_color() for line in lines} == {policy_style("bsd").colour}
    assert {text.get_text() for text in figure.axes[0].texts} == {f"p=0.{index:02}" for index in range(16)}


def test_marks_tell_the_swept_value_and_are_joined_in_its_order() -> None:
    """Whatever the order of the tasks; the title names the parameter and its unit."""
    points = [
        Point("anticipate", Interval(2 - price / 100, 0.1, 3), ENERGY, "policy.anticipate.price", price)
        for price in (10.0, 1.0, 100.0)
    ]
    figure, numbers = draw(points, "slowdown.mean", "energy_per_page_j", "name", "trace ucb, seeds 1 to 3")
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["1", "10", "100"]
    line = axes.containers[0].lines[0]
    assert list(line.get_xdata()) == [1.99, 1.9, 1.0]
    assert line.get_linestyle() != "None"
    title = figure.get_suptitle()
    assert "trace ucb, seeds 1 to 3" in title
    assert "price of anticipate (W)" in title
    assert numbers["value"] == [10.0, 1.0, 100.0]


def test_a_slowdown_axis_begins_at_1_and_intervals_are_cut_there() -> None:
    """No page is faster than without power saving, however wide an interval of two seeds is."""
    points = [Point("psm", Interval(1.2, 5.0, 2), ENERGY), Point("bsd", Interval(2.0, 0.5, 2), ENERGY)]
    (axes,) = draw(points, "slowdown.mean", "energy_per_page_j", "name")[0].axes
    assert axes.get_xlim()[0] == 1
    ends = [bar.get_segments()[0][0][0] for each in axes.containers for bar in each.lines[2][:1]]
    assert ends == pytest.approx([1.0, 1.5])


@pytest.mark.parametrize(
    ("values", "scale"), [((0.1, 1.0, 10.0, 100.0), "log"), ((1, 2, 3, 4), "linear"), ((0, 1, 10), "linear")]
)
def test_an_axis_of_geometric_values_is_logarithmic(values: tuple[float, ...], scale: str) -> None:
    points = [Point("anticipate", value, ENERGY) for value in values]
    (axes,) = draw(points, "policy.anticipate.price", "slowdown.mean", "name")[0].axes
    assert axes.get_xscale() == scale
    assert axes.get_ylim()[0] == 1
    assert axes.get_xlabel() == "price of anticipate (W)"
