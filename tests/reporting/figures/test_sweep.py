"""Figure of a sweep."""

from __future__ import annotations

import pytest

from psm_sim.campaign.sweep.table import ENERGY, SLOWDOWN, TaskRow
from psm_sim.reporting.figures.sweep import MAX_MARKS, MAX_SERIES, draw
from psm_sim.reporting.style import policy_style


def row_of(policy: str, slowdown: float = 2.0, seed: int = 1, **parameters: object) -> TaskRow:
    """Return the row of a task."""
    named = {f"policy.{policy.partition(':')[0]}.{name}": value for name, value in parameters.items()}
    return TaskRow("", policy, "ucb", "three-node", 5, seed, named, {ENERGY: 3.0, SLOWDOWN: slowdown})


def test_marks_tell_the_swept_value_and_are_joined_in_its_order() -> None:
    """Whatever the order of the tasks; the title names the parameter and its unit."""
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


def test_each_loss_has_a_curve_over_gamma() -> None:
    """Texts tell the series of a policy apart, and numbers place the marks on them."""
    rows = [
        row_of(f"lpsm:loss={loss},gamma={gamma}", 2.0 - gamma, loss=loss, gamma=gamma)
        for loss in ("inverse", "inverse-log")
        for gamma in (0.1, 0.2)
    ]
    (axes,) = draw(rows).axes
    assert [each.get_label() for each in axes.containers] == ["lpsm:loss=inverse", "lpsm:loss=inverse-log"]
    assert [text.get_text() for text in axes.texts] == ["0.1", "0.2"] * 2
    (axes,) = draw(rows[::2]).axes
    assert [each.get_label() for each in axes.containers] == ["lpsm"]


def test_a_slowdown_axis_begins_about_1_and_intervals_are_cut_there() -> None:
    """No page is faster than without power saving, however wide an interval of two seeds is."""
    rows = [row_of("psm", 1.0, 1), row_of("psm", 1.4, 2), row_of("bsd", 2.0, 1), row_of("bsd", 2.0, 2)]
    (axes,) = draw(rows).axes
    low, high = axes.get_xlim()
    assert 0 < 1 - low < 0.1 * (high - low)  # room for a mark at 1
    ends = [bar.get_segments()[0][0][0] for each in axes.containers for bar in each.lines[2][:1]]
    assert ends == pytest.approx([1.0, 2.0])


def test_failed_tasks_are_left_out_and_large_grids_are_cut() -> None:
    """The title tells how many are drawn; a legend of very many series would hide the marks."""
    rows = [row_of(f"bsd:p={number}", p=float(number)) for number in range(MAX_MARKS + 1)]
    rows += [TaskRow("", "psm", "ucb", "three-node", 5, 1, {}, error="no")]
    figure = draw(rows)
    assert f"{MAX_MARKS} of {MAX_MARKS + 1} combinations" in " ".join(figure.get_suptitle().split())
    assert len(figure.axes[0].containers) == 1
    labels = [row_of(f"bsd:label={number}") for number in range(MAX_SERIES + 1)]
    assert not draw(
        [TaskRow(**{**vars(row), "parameters": {"policy.label": row.policy}}) for row in labels]
    ).legends
