"""Figure of a sweep."""

from __future__ import annotations

import pytest

from psm_sim.campaign.sweep.table import TaskRow
from psm_sim.reporting.figures.sweep import MAX_MARKS, MAX_SERIES, draw
from psm_sim.reporting.style import policy_style
from psm_sim.simulation.table import ENERGY, SLOWDOWN


def row_of(policy: str, slowdown: float = 2.0, seed: int = 1, **parameters: object) -> TaskRow:
    """Return the row of a task."""
    named = {f"policy.{policy.partition(':')[0]}.{name}": value for name, value in parameters.items()}
    return TaskRow("", policy, "ucb", "three-node", 5, seed, named, {ENERGY: 3.0, SLOWDOWN: slowdown})


def test_marks_are_labelled_with_the_swept_value_and_joined_in_the_order_of_values() -> None:
    """The order of the tasks does not matter. The title names the parameter and its unit."""
    rows = [
        row_of(f"anticipate:price={price}", 2 - price / 100, seed, price=price)
        for price in (10.0, 1.0, 100.0)
        for seed in (1, 2)
    ]
    figure = draw(rows)
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["1", "10", "100"]
    line = axes.containers[0].lines[0]
    assert list(line.get_xdata()) == [1.99, 1.9, 1.0]
    assert line.get_linestyle() != "None"
    assert line.get_color() == policy_style("anticipate").colour
    title = figure.get_suptitle()
    assert "trace ucb, topology three-node, pages 5, seeds 1 to 2" in title
    assert "price of anticipate" in title


def test_each_loss_has_a_separate_curve_over_gamma() -> None:
    """Text parameters define the series of a policy, and numbers the positions of the marks."""
    rows = [
        row_of(f"lpsm:loss={loss},gamma={gamma}", 2.0 - gamma, loss=loss, gamma=gamma)
        for loss in ("inverse", "inverse-log")
        for gamma in (0.1, 0.2)
    ]
    (axes,) = draw(rows).axes
    assert [series.get_label() for series in axes.containers] == [
        "lpsm:loss=inverse",
        "lpsm:loss=inverse-log",
    ]
    assert [text.get_text() for text in axes.texts] == ["0.1", "0.2"] * 2
    (axes,) = draw(rows[::2]).axes
    assert [series.get_label() for series in axes.containers] == ["lpsm"]


def test_a_slowdown_axis_begins_at_about_1_and_clips_intervals() -> None:
    """The interval of two seeds can be wide, but no page is faster than without power saving."""
    rows = [row_of("psm", 1.0, 1), row_of("psm", 1.4, 2), row_of("bsd", 2.0, 1), row_of("bsd", 2.0, 2)]
    (axes,) = draw(rows).axes
    low, high = axes.get_xlim()
    assert 0 < 1 - low < 0.1 * (high - low)  # room for a mark at 1
    ends = [bar.get_segments()[0][0][0] for series in axes.containers for bar in series.lines[2][:1]]
    assert ends == pytest.approx([1.0, 2.0])


def test_failed_tasks_are_omitted_and_large_grids_are_truncated() -> None:
    """The title states the number of marks; a legend of many series would hide them."""
    rows = [row_of(f"bsd:p={number}", p=float(number)) for number in range(MAX_MARKS + 1)]
    rows += [TaskRow("", "psm", "ucb", "three-node", 5, 1, {}, error="no")]
    figure = draw(rows)
    assert f"{MAX_MARKS} of {MAX_MARKS + 1} combinations" in " ".join(figure.get_suptitle().split())
    assert len(figure.axes[0].containers) == 1
    labels = [row_of(f"bsd:label={number}") for number in range(MAX_SERIES + 1)]
    assert not draw(
        [TaskRow(**{**vars(row), "parameters": {"policy.label": row.policy}}) for row in labels]
    ).legends
