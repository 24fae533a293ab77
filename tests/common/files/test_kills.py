"""Kills and full disks: every file is old or new, and the next run cleans up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = int(os.environ.get("PSM_SIM_KILLS", "6"))
"""Kills at random moments; those at every write and rename come on top."""


@pytest.mark.skipif(sys.platform != "linux", reason="folders are exchanged in one step on Linux only")
def test_kills_and_full_disks_lose_nothing_and_leave_nothing(tmp_path: Path) -> None:
    """Of each command that writes: killed at every event, at random moments, and with no room on the disk."""
    words = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("driver.py")), str(tmp_path)]
    ended = subprocess.run([*words, str(KILLS), "1"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    report = json.loads(ended.stdout)
    assert report["faults"] == []
    assert report["cases"]["kills at a write or rename"] > 50
    assert report["cases"]["kills at random moments"] == KILLS
    assert report["cases"]["full disks"] > 20
