"""The program in a separate process and an empty folder."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def psm_sim(*words: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``python -m psm_sim`` with warnings as errors, and remove its progress lines."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "psm_sim", *words],
        cwd=cwd, capture_output=True, text=True, check=False, **options,
    )  # fmt: skip
    done.stderr = re.sub(r"psm_sim: .* s elapsed.*\n", "", done.stderr)
    return done


def test_a_run_in_an_empty_folder_only_prints_its_table(tmp_path: Path) -> None:
    """No message is printed, and no file written."""
    done = psm_sim("--policy", "lpsm", "--trace", "ucb", "--pages", "3", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 pages of trace ucb, seed 1" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_two_processes_print_the_same_bytes(tmp_path: Path) -> None:
    """The hash seeds of the processes differ."""
    words = ("--policy", "lpsm", "--policy", "bsd", "--pages", "10", "--format", "csv")
    outputs = {
        psm_sim(*words, cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in "12"
    }
    assert len(outputs) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_gives_one_line_of_error_and_status_2(tmp_path: Path) -> None:
    """The error may occur when the output is flushed."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "psm_sim", "list", "policies"],
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "psm_sim: cannot access the output: No space left on device.\n"


def test_writing_to_a_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    """The command ``head -1`` closes a pipe, for example."""
    readable, writable = os.pipe()
    os.close(readable)
    with os.fdopen(writable, "w") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "psm_sim", "list", "topologies"],
            cwd=tmp_path, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_running_psm_sim_as_a_module_ends_with_the_status_of_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``python -m psm_sim`` ends with the status of the command."""
    monkeypatch.setattr(sys, "argv", ["psm_sim", "list", "losses", "--format", "json"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("psm_sim", run_name="__main__")
    assert ended.value.code == 0
    assert "inverse-log" in capsys.readouterr().out
