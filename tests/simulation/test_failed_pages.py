"""Failed pages in results: their count and reasons, and means without them."""

from __future__ import annotations

import math

import pytest

from psm_sim import simulate, timeline
from psm_sim.reporting.figures.comparison import draw_slowdowns, draw_trade_off, frontier_of
from psm_sim.reporting.figures.timelines import draw_page_timeline
from psm_sim.reporting.html.comparison import html_of
from psm_sim.simulation import Scenario, run_comparison
from psm_sim.workload.page_view import Page
from tests.page_rows import page_rows

QUICK = Page(1.0, 1000, (), (300,), (0.0,))
SLOW = Page(1.0, 1000, (), (300,), (50.0,))
PAGES = [QUICK, SLOW, QUICK, SLOW]
IMPATIENT = {"browser.max_page_s": 10}
REASON = "it has taken longer than 10 s"


@pytest.fixture(scope="module")
def impatient():
    return simulate("psm", trace=PAGES, settings=IMPATIENT)


@pytest.fixture(scope="module")
def patient():
    return simulate("psm", trace=[QUICK, QUICK])


@pytest.fixture(scope="module")
def compared():
    return run_comparison(["psm", "lpsm"], Scenario("ucb", pages=20, settings={"browser.max_page_s": 1.0}))


def test_failed_pages_are_counted_with_their_reasons(impatient):
    assert impatient["failed_pages"] == 2
    assert impatient.failures == [{"page": 2, "reason": REASON}, {"page": 4, "reason": REASON}]
    assert [record.page_time_s for record in page_rows(impatient)][1] == pytest.approx(10.0)


def test_means_are_taken_over_complete_pages_only(impatient, patient):
    """Two failed pages do not change the page times and slowdowns of the others."""
    assert impatient.page_time_s.max < 1.0
    assert impatient.slowdown.max < 10.0
    assert impatient["page_time_percentiles_s.p99"] < 1.0
    assert [math.isnan(record.slowdown) for record in page_rows(impatient)] == [False, True, False, True]
    assert patient.page_time_s.mean == pytest.approx(impatient.page_time_s.mean, rel=0.3)


def test_a_slowdown_requires_the_page_to_complete_with_and_without_power_saving():
    """A page that fails only with or only without power saving has no slowdown."""
    result = simulate("psm:listen_interval=20", trace=[QUICK], settings={"browser.max_page_s": 0.5})
    assert result.failures == [{"page": 1, "reason": "it has taken longer than 0.5 s"}]
    assert math.isnan(result.slowdown.mean)
    assert not math.isnan(page_rows(result)[0].always_on_time_s)
    both = simulate("psm", trace=[SLOW, QUICK], settings=IMPATIENT)
    assert math.isnan(page_rows(both)[0].always_on_time_s)


def test_a_timeline_shows_lost_frames_and_failed_pages():
    result = simulate("psm", trace=PAGES, settings={**IMPATIENT, "faults.wireless.loss": 0.4})
    events = timeline(result)
    failed = events[events["event"] == "page failed"]
    assert list(failed["reason"]) == [failure["reason"] for failure in result.failures]
    lost = events[(events["event"] == "frame lost") & events["link"].str.endswith("down")]
    assert len(lost) == result["traffic.lost_frames"] > 0


def test_figures_and_report_are_drawn_even_if_no_page_is_complete():
    comparison = run_comparison(["psm"], Scenario("ucb", pages=2, settings={"browser.max_page_s": 0.01}))
    for drawn in (
        draw_slowdowns(comparison),
        draw_trade_off(comparison, frontier_of(comparison)),
        draw_page_timeline(comparison.runs),
    ):
        drawn.draw_without_rendering()
    provenance = {"command": "", "psm_sim": "", "packages": {}, "files": {}}
    assert "it has taken longer than 0.01 s" in html_of(comparison, provenance, {})
