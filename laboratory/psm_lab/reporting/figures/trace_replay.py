"""Figures of the trace study (thesis, figures 2-9 to 2-11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_lab.reporting.figures import replay

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def draw_losses(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the losses of the experts and of the learner, and return the figure and its caption."""
    return replay.draw_losses(frame), "Loss per poll of each expert and of the learner (thesis, figure 2-9)."


def draw_weights(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the weights of the experts, and return the figure and its caption."""
    return replay.draw_weights(frame), "Weights of the experts before each poll (thesis, figure 2-10)."


def draw_against_best(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the losses of the learner and of the best experts, and return the figure and its caption."""
    return replay.draw_against_best(frame), (
        "Loss per poll of the learner, of the best fixed expert and of the current best expert (thesis,"
        " figure 2-11). Lower panels: differences."
    )
