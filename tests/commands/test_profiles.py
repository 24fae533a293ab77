"""``python -m psm_sim profiles``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from psm_sim.cli import main
from psm_sim.network.chip_profiles import profile_names


def test_each_profile_is_listed_with_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    """As a table and as JSON; each number says whether it was measured, fitted or assumed."""
    assert main(["profiles"]) == 0
    shown = capsys.readouterr().out
    assert main(["profiles", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)["profiles"]
    assert [each["name"] for each in listed] == list(profile_names())
    for each in listed:
        assert each["name"] in shown
        assert each["source"]
        assert each["parameters"]


def test_a_profile_is_shown_and_serves_as_ones_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is printed is a file that ``--profile`` takes, with the same results."""
    assert main(["profiles", "show", "esp32-c6"]) == 0
    own = tmp_path / "mine.toml"
    own.write_text(capsys.readouterr().out)
    outputs = []
    for name in ("esp32-c6", str(own)):
        words = ["--policy", "psm", "--pages", "2", "--no-baselines", "--format", "csv", "--profile", name]
        assert main(words) == 0
        outputs.append(capsys.readouterr().out.replace(name, "NAME"))
    assert outputs[0] == outputs[1]


def test_an_unknown_profile_suggests_one(capsys: pytest.CaptureFixture[str]) -> None:
    """One line, status 2."""
    assert main(["--policy", "psm", "--profile", "esp32-c7"]) == 2
    assert "Did you mean 'esp32-c" in capsys.readouterr().err
