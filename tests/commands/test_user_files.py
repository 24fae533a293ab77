"""Presets in a file of the user, and plug-ins that fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from psm_sim.cli import main


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("polices = {}", "unknown preset key 'polices'"),
        ("trace = 3", "trace must be a string, got 3"),
        ("[policies]\nlpsm = 3", "policies must be a table"),
        ("= 3", "is not a valid preset"),
    ],
)
def test_a_preset_file_that_cannot_be_used_is_told(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the file and the key."""
    (tmp_path / "mine.toml").write_text(text)
    assert main(["--preset", str(tmp_path / "mine.toml"), "--pages", "1"]) == 2
    assert words in capsys.readouterr().err


RAISES = """
from psm_sim.policies import Policy, Rest

class Raises(Policy):
    '''Works for a while.'''
    name = "raises"
    def __init__(self, n=3):
        pass
    def rest(self, now_s, since_uplink_s, poll):
        if now_s > 50:
            {}["boom"]
        return Rest()
"""


def test_a_plug_in_that_raises_is_told_with_file_line_time_and_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that it can be mended."""
    path = tmp_path / "errs.py"
    path.write_text(RAISES)
    assert main(["--policy", f"{path}:Raises", "--pages", "20"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("psm_sim: On page ")
    for part in ("at 50.", "KeyError: 'boom'", f"{path}, line 11"):
        assert part in told


def test_a_parameter_that_the_class_does_not_store_is_recorded_as_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not as null."""
    path = tmp_path / "errs.py"
    path.write_text(RAISES)
    assert (
        main(
            [
                "--policy",
                f"{path}:Raises:n=4",
                "--pages",
                "1",
                "--format",
                "json",
                "--trace",
                str(_page(tmp_path)),
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["runs"][0]["parameters"] == {"n": 4}


def _page(folder: Path) -> Path:
    path = folder / "one.csv"
    path.write_text("page,think_s,main_bytes,images\n1,1,1000,\n")
    return path
