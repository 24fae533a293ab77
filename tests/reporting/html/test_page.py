"""The text of the HTML report: contents, escapes and size."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.reporting.figures.canvas import svg_of
from psm_sim.reporting.figures.comparison import draw_slowdowns, figures_of
from psm_sim.reporting.html import html_document
from psm_sim.reporting.html.comparison import html_of
from psm_sim.reporting.marks import marks_of
from psm_sim.reporting.plotted_events import MAX_FRAMES, fitting_page_count, record_events
from psm_sim.simulation import Comparison, Scenario, run_comparison
from psm_sim.simulation.table import Block

METADATA: dict[str, Any] = {
    "command": "python -m psm_sim --policy 'a&b'",
    "psm_sim": "0",
    "packages": {"numpy": "2.0"},
    "files": {},
}


def page(comparison: Comparison) -> str:
    """Return the report with all figures."""
    pictures = {name: svg_of(figure) for name, figure in figures_of(comparison).items()}
    return html_of(comparison, METADATA, pictures)


@pytest.fixture(scope="module")
def written(replicated: Comparison) -> str:
    """Return the report on several policies and seeds."""
    return page(replicated)


def test_the_report_is_reproducible_byte_for_byte(replicated: Comparison, written: str) -> None:
    assert written == page(replicated)
    assert len(written.encode()) < 500_000
    assert re.findall('<section id="(.*?)">', written) == [
        "summary",
        "energy-slowdown",
        "energy-by-state",
        "slowdowns",
        "page-timeline",
        "polling-times",
        "parameters",
    ]


def test_long_names_that_begin_alike_are_separate_series() -> None:
    formulas = [f"lpsm:loss=gamma * I * Ti**2 / (2*T) + 1/{end}" for end in ("Ti", "log(Ti)")]
    comparison = run_comparison(formulas, Scenario(pages=2))
    assert [mark.label for mark in marks_of(comparison)] == formulas
    assert [line.get_label() for line in draw_slowdowns(comparison).axes[0].get_lines()] == formulas


def test_the_report_on_a_device_has_no_figure_of_pages(device: Comparison) -> None:
    """The figure of a device has power and latency."""
    text = page(device)
    assert "<h2>Power against latency</h2>" in text
    assert "slowdowns" not in re.findall('<section id="(.*?)">', text)
    assert "page 1" not in text


def test_figures_have_the_colours_of_the_page(written: str) -> None:
    """Black and white would be invisible on a dark or light page."""
    drawn = "".join(re.findall("<svg.*?</svg>", written, re.S))
    assert "var(--ink)" in drawn
    assert not re.search("#(000000|ffffff)|black|white", drawn)


def test_the_report_has_every_parameter_and_the_command(replicated: Comparison, written: str) -> None:
    text = unescape(re.sub("<script.*?</script>|<[^>]+>", " ", written, flags=re.S))
    named = [*replicated.resolved_topology.config(), *replicated.workload.parameters, "numpy"]
    named += [name for run in replicated.shown for name in run.parameters]
    assert [name for name in named if name not in text] == []
    assert METADATA["command"] in text


def test_the_report_has_no_external_addresses(written: str) -> None:
    """The security policy of the page forbids requests, and no element has an address."""
    assert "default-src 'none'" in written
    ours = re.sub("<script>.*?</script>", "", written, flags=re.S)
    assert not re.search(r"""(src|href|action)=["']?(?!data:|#|["'])""", ours)


@given(st.text())
def test_any_text_in_the_report_is_escaped(text: str) -> None:
    """The page contains no tag and no attribute of the text."""
    assert not set("<>\"'") & set(html_document.escape_text(text))


@pytest.mark.parametrize("profile", ["", "esp32"])
def test_the_timeline_agrees_with_the_counts_of_the_result(profile: str) -> None:
    """The counts are of beacons, time awake, pages, and buffered frames. psm waits for a beacon."""
    run = run_comparison(["psm"], Scenario(pages=5, profile=profile)).runs[0]
    seen = record_events(run, 5)
    assert len(seen["beacons"]) == run["usage.beacons"]
    assert sum(to - since for since, to in seen["awake"]) == pytest.approx(run["usage.awake_s"], abs=1e-3)
    assert len(seen["pages"]) == 5
    assert seen["buffered"]
    assert all(since < to < since + 0.1025 for since, to in seen["buffered"])


def test_the_timeline_of_a_long_run_is_truncated_at_the_limit_of_frames() -> None:
    block = run_comparison(["psm"], Scenario(pages=3)).runs[0].blocks[0]

    def of_size(size: int, count: int) -> Block:
        return replace(block, pages={"bytes": np.full(count, size), "objects": np.zeros(count, int)})

    assert fitting_page_count(of_size(1460 * MAX_FRAMES // 8, 10)) == 4
    assert fitting_page_count(of_size(10**9, 3)) == 1
    assert fitting_page_count(block) == 3


def test_a_single_run_without_baselines_has_a_report() -> None:
    comparison = run_comparison(["always-on"], Scenario(pages=1))
    written = page(comparison)
    assert "energy saved" not in written
