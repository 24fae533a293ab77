"""A user's own policy, watched."""

from __future__ import annotations

import sys
import threading

import pytest

import psm_sim
from psm_sim.common.errors import InputError, PluginError
from psm_sim.contracts import check
from psm_sim.policies import Policy, Rest, make_policy
from psm_sim.policies.user_policy_guard import guard_policy


class Good(Policy):
    name = "good"

    def __init__(self, beacons=2):
        self.beacons = beacons

    def rest(self, now_s, since_uplink_s, poll):
        return Rest(beacons=self.beacons)


class Answers(Policy):
    name = "answers"

    def __init__(self, answer):
        self.answer = answer

    def rest(self, now_s, since_uplink_s, poll):
        return self.answer


def test_a_built_in_policy_runs_unwatched():
    """A copy of its own kind; those of studies are built in, too."""
    psm = make_policy("psm")
    assert type(guard_policy(psm)) is type(psm)
    assert guard_policy(psm) is not psm


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "returned None; expected a Rest"),
        (Rest(awake_s=-1.0), r"awake_s=-1\.0; expected seconds"),
        (Rest(awake_s=float("nan")), "awake_s=nan"),
        (Rest(beacons=0), "beacons=0; expected an integer"),
        (Rest(beacons=1.5), r"beacons=1\.5"),  # type: ignore[arg-type]
        (Rest(beacons=10**12), "beacons=1000000000000"),
        (Rest(awake_s=0.1, repeat=True), "with repeat; repeat requires awake_s=0"),
    ],
)
def test_an_unusable_answer_is_named_before_the_run(answer, message):
    """The policy, the time, the value, what is expected."""
    with pytest.raises(PluginError, match=f"Policy answers failed in rest.*{message}"):
        guard_policy(Answers(answer))


class HoldsALock(Good):
    """It cannot be copied, as a policy that holds a connection from its creation on."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


def test_a_class_is_created_anew_for_each_run():
    """So it may hold what cannot be copied."""
    first, second = (guard_policy(HoldsALock) for _ in range(2))
    assert first.component.lock is not second.component.lock
    table = psm_sim.compare([HoldsALock, HoldsALock], pages=2, replications=2, workers=1)
    assert table.runs[0].energy_per_page_j == table.runs[1].energy_per_page_j


def test_an_instance_that_cannot_be_copied_names_the_two_remedies():
    """The class, or start()."""
    message = r"Policy good cannot be copied: .*; pass the class instead of an instance, or open in start\(\)"
    with pytest.raises(PluginError, match=message):
        guard_policy(HoldsALock())


class OpensALock(Good):
    """Good, with a lock that it creates in start()."""

    def start(self, beacon_s):
        super().start(beacon_s)
        self.lock = threading.Lock()


def test_what_start_opens_need_not_be_copied():
    """Neither by a run nor by the contract checks, whose copies are made before."""
    result = psm_sim.simulate(OpensALock(), pages=2)
    assert result.energy_per_page_j == psm_sim.simulate(Good(), pages=2).energy_per_page_j
    assert [finding for finding in check(OpensALock).findings if not finding.ok] == []


@pytest.mark.parametrize(
    ("copy", "message"),
    [
        (lambda *_: sys.exit(0), "Policy good cannot be copied: SystemExit"),
        (lambda *_: None, "The copy of Policy good must be of the same class, got None"),
    ],
)
def test_a_copy_that_goes_wrong_is_named(monkeypatch, copy, message):
    """Python asks the policy for its copy."""
    monkeypatch.setattr(Good, "__deepcopy__", copy, raising=False)
    with pytest.raises(PluginError, match=message):
        guard_policy(Good())


def test_a_policys_own_sentence_is_passed_on():
    """An input error is told as it stands."""

    class Asks(Answers):
        def start(self, beacon_s):
            raise InputError("Give me more beacons.")

    with pytest.raises(InputError, match=r"^Give me more beacons\.$"):
        guard_policy(Asks(Rest()))
