"""A user's own policy, watched."""

from __future__ import annotations

import pytest

from psm_sim.common.errors import InputError, PluginError
from psm_sim.lab.studies.distance_to_optimum import LullPolicy
from psm_sim.policies import Policy, Rest, make_policy
from psm_sim.policies.user_policy_guard import GuardedPolicy, guard_policy, probe_and_guard


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


class Fails(Policy):
    name = "fails"

    def rest(self, now_s, since_uplink_s, poll):
        return Rest(beacons=3 // (poll.buffered_bytes if poll else 1))


def test_a_built_in_policy_runs_unwatched():
    """A copy of its own kind; those of studies are built in, too."""
    psm = make_policy("psm")
    assert type(guard_policy(psm)) is type(psm)
    assert guard_policy(psm) is not psm
    assert type(guard_policy(LullPolicy())) is LullPolicy


def test_a_good_policy_is_passed_on():
    """Its answers and its parameters."""
    watched = guard_policy(Good())
    assert isinstance(watched, GuardedPolicy)
    assert watched.rest(0.0, 0.0, None) == Rest(beacons=2)
    assert watched.config() == {"beacons": 2}


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
    with pytest.raises(PluginError, match=f"Policy answers: .*{message}"):
        guard_policy(Answers(answer))


def test_a_policy_for_one_run_alone_is_tried_on_a_copy():
    """The policy itself is neither copied nor asked."""
    own = Good()
    assert probe_and_guard(own).policy is own


def test_a_policy_that_fails_is_named_with_its_reason():
    """No traceback for what the user can mend."""
    with pytest.raises(PluginError, match=r"Policy fails failed in rest\(\) at 0.1 s: ZeroDivisionError"):
        guard_policy(Fails())


def test_a_policys_own_sentence_is_passed_on():
    """An input error is told as it stands."""

    class Asks(Answers):
        def start(self, beacon_s):
            raise InputError("Give me more beacons.")

    with pytest.raises(InputError, match=r"^Give me more beacons\.$"):
        guard_policy(Asks(Rest()))
