"""From a name, a file, a class or an object to a report; and the command that prints it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import psm_sim
from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.policies import Policy

MINE = """
import numpy as np
from psm_sim.learning import StaticExpert
from psm_sim.losses import Loss
from psm_sim.policies import Policy, Rest

class Third(Policy):
    "Hear every so many-th beacon."
    name = "third"
    def __init__(self, beacons=3):
        self.beacons = beacons
    def rest(self, now_s, since_uplink_s, poll):
        return Rest(beacons=self.beacons)

class Never(Third):
    "Sleep for no beacon at all."
    name = "never"
    def rest(self, now_s, since_uplink_s, poll):
        return Rest(beacons=0)

class Square(Loss):
    "The square of the polling time."
    name = "square"
    def __call__(self, poll, times_ms):
        return times_ms**2

class Follow(StaticExpert):
    "Static-expert by another name."
    name = "follow"

class Other:
    pass

class Failing(Third):
    "Cannot be made."
    def __init__(self):
        raise ValueError("no")
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with a user's file."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        ("mine.py:Third", "policy"),
        ("mine.py:Third:beacons=5", "policy"),
        ("mine.py:Square", "loss"),
        ("mine.py:Follow", "learner"),
        ("psm:listen_interval=2", "policy"),
        ("inverse:gamma=0.001", "loss"),
        ("I * Ti / T", "loss"),
        ("learn-alpha", "learner"),
    ],
)
def test_whatever_has_a_name_is_checked_as_what_it_is(mine: Path, what: str, kind: str) -> None:
    """Built in or from a file, with parameters or without; a formula is a loss."""
    report = psm_sim.check(what)
    assert (report.kind, report.name, report.ok, report.not_run) == (kind, what, True, 0)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (
            "psn",
            "Unknown policy, loss or learner 'psn'; expected one of .*Did you mean 'psm'",
        ),
        (
            "mine.py:Other",
            "Other in mine.py must be .* derived from psm_sim's Policy, Loss or Learner, got",
        ),
        ("mine.py:Failing", "mine.py:Failing cannot be created with .*ValueError: no"),
        (3, "component must be a policy, loss or learner, got 3"),
        (Policy, "Policy cannot be created"),
    ],
)
def test_what_cannot_be_loaded_or_made_is_refused(mine: Path, what: object, message: str) -> None:
    """One sentence, before any check."""
    with pytest.raises(InputError, match=message):
        psm_sim.check(what)


def test_the_command_ends_with_1_if_a_check_fails(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One row per check; what fails says what was found; other components are checked all the same."""
    assert main(["check", "mine.py:Never", "mine.py:Third"]) == 1
    never, third = capsys.readouterr().out.split("\n\n")
    assert never.startswith("policy mine.py:Never\n")
    assert "FAILS   returns-valid-rests " in never
    assert (
        "rest() with (0.0, 0.0, None): it returned beacons=0; expected an integer from 1 to 10**9 "
        "(mine.py, line 18)" in " ".join(never.split())
    )
    assert third.endswith("13 of 13 checks passed.\n")
    assert third.count("\n ok ") == 13


def test_the_command_ends_with_0_if_all_hold_and_with_2_for_what_cannot_be_loaded(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A finding is not a mistake in the command's words."""
    assert main(["check", "mine.py:Square", "learn-alpha"]) == 0
    assert main(["check", "mine.py:Other"]) == 2
    assert main(["check"]) == 2
    assert "Missing required argument: COMPONENT; see" in capsys.readouterr().err


def test_findings_come_as_json_too(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For a program that reads them."""
    assert main(["check", "mine.py:Never", "--format", "json"]) == 1
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    assert (report["kind"], report["name"], report["ok"]) == ("policy", "mine.py:Never", False)
    assert [each["check"] for each in report["findings"] if not each["ok"]] == [
        "returns-valid-rests",
        "loads-every-page",
    ]
    assert report["not_run"] == 4
