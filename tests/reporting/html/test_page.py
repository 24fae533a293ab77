"""The page as a text: what it holds, what it escapes, how long it is."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner
from psm_sim.cli import main
from psm_sim.reporting.html import html_document
from psm_sim.reporting.html.comparison import page_of, pages_table
from psm_sim.reporting.html.figures import draw_slowdowns
from psm_sim.reporting.marks import marks_of
from psm_sim.reporting.run_events import MAX_FRAMES, fitting_page_count, record_events
from psm_sim.simulation import Comparison, Scenario, run_comparison
from psm_sim.simulation.table import Block
from tests.page_rows import page_rows

KNOWN: dict[str, Any] = {
    "command": "python -m psm_sim --policy 'a&b'",
    "psm_sim": "0",
    "packages": {"numpy": "2.0"},
}


def stored(page: str, name: str) -> Any:
    """Return what the page keeps for its program under a name."""
    (text,) = re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_the_same_runs_give_the_same_bytes(replicated: Comparison) -> None:
    """Bokeh's own numbers of models, which count through the process, are not in it."""
    frontier = [ParetoCorner(2.9, 1.0), ParetoCorner(2.8, 1.5)]
    page = page_of(replicated, KNOWN, frontier)
    assert page == page_of(replicated, KNOWN, frontier)
    assert len(page.encode()) < 2_500_000
    assert set(stored(page, "figures")) == {"frontier", "states", "slowdowns", "timeline"}


def test_long_names_with_the_same_beginning_are_series_of_their_own() -> None:
    formulas = [f"lpsm:loss=gamma * I * Ti**2 / (2*T) + 1/{end}" for end in ("Ti", "log(Ti)")]
    found = run_comparison(formulas, Scenario(pages=2))
    assert [mark.label for mark in marks_of(found)] == formulas
    legends = draw_slowdowns(found.shown).legend[0].items
    assert [entry.label.value for entry in legends] == formulas


def test_a_device_has_no_figure_of_pages(device: Comparison) -> None:
    """Its marks have power and latency; the timeline shows the whole run."""
    page = page_of(device, KNOWN)
    assert set(stored(page, "figures")) == {"frontier", "states", "timeline"}
    assert "Mean power against" in page
    assert "page 1" not in page


def test_it_says_every_parameter_and_the_command(replicated: Comparison) -> None:
    page = page_of(replicated, KNOWN)
    text = unescape(re.sub("<script.*?</script>|<[^>]+>", " ", page, flags=re.S))
    named = [*replicated.resolved_topology.config(), *replicated.workload.parameters, "numpy"]
    named += [name for run in replicated.shown for name in run.parameters]
    assert [name for name in named if name not in text] == []
    assert KNOWN["command"] in text


def test_nothing_in_it_leads_outside(replicated: Comparison) -> None:
    """The browser is told to ask nobody, and no element of ours names an address."""
    page = page_of(replicated, KNOWN)
    assert "default-src 'none'" in page
    ours = re.sub("<script>.*?</script>", "", page, flags=re.S)
    assert not re.search(r"""(src|href|action)=["']?(?!data:)""", ours)


@given(st.text())
def test_any_text_is_text(text: str) -> None:
    """No tag, attribute or end of a script begins in it, and a program reads the same back."""
    assert not set("<>\"'") & set(html_document.escape_text(text))
    assert "<" not in html_document.json_script("n", text)[1:-9]
    inside = html_document.json_script("n", text).partition(">")[2].removesuffix("</script>")
    assert json.loads(inside) == text


def test_the_table_has_the_pages_of_each_policy_and_seed(replicated: Comparison) -> None:
    table = pages_table(replicated)
    assert table["columns"][:3] == ["policy", "seed", "page"]
    assert len(table["rows"]) == 2 * 3 * 6
    first = page_rows(replicated.runs[0].parts[0])[0]
    assert table["rows"][0][7:9] == pytest.approx([first.always_on_time_s, first.slowdown], rel=1e-4)


