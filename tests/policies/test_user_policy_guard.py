"""The guard of user-defined policies."""

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


class Returns(Policy):
    name = "answers"

    def __init__(self, answer):
        self.answer = answer

    def rest(self, now_s, since_uplink_s, poll):
        return self.answer


def test_a_built_in_policy_runs_without_a_guard():
    """The run has a copy of its own class. Policies of studies are built in, too."""
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
def test_the_error_for_an_invalid_rest_has_the_invalid_value(answer, message):
    """The message has the policy, the time, the value and the expected values."""
    with pytest.raises(PluginError, match=f"Policy answers failed in rest.*{message}"):
        guard_policy(Returns(answer))


class HoldsALock(Good):
    """Policy that cannot be copied, like one that opens a connection in its constructor."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


def test_a_class_is_instantiated_for_each_run():
    """The policy may therefore have attributes that cannot be copied."""
    first, second = (guard_policy(HoldsALock) for _ in range(2))
    assert first.component.lock is not second.component.lock
    table = psm_sim.compare([HoldsALock, HoldsALock], pages=2, replications=2, workers=1)
    assert table.runs[0].energy_per_page_j == table.runs[1].energy_per_page_j


def test_the_error_for_an_instance_that_cannot_be_copied_names_two_remedies():
    """The remedies are to pass the class, or to move the attribute to start()."""
    message = r"Policy good cannot be copied: .*; pass the class instead of an instance, or open in start\(\)"
    with pytest.raises(PluginError, match=message):
        guard_policy(HoldsALock())


class OpensALock(Good):
    """Policy that creates a lock in start()."""

    def start(self, beacon_s):
        super().start(beacon_s)
        self.lock = threading.Lock()


def test_attributes_created_in_start_need_not_be_copied():
    """Runs and contract checks copy no policy after start()."""
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
def test_the_error_for_a_failed_copy_names_the_policy(monkeypatch, copy, message):
    """The policy defines how it is copied."""
    monkeypatch.setattr(Good, "__deepcopy__", copy, raising=False)
    with pytest.raises(PluginError, match=message):
        guard_policy(Good())


def test_an_input_error_raised_by_a_policy_is_not_reworded():
    """The user sees the message of the policy."""

    class Asks(Returns):
        def start(self, beacon_s):
            raise InputError("Give me more beacons.")

    with pytest.raises(InputError, match=r"^Give me more beacons\.$"):
        guard_policy(Asks(Rest()))
