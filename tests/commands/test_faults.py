"""Faults on the command line: pages that fail are a result."""

from __future__ import annotations

import json

import pytest

from psm_sim.cli import main


def test_a_limit_that_no_page_reaches_changes_no_number(capsys) -> None:
    """The same times and energies as without, to the last bit, and no page failed."""
    runs = []
    for words in ([], ["--set", "browser.max_page_s=3600"]):
        assert main(["--policy", "lpsm", "--pages", "5", "--format", "json", *words]) == 0
        runs.append(json.loads(capsys.readouterr().out)["runs"][0])
    plain, limited = runs
    assert limited["failed_pages"] == 0
    assert limited["failures"] == []
    for key in ("energy_per_page_j", "page_time_s", "slowdown", "simulated_s"):
        assert plain[key] == limited[key]


def test_every_fault_can_be_set_and_is_told(capsys) -> None:
    words = ["wireless.loss=0.05", "wired.bad_loss=0.5", "restart_every_s=100", "stall_every_s=50"]
    settings = [word for each in words for word in ("--set", f"faults.{each}")]
    assert main(["--policy", "psm", "--pages", "10", *settings]) == 0
    shown = capsys.readouterr().out
    for name in ("associations renewed", "frames lost up", "frames lost down", "restarts", "server stalls"):
        assert name in shown


@pytest.mark.parametrize("name", ["restart", "stall"])
def test_more_faults_than_can_be_simulated_are_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A second apart, in three years of think time: each is an event, a hundred million of them."""
    words = ["--trace", "ucb:mean_think_s=1e8", "--pages", "1", "--set", f"faults.{name}_every_s=1"]
    assert main([*words, "--policy", "psm", "--set", f"faults.{name}_s=0.001"]) == 2
    assert f"faults: {name}_every_s = 1 causes more than 1,000,000 faults" in capsys.readouterr().err