def test_a_timeline_has_what_the_result_counts() -> None:
    """Its beacons, its seconds awake, its pages, and each frame that was held after it came."""
    run = run_comparison(["psm"], Scenario(pages=5)).runs[0]
    seen = record_events(run)
    assert sum(count for _, count, _ in seen["beacons"]) == run["usage.beacons"]
    assert sum(to - since for since, to in seen["awake"]) == pytest.approx(run["usage.awake_s"], abs=1e-3)
    assert [page[0] for page in seen["pages"]] == [1, 2, 3, 4, 5]
    assert seen["buffered"]
    assert all(since < to for since, to in seen["buffered"])


def test_a_long_run_is_shown_as_far_as_it_fits() -> None:
    block = run_comparison(["psm"], Scenario(pages=3)).runs[0].blocks[0]

    def of_size(size: int, count: int) -> Block:
        return replace(block, pages={"bytes": np.full(count, size), "objects": np.zeros(count, int)})

    assert fitting_page_count(of_size(1460 * MAX_FRAMES // 8, 10)) == 4
    assert fitting_page_count(of_size(10**9, 3)) == 1
    assert fitting_page_count(block) == 3


def test_one_run_without_baselines_has_a_page() -> None:
    comparison = run_comparison(["always-on"], Scenario(pages=1))
    page = page_of(comparison, {})
    assert "energy saved" not in page
    assert stored(page, "table")["columns"][:2] == ["policy", "page"]


def test_a_sweep_becomes_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its best policies with the commands that repeat them, and one row per task."""
    monkeypatch.chdir(tmp_path)
    vary = ["--vary", "policy.bsd.p=0.1,0.5", "--vary", "links.wired.latency_ms=10,90", "--vary", "seed=1..2"]
    assert main(["sweep", *vary, "--policy", "psm", "--pages", "3", "--workers", "1"]) == 0
    assert main(["sweep", "page", "sweep.sqlite", "--where", "policy=psm", "--to", "psm.html"]) == 0
    assert main(["sweep", "page", "sweep.sqlite"]) == 0
    assert capsys.readouterr().err.endswith("Wrote psm.html\nWrote sweep.html\n")
    page = (tmp_path / "sweep.html").read_text()
    table = stored(page, "table")
    assert len(table["rows"]) == 12
    assert {"policy", "links.wired.latency_ms", "policy.bsd.p", "slowdown.mean"} <= set(table["columns"])
    assert {row[0] for row in stored((tmp_path / "psm.html").read_text(), "table")["rows"]} == {"psm"}
    (command, *_) = re.findall(r"python -m psm_sim --policy [^<]*latency_ms=10[^<]*", page)
    capsys.readouterr()
    assert main([*command.split()[3:], "--no-baselines", "--format", "json"]) == 0
    run = json.loads(capsys.readouterr().out)["runs"][0]
    row = next(row for row in table["rows"] if row[0] == run["policy"] and 10.0 in row)
    energy = row[table["columns"].index("energy_per_page_j")]
    assert energy == pytest.approx(run["energy_per_page_j"], rel=1e-4)


def test_a_sweep_without_a_finished_task_has_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, status 2, and no file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(
        "from psm_sim.policies import Policy, Rest\n\n\nclass Fails(Policy):\n    name = 'fails'\n\n"
        "    def rest(self, now_s, since_uplink_s, poll):\n        return Rest() if now_s < 2 else None\n"
    )
    words = ["--policy", "my.py:Fails", "--vary", "seed=1", "--pages", "9", "--workers", "1"]
    assert main(["sweep", *words]) == 1
    assert main(["sweep", "page", "sweep.sqlite"]) == 2
    assert "No task of sweep.sqlite is done" in capsys.readouterr().err
    assert not (tmp_path / "sweep.html").exists()
