"""The folder that --output writes, and its record at every moment."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.common.input_files import file_digest
from psm_sim.reporting.files import result_folder as files
from psm_sim.reporting.files.result_folder import provenance_of
from psm_sim.simulation import Comparison
from tests.campaign.sweep.common import write_policy

PSM = ["--policy", "psm", "--pages", "3", "--output", "results"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder; give that of the results. Nothing is drawn: it takes seconds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("psm_sim.reporting.figures.comparison.figures_of", lambda *_: {})
    monkeypatch.setattr("psm_sim.reporting.html.comparison.html_of", lambda *_: "<!doctype html>")
    return tmp_path / "results"


def metadata(folder: Path) -> dict[str, Any]:
    """Read the record."""
    return json.loads((folder / "metadata.json").read_text())


def test_the_record_names_what_the_results_were_made_with(folder: Path) -> None:
    write_policy(Path("my.py"))
    Path("place.toml").write_text("[power]\nawake_w = 0.8\n")
    Path("pages.csv").write_text("page,think_s,main_bytes,images\n1,5,1000,100;200\n")
    words = "--policy my.py:Hears --trace pages.csv --topology place.toml --output results"
    assert main(words.split()) == 0
    found = metadata(folder)
    assert found["files"] == {name: file_digest(Path(name)) for name in ("my.py", "place.toml", "pages.csv")}
    assert set(found["git"]) == {"folder", "psm_sim"}
    assert found["git"]["folder"] is None
    assert found["status"] == "finished"


SAYS = "if now_s > 1: {what}"
INTERRUPT = "import signal; signal.raise_signal(signal.SIGINT)"


@pytest.mark.parametrize(("what", "exit_status"), [("raise ValueError('no')", 2), (INTERRUPT, 130)])
def test_a_run_without_a_result_leaves_nothing(what: str, exit_status: int, folder: Path) -> None:
    write_policy(Path("my.py"), before=SAYS.format(what=what))
    assert main(["--policy", "my.py:Hears", "--pages", "3", "--output", "results"]) == exit_status
    assert not folder.exists()


def test_what_was_mistyped_leaves_nothing(folder: Path) -> None:
    assert main(["--policy", "nosuch", "--output", "results"]) == 2
    assert not folder.exists()


BEGUN = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
WORDS = ["--policy", "psm", "--loss", "1/log(Ti)"]
FACTS = provenance_of(WORDS, BEGUN, [Path(__file__)])


def test_metadata_say_how_to_do_it_again(comparison: Comparison, tmp_path: Path) -> None:
    """The command, quoted for a shell, the seed, the versions, and when."""
    files.write_results(tmp_path, comparison, FACTS, workers=1)
    found = metadata(tmp_path)
    assert found["command"] == "python -m psm_sim --policy psm --loss '1/log(Ti)'"
    assert found["arguments"] == WORDS
    assert (found["seed"], found["pages"], found["status"]) == (3, 5, "finished")
    assert found["started"] == "2020-01-02T03:04:05+00:00"
    assert datetime.fromisoformat(found["finished"]) > BEGUN
    assert {"numpy", "simpy", "scipy", "pandas"} <= set(found["packages"])
    assert list(found["files"]) == [__file__]
    assert found["runs"][0]["parameters"] == {"listen_interval": 1, "counted_from": "access-point"}


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for path in ("file", "file/x/y"):
        with pytest.raises(InputError, match=r"--output must be a folder, got .*; '.*file' is a file"):
            files.usable_folder(tmp_path / path)
    with pytest.raises(InputError, match=r"'.*link' is a broken link"):
        files.usable_folder(tmp_path / "link")


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before hours of simulation, not after."""
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(InputError, match="--output must be a writable folder"):
        files.usable_folder(tmp_path / "x")


def test_a_forced_run_that_is_broken_off_leaves_the_earlier_results(folder: Path) -> None:
    """Whole, with their own record."""
    assert main(PSM) == 0
    before = {path.name: path.read_bytes() for path in folder.rglob("*.*")}
    write_policy(Path("my.py"), before=SAYS.format(what=INTERRUPT))
    assert main(["--policy", "my.py:Hears", "--pages", "3", "--output", "results", "--force"]) == 130
    assert {path.name: path.read_bytes() for path in folder.rglob("*.*")} == before
