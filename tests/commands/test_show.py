"""Files to start one's own from, presets of one's own, and where a plug-in failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from psm_sim.cli import main
from psm_sim.common.bundled_files import bundled_dir, bundled_names


@pytest.mark.parametrize("kind", ["topologies", "traces", "presets"])
def test_show_prints_the_bundled_file(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Byte for byte; the list names all of them."""
    for name in bundled_names(kind):
        assert main([kind, "show", name]) == 0
        assert capsys.readouterr().out == (bundled_dir(kind) / f"{name}.toml").read_text(encoding="utf-8")
    assert main([kind, "--format", "json"]) == 0
    items = json.loads(capsys.readouterr().out)[kind]
    assert [item["name"] for item in items] == bundled_names(kind)
    assert {item["source"] for item in items} == {"bundled"}


def test_what_is_not_there_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The nearest name is suggested."""
    assert main(["traces", "show", "ucbb"]) == 2
    assert "Did you mean 'ucb'" in capsys.readouterr().err


def test_what_is_shown_runs_as_one_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A preset file gives the numbers of the bundled one."""
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text((bundled_dir("presets") / "thesis.toml").read_text())
    energies = []
    for preset in ("thesis", "mine.toml"):
        assert main(["--policy", "lpsm", "--pages", "2", "--preset", preset, "--format", "json"]) == 0
        energies.append(json.loads(capsys.readouterr().out)["runs"][0]["energy_per_page_j"])
    assert energies[0] == energies[1]


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
