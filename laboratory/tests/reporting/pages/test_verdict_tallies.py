"""Tallies of predicted, calibrating and fitted numbers under each preset."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from psm_lab.reporting import claim_tables
from psm_lab.reporting import terminal_findings as terminal
from psm_lab.reporting.figures import figure_registry as figures
from psm_lab.reporting.pages.report_writer import page_of
from psm_lab.reporting.study_numbers import numbers_of
from psm_lab.studies.published_claims import CALIBRATES, FITTED, PREDICTED, Claim, PublishedNumber
from psm_lab.studies.published_experiment_runs import mean_energy_by_state, mean_slowdowns
from psm_lab.studies.study import Findings

from psm_sim.common.summary_stats import Interval
from psm_sim.simulation.preset import load_preset


def claim(preset: str, role: str, verdict: str, quantity: str = "energy_j", **number: Any) -> Claim:
    """Return a claim on static PSM; the simulated value is 3.60."""
    published = PublishedNumber(
        "synthetic", "psm", quantity, "a book", **(number or {"value": 3.62, "unit": 0.01})
    )
    kept = 0.25 if published.at_most is not None else None
    return Claim(published, Interval(3.6, 0.01, 100), 3.7, verdict, preset, role, kept)


@pytest.fixture
def findings() -> list[Findings]:
    """Return a study with verdicts under two presets."""
    claims = [
        claim("thesis", CALIBRATES, "agrees"),
        claim("thesis", FITTED, "undecided", "beacons_j"),
        claim("thesis", PREDICTED, "differs", "page_ratio_max", at_most=1.2),
        claim("plain", CALIBRATES, "agrees"),
        claim("plain", PREDICTED, "agrees", "beacons_j"),
        claim("plain", PREDICTED, "differs", "page_ratio_max", at_most=1.2),
    ]
    presets = [load_preset(name) for name in ("thesis", "plain")]
    return [Findings("synthetic", "Synthetic", "two", claims=claims, presets=presets, provisional=True)]


def test_calibrating_and_fitted_numbers_are_never_counted_with_predicted_numbers(
    findings: list[Findings],
) -> None:
    """The page has a line per preset and role, and no total over roles."""
    page = page_of(findings, {}, "")
    for row in (
        "| thesis | calibrates | 1 agree |",
        "| thesis | fitted | 1 undecided |",
        "| thesis | predicted | 1 differ |",
        "| plain | predicted | 1 agree, 1 differ |",
    ):
        assert row in page
    assert "calibrates: 1 agree; fitted: 1 undecided; predicted: 1 differ" in page
    assert "2 agree" not in page
    assert "All verdicts are provisional" in page


def test_every_number_has_a_column_per_preset(findings: list[Findings]) -> None:
    """A published number is a row with verdict and role under each preset."""
    headings, rows = claim_tables.side_by_side(findings[0].claims)
    assert headings == ["study", "policy", "quantity", "published", "thesis", "plain"]
    assert len(rows) == 3
    assert rows[0][-2:] == ["3.600 ± 0.010 agrees, calibrates"] * 2
    assert rows[2][-1] == "3.700 (largest; kept in 25 %) differs, predicted"


def test_the_terminal_and_json_outputs_have_separate_tallies(findings: list[Findings]) -> None:
    """The tallies are by preset, then by role, with the history of the preset."""
    stream = io.StringIO()
    terminal.write_findings(findings, stream)
    text = " ".join(stream.getvalue().split())
    assert (
        "Preset thesis, 3 published numbers: calibrates: 1 agree; fitted: 1 undecided; predicted: 1" in text
    )
    assert "Provisional" in text
    numbers = numbers_of(findings, 1)
    assert numbers["tallies"]["plain"] == {
        "calibrates": {"agrees": 1},
        "predicted": {"agrees": 1, "differs": 1},
    }
    assert numbers["presets"]["thesis"] == load_preset("thesis").history()
    first, *_, last = numbers["studies"]["synthetic"]["claims"]
    assert (first["preset"], first["role"], first["kept"]) == ("thesis", "calibrates", None)
    assert last["kept"] == 0.25


def test_published_values_are_marked_in_the_bars() -> None:
    """Diamonds are published energies and page times, and a line is a published range."""
    policies = ["always-on", "psm", "bsd:p=1", "lpsm:loss=inverse-log"]
    runs = pd.DataFrame({
        "policy": policies, "awake_j": [41, 0.1, 0.3, 0.1], "asleep_j": [0, 2.7, 2.7, 2.7], "beacons_j": 0.5,
        "slowdown": [1, 1.2, 1.1, 1.4], "page_ratio_mean": [0.8, 1, 0.9, 1.2],
    })  # fmt: skip
    thesis = mean_energy_by_state(runs, [2.9], "lpsm-100")
    assert thesis["published_j"].dropna().tolist() == [3.62, 2.95]
    figure, caption = figures.draw("energy", thesis)
    diamonds = next(line for line in figure.axes[0].lines if line.get_marker() == "D")
    assert np.asarray(diamonds.get_ydata())[[0, 2]].tolist() == [3.62, 2.95]
    assert "Diamonds: published" in caption
    paper = mean_energy_by_state(runs, [2.9], "bsd-energy")
    assert paper["published_low_j"].dropna().tolist() == pytest.approx([3.3 * 0.86])
    assert "published range" in figures.draw("energy", paper)[1]
    figure, caption = figures.draw("slowdown", mean_slowdowns(runs, "lpsm-100"))
    diamonds = next(line for line in figure.axes[1].lines if line.get_marker() == "D")
    assert np.asarray(diamonds.get_ydata(), dtype=float)[-1] == 1.19
    assert caption.endswith("diamonds: published.")
