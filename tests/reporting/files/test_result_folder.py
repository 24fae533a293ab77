"""The folder that --output writes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from psm_sim.common.errors import InputError
from psm_sim.reporting.files import result_folder as files
from psm_sim.reporting.files.result_folder import facts_of
from psm_sim.simulation import Comparison

BEGUN = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
WORDS = ["--policy", "psm", "--loss", "1/log(Ti)"]
FACTS = facts_of(WORDS, BEGUN, [Path(__file__)])


def test_metadata_say_how_to_do_it_again(comparison: Comparison, tmp_path: Path) -> None:
    """The command, quoted for a shell, the seed, the versions, and when."""
    files.write_results(tmp_path, comparison, FACTS, workers=1)
    metadata = json.loads((tmp_path / "metadata.json").read_text())
    assert metadata["command"] == "python -m psm_sim --policy psm --loss '1/log(Ti)'"
    assert metadata["arguments"] == WORDS
    assert (metadata["seed"], metadata["pages"], metadata["status"]) == (3, 5, "finished")
    assert metadata["started"] == "2020-01-02T03:04:05+00:00"
    assert datetime.fromisoformat(metadata["finished"]) > BEGUN
    assert {"numpy", "simpy", "scipy", "pandas"} <= set(metadata["packages"])
    assert list(metadata["files"]) == [__file__]
    assert metadata["runs"][0]["parameters"] == {"listen_interval": 1, "counted_from": "access-point"}


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
