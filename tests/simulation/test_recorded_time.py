"""Page times of recorded pages, simulated without power saving."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import psm_sim
from psm_sim.reporting.comparison_table import caption
from psm_sim.reporting.files import result_json
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import DependencyPage, Page
from tests.network.worlds import page_times_s, run_world

FOLDER = Path(__file__).with_name("recorded_pages")
FILES = sorted(FOLDER.glob("*.har.gz"))
NETWORKS = {
    "images-http1": (40, 8),
    "three-hosts-http1": (60, 5),
    "three-hosts-http2": (60, 5),
    "gallery-http2": (100, 10),
    "mixed-protocols": (80, 3),
}
"""Median round trip in ms, and rate in Mbit/s, of the link on which each file was recorded."""

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])


def recorded_page(path: Path) -> tuple[DependencyPage, float, str]:
    """Return the page of a file, its recorded time, and the remark."""
    workload = load_workload(str(path), 1, 1)
    (page,) = workload.pages
    assert isinstance(page, DependencyPage)
    assert page.graph.recorded_s is not None
    return page, page.graph.recorded_s, workload.remark


def time_s(page: Page, round_trip_ms: float, rate_mbps: float) -> float:
    """Return the page time without power saving, in seconds."""
    keys = {"links.wired.latency_ms": round_trip_ms / 2 - 0.1, "links.wired.rate_mbps": rate_mbps}
    (taken_s,) = page_times_s(run_world([page], "always-on", topology="modern", **keys))
    return taken_s


def estimate(remark: str) -> tuple[float, float]:
    """Return the round trip and the rate in the remark."""
    match = re.search(r"median round trip ([\d.]+) ms .* at least ([\d.]+) Mbit/s", remark)
    assert match is not None
    return float(match[1]), float(match[2])


@each_file
def test_simulated_page_times_agree_with_recorded_page_times(path: Path) -> None:
    """The factor is at most 1.2, at the round trip and the rate estimated from the file."""
    page, recorded_s, remark = recorded_page(path)
    ratio = time_s(page, *estimate(remark)) / recorded_s
    assert 1 / 1.2 < ratio < 1.2


def test_page_times_simulated_on_the_recorded_network_agree_with_recorded_page_times() -> None:
    """The factor is at most 1.2, except for the file of Playwright, whose waits include queueing."""
    ratios = {}
    for path in FILES:
        page, recorded_s, _ = recorded_page(path)
        name = path.name.split(".")[0]
        ratios[name] = time_s(page, *NETWORKS[name]) / recorded_s
    assert 1.2 < ratios.pop("mixed-protocols") < 1.4
    assert all(1 / 1.2 < ratio < 1.2 for ratio in ratios.values())


def test_the_caption_and_the_json_output_compare_recorded_and_simulated_times() -> None:
    """The caption warns above a factor of 1.5."""
    path = FOLDER / "three-hosts-http2.har.gz"
    _, recorded_s, _ = recorded_page(path)
    near = psm_sim.compare(["psm"], str(path), "modern")
    times = json.loads(result_json.to_text(result_json.to_dict(near)))["recorded_time"]
    assert times["recorded_s"] == recorded_s
    assert times["simulated_s"] == near.always_on.page_time_s.mean
    shown = f"recorded {times['recorded_s']:.3g} s, simulated {times['simulated_s']:.3g} s."
    assert f"Page time without power saving: {shown}" in caption(near)
    far = psm_sim.compare(["psm"], str(path), "modern", settings={"links.wired.rate_mbps": 1.0})
    (line,) = [line for line in caption(far) if line.startswith("Page time without")]
    assert "Warning: they differ by more than a factor of 1.5." in line
    assert "recorded network: median round trip" in caption(far)[-1] + caption(far)[-2]
