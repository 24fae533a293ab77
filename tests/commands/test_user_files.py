"""Presets in a file of the user, and plug-ins that fail."""

from __future__ import annotations

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
