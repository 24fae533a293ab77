"""Figures of the learners' studies: one line per learner with its numbers."""

from __future__ import annotations

import pandas as pd
import pytest
from psm_lab.reporting.figures.figure_registry import draw

COLUMNS = {
    "labels": ("setting", "error", "labels"),
    "drift": ("learner", "rate", "accuracy"),
    "f-measure": ("learner", "rate", "F"),
    "bought": ("sampler", "bought", "error"),
}
AXES = {
    "labels": ("error of the half-space", "queried labels, median"),
    "drift": ("share of queried labels", "accuracy"),
    "f-measure": ("share of queried labels", "macro F-measure"),
    "bought": ("queried labels or images", "mean error"),
}


@pytest.mark.parametrize("key", COLUMNS)
def test_each_learner_is_a_line_with_its_numbers(key: str) -> None:
    """Two learners have three points each. The axes have labels, and the caption is a sentence."""
    by, x, y = COLUMNS[key]
    frame = pd.DataFrame({by: ["a"] * 3 + ["b"] * 3, x: [0.1, 0.2, 0.4] * 2, y: [1.0, 2, 3, 4, 5, 6]})
    figure, caption = draw(key, frame)
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.get_lines()] == ["a", "b"]
    assert axes.get_lines()[1].get_ydata().tolist() == [4, 5, 6]
    assert (axes.get_xlabel(), axes.get_ylabel()) == AXES[key]
    assert caption.endswith(".")
