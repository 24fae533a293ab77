"""Reports of names, files, classes and objects, and the command ``check``."""

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
    "Cannot be created."
    def __init__(self):
        raise ValueError("no")
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a file of a user."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize(
    ("component", "kind"),
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
def test_the_kind_of_a_component_follows_from_its_spec(mine: Path, component: str, kind: str) -> None:
    """Components are built in or from a file, with and without parameters; a formula is a loss."""
    report = psm_sim.check(component)
    assert (report.kind, report.name, report.ok, report.not_run) == (kind, component, True, 0)


@pytest.mark.parametrize(
    ("component", "message"),
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
def test_a_component_that_cannot_be_created_is_an_error(mine: Path, component: object, message: str) -> None:
    """No check runs."""
    with pytest.raises(InputError, match=message):
        psm_sim.check(component)


def test_the_status_is_1_if_a_check_fails(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The output has a row per check with its finding. Other components are checked."""
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


def test_the_status_is_0_if_all_checks_pass_and_2_after_a_usage_error(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failed check is not a usage error."""
    assert main(["check", "mine.py:Square", "learn-alpha"]) == 0
    assert main(["check", "mine.py:Other"]) == 2
    assert main(["check"]) == 2
    assert "Missing required argument: COMPONENT; see" in capsys.readouterr().err


def test_findings_can_be_printed_as_json(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "mine.py:Never", "--format", "json"]) == 1
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    assert (report["kind"], report["name"], report["ok"]) == ("policy", "mine.py:Never", False)
    assert [finding["check"] for finding in report["findings"] if not finding["ok"]] == [
        "returns-valid-rests",
        "loads-every-page",
    ]
    assert report["not_run"] == 4
