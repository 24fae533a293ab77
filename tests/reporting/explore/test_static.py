"""The explore page without a server."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from psm_sim import simulate
from psm_sim.cli import main
from psm_sim.commands.explore import compare_arguments
from psm_sim.common.progress import no_progress
from psm_sim.reporting.columns import plain_rows
from psm_sim.reporting.comparison_table import tables_of
from psm_sim.reporting.explore.page import first_message_s
from psm_sim.reporting.plotted_events import record_events


@pytest.fixture(autouse=True, scope="module")
def few_pages() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "psm_sim.reporting.explore.static.fitting_sizes", lambda _: {"pages": "4", "seeds": "1"}
        )
        yield


def write(folder: Path, *options: str) -> int:
    """Write the page in this process, with two pages of one seed."""
    return main(["explore", "--static", str(folder), "--trace", "ucb", "--workers", "1", *options])


@pytest.fixture(scope="module")
def page(few_pages: None, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a page for an ESP32, written to a new folder."""
    folder = tmp_path_factory.mktemp("explore") / "new" / "page"
    assert write(folder, "--profile", "esp32") == 0
    return (folder / "index.html").read_text(encoding="utf-8")


def data_of(page: str) -> dict[str, Any]:
    """Return the embedded data."""
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert match
    data: dict[str, Any] = json.loads(match[1])
    return data


def test_the_page_shows_what_its_commands_print(page: str) -> None:
    """Each comparison has a timeline of each policy. The page requests nothing."""
    assert set(re.findall(r"https?://[\w./]+", page)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xhtml",
    }
    data = data_of(page)
    assert list(data["cells"]) == [
        f"ucb|esp32|{round_trip}|{dtim}" for round_trip in (40, 160) for dtim in (1, 3)
    ]
    cell = data["cells"]["ucb|esp32|160|3"]
    assert list(cell["views"]) == [value for value, _ in data["controls"]["view"]["options"]]
    for view in (cell["views"]["policies"], cell["views"]["learner of LPSM"]):
        printed = compare_arguments(shlex.split(view["command"])[3:], no_progress)
        assert view["conclusion"] == printed.conclusion()
        assert view["table"] == plain_rows(tables_of(printed)[0].main_columns)
        assert view["runs"] == [run.label for run in printed.shown]
    assert all(label in cell["timelines"] for view in cell["views"].values() for label in view["runs"])
    psm = cell["timelines"]["psm:listen_interval=3"]
    assert 0 < psm["end"] <= cell["steps"]
    assert all(0 <= step <= cell["steps"] for name in ("awake", "beacons", "down") for step in psm[name])


def test_a_static_page_for_given_policies_replaces_an_earlier_page(page: str, tmp_path: Path) -> None:
    """The policies are those of the first comparison."""
    path = tmp_path / "index.html"
    path.write_text(page, encoding="utf-8")
    assert write(tmp_path, "--policy", "psm:listen_interval=2", "--policy", "bsd") == 0
    cells = data_of(path.read_text(encoding="utf-8"))["cells"]
    assert cells["ucb||40|1"]["views"]["policies"]["runs"] == [
        "always-on", "psm", "psm:listen_interval=2", "bsd:p=1",
    ]  # fmt: skip


def test_a_file_that_the_command_did_not_write_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "index.html"
    path.write_text("mine")
    assert write(tmp_path) == 2
    assert "is not a page of explore --static" in capsys.readouterr().err
    assert path.read_text() == "mine"


def test_an_option_of_the_server_is_an_error_for_a_static_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write(tmp_path, "--port", "5006") == 2
    assert "--port has no effect with --static" in capsys.readouterr().err


def test_timelines_of_messages_begin_when_the_first_message_is_sent() -> None:
    """At the same time for all policies. The group addressed frames before it are no messages."""
    runs = [
        simulate(policy, "mqtt:stretch_s=600", pages=1, profile="esp32") for policy in ("psm", "anticipate")
    ]
    events = [record_events(run, 1) for run in runs]
    times = [first_message_s(each, each["pages"][0][0]) for each in events]
    assert times[0] == times[1] > min(time for time in events[0]["down"] if time > 1)


def test_timelines_continue_after_the_page_is_complete(page: str) -> None:
    """Without power saving, the page is complete first, and the radio stays awake."""
    cells = data_of(page)["cells"].values()
    first_page = [cell for cell in cells if cell["page"].startswith("page 1,")]
    assert first_page
    for cell in first_page:
        always_on = cell["timelines"]["always-on"]
        assert always_on["end"] < always_on["awake"][-1] == cell["steps"]
