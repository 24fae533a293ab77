"""Estimate of the frames of a run, before it begins."""

from __future__ import annotations

import pytest

from psm_sim import simulate
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_FRAMES, MAX_PAGES
from psm_sim.network import load_topology
from psm_sim.network.world import estimate_frames
from psm_sim.simulation import Scenario
from psm_sim.workload import load_workload


@pytest.mark.parametrize(
    ("settings", "trace", "source"),
    [
        ({"station.keep_alive_s": 1e-9}, "ucb", "station.keep_alive_s=1e-09"),
        ({"access_point.group_per_s": 10_000}, "push:stretch_s=7200", "access_point.group_per_s=10000"),
        ({"tcp.segment_bytes": 1}, "bulk:bytes=60000000", "the messages with tcp.segment_bytes=1"),
        (
            {"tcp.segment_bytes": 1, "browser.persistent": True},
            "modern",
            "the pages with tcp.segment_bytes=1",
        ),
        ({"beacon.loss": 0.1, "beacon.interval_ms": 1}, "push:stretch_s=1e6", "the beacon interval"),
    ],
)
def test_a_run_of_too_many_frames_is_an_error_before_it_begins(
    settings: dict[str, float], trace: str, source: str
) -> None:
    """The message has the limit and the source of most frames."""
    with pytest.raises(InputError, match=rf"at most {MAX_FRAMES:,} frames, .*most of them from {source}"):
        simulate("psm", trace, pages=100 if trace == "modern" else 1, settings=settings)


@pytest.mark.parametrize("trace", ["ucb", "modern", "ping", "mqtt", "bulk"])
def test_the_estimated_work_has_the_order_of_magnitude_of_the_run(trace: str) -> None:
    """The estimate counts no ACKs, SYNs or FINs, so a run has one to a few times as many frames."""
    scenario = Scenario(trace, pages=5)
    workload = scenario.workload()
    estimate = sum(estimate_frames(scenario.resolve_topology(), workload.pages, workload.messages).values())
    events = simulate("psm", trace, pages=5)["events"]
    assert estimate / 4 < events < 20 * estimate


def test_the_maximum_number_of_ucb_pages_is_within_the_limit_of_frames() -> None:
    """The limits of pages and frames do not contradict each other."""
    workload = load_workload("ucb", 1000, seed=1)
    frames = sum(estimate_frames(load_topology(), workload.pages, workload.messages).values())
    assert frames / 1000 * MAX_PAGES < MAX_FRAMES
