"""The folder of --output, and its metadata."""

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
    """Change to an empty folder; return the folder of results. Figures are disabled, to save seconds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("psm_sim.reporting.figures.comparison.figures_of", lambda *_: {})
    monkeypatch.setattr("psm_sim.reporting.html.comparison.html_of", lambda *_: "<!doctype html>")
    return tmp_path / "results"


def metadata(folder: Path) -> dict[str, Any]:
    """Return the metadata of a folder."""
    return json.loads((folder / "metadata.json").read_text())


def test_metadata_record_the_user_files_and_the_git_state(folder: Path) -> None:
    write_policy(Path("my.py"))
    Path("site.toml").write_text("[power]\nawake_w = 0.8\n")
    Path("pages.csv").write_text("page,think_s,main_bytes,images\n1,5,1000,100;200\n")
    words = "--policy my.py:Hears --trace pages.csv --topology site.toml --output results"
    assert main(words.split()) == 0
    record = metadata(folder)
    assert record["files"] == {name: file_digest(Path(name)) for name in ("my.py", "site.toml", "pages.csv")}
    assert set(record["git"]) == {"folder", "psm_sim"}
    assert record["git"]["folder"] is None
    assert record["status"] == "finished"


AFTER_1_S = "if now_s > 1: {statement}"
INTERRUPT = "import signal; signal.raise_signal(signal.SIGINT)"


@pytest.mark.parametrize(("statement", "exit_status"), [("raise ValueError('no')", 2), (INTERRUPT, 130)])
def test_a_run_without_a_result_leaves_no_folder(statement: str, exit_status: int, folder: Path) -> None:
    write_policy(Path("my.py"), before=AFTER_1_S.format(statement=statement))
    assert main(["--policy", "my.py:Hears", "--pages", "3", "--output", "results"]) == exit_status
    assert not folder.exists()


def test_a_command_with_a_mistyped_argument_leaves_no_folder(folder: Path) -> None:
    assert main(["--policy", "nosuch", "--output", "results"]) == 2
    assert not folder.exists()


BEGUN = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
WORDS = ["--policy", "psm", "--loss", "1/log(Ti)"]
FACTS = provenance_of(WORDS, BEGUN, [Path(__file__)])


def test_metadata_suffice_to_repeat_the_run(comparison: Comparison, tmp_path: Path) -> None:
    """Metadata have the command quoted for a shell, the seed, the versions and the times."""
    files.write_results(tmp_path, comparison, FACTS, workers=1)
    record = metadata(tmp_path)
    assert record["command"] == "python -m psm_sim --policy psm --loss '1/log(Ti)'"
    assert record["arguments"] == WORDS
    assert (record["seed"], record["pages"], record["status"]) == (3, 5, "finished")
    assert record["started"] == "2020-01-02T03:04:05+00:00"
    assert datetime.fromisoformat(record["finished"]) > BEGUN
    assert {"numpy", "simpy", "scipy", "pandas"} <= set(record["packages"])
    assert list(record["files"]) == [__file__]
    assert record["runs"][0]["parameters"] == {"listen_interval": 1, "counted_from": "access-point"}


def test_the_error_for_a_file_in_place_of_the_folder_has_the_file_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for path in ("file", "file/x/y"):
        with pytest.raises(InputError, match=r"--output must be a folder, got .*; '.*file' is a file"):
            files.usable_folder(tmp_path / path)
    with pytest.raises(InputError, match=r"'.*link' is a broken link"):
        files.usable_folder(tmp_path / "link")


def test_an_unwritable_folder_is_an_error_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the folder."""
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(InputError, match="--output must be a writable folder"):
        files.usable_folder(tmp_path / "x")


def test_an_interrupted_run_with_force_leaves_the_earlier_results(folder: Path) -> None:
    """The earlier results are complete, with their own metadata."""
    assert main(PSM) == 0
    before = {path.name: path.read_bytes() for path in folder.rglob("*.*")}
    write_policy(Path("my.py"), before=AFTER_1_S.format(statement=INTERRUPT))
    assert main(["--policy", "my.py:Hears", "--pages", "3", "--output", "results", "--force"]) == 130
    assert {path.name: path.read_bytes() for path in folder.rglob("*.*")} == before
