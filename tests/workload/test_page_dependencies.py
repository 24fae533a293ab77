"""Pages with dependencies in page lists, commands and sweeps."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.workload import load_workload
from psm_sim.workload.page_list import read_page_list, write_page_list
from psm_sim.workload.page_view import DependencyPage, Page

FILES = sorted((Path(__file__).parents[1] / "simulation" / "recorded_pages").glob("*.har.gz"))
PLAIN = Page(1.0, 2000, (300,), (200, 200), (0.0, 0.1))
GOOD = {
    "page": "1",
    "think_s": "0",
    "main_bytes": "1000",
    "images": "500;600",
    "host": "0;0;1",
    "protocol": "h2",
    "depends_on": "-1;0;0",
    "event": "end;first_byte;end",
    "gap_s": "0;0.1;0.2",
    "rtt_s": "0.04;0.05",
    "secure": "1",
    "recorded_s": "2.5",
}


def page_list(folder: Path, **changes: str) -> Path:
    """Write a page list of one page; *changes* replace its cells."""
    path = folder / "pages.csv"
    cells = GOOD | changes
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(cells)
        writer.writerow(cells.values())
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_page_list_stores_dependencies(tmp_path: Path, path: Path) -> None:
    pages = (*load_workload(str(path), 1, 1).pages, PLAIN)
    write_page_list(tmp_path / "pages.csv", pages)
    assert read_page_list(tmp_path / "pages.csv") == pages


def test_a_page_list_without_dependencies_has_no_dependency_columns(tmp_path: Path) -> None:
    write_page_list(tmp_path / "pages.csv", (PLAIN,))
    header = (tmp_path / "pages.csv").read_text().splitlines()[0]
    assert header == "page,think_s,main_bytes,images,request_bytes,server_delay_s"


def test_a_hand_written_list_gives_the_expected_page(tmp_path: Path) -> None:
    """A cell has one value for all hosts or objects, or one for each; the recorded time can be empty."""
    (page,) = read_page_list(page_list(tmp_path))
    assert isinstance(page, DependencyPage)
    assert page.graph.hosts == ((0.04, 0.0, 0.0, True), (0.05, 0.0, 0.0, True))
    assert page.graph.releases[1] == (0, True, 0, True, 0.1)
    (page,) = read_page_list(page_list(tmp_path, recorded_s=""))
    assert isinstance(page, DependencyPage)
    assert page.graph.recorded_s is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depends_on": "-1;1;0"}, "line 2: depends_on of object 1 must be from -1 to 0, got 1"),
        ({"depends_on": "-1;0"}, "depends_on must have one value, or one for each of the page's 3 objects"),
        ({"host": "2"}, "line 2: host of object 0 must be from 0 to 1, got 2"),
        ({"protocol": "h3"}, "protocol must be http/1.1 or h2, got 'h3'"),
        ({"rtt_s": ""}, "line 2: rtt_s must have one value for each host, got none"),
        ({"tls_s": "0;0;0"}, "tls_s must have one value, or one for each of the page's 2 hosts"),
    ],
)
def test_the_error_for_invalid_dependencies_names_the_cell(tmp_path: Path, changes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_page_list(page_list(tmp_path, **changes))
    assert message in str(caught.value)


@pytest.mark.filterwarnings("ignore")
def test_trace_commands_runs_and_sweeps_accept_har_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    """The commands trace info, convert and fit, runs of their results, and a sweep."""
    monkeypatch.chdir(tmp_path)
    har = str(FILES[0])
    assert main(["trace", "info", har]) == 0
    assert main(["trace", "convert", har, "--to", "p.csv"]) == 0
    assert main(["trace", "fit", har, "--to", "p.toml"]) == 0
    assert main(["sweep", "--policy", "psm", "--trace", har, "--output", "s.sqlite", "--workers", "1"]) == 0
    capsys.readouterr()
    runs: list[dict[str, Any]] = []
    for trace in (har, "p.csv", "p.toml", f"{har}:workload=sample"):
        words = ["--trace", trace, "--policy", "psm", "--pages", "3", "--format", "json"]
        assert main([*words, "--timeline", f"{len(runs)}.json", "--capture", f"{len(runs)}.pcap"]) == 0
        runs.append(json.loads(capsys.readouterr().out))
    assert runs[0]["runs"][0]["energy_per_page_j"] == runs[1]["runs"][0]["energy_per_page_j"]
    assert ["recorded_time" in run for run in runs] == [True, True, False, False]
