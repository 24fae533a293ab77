"""A run may begin with another's experience, kept in a file."""

from __future__ import annotations

import copy
import json
from typing import ClassVar

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.hindsight.traffic_chain import evaluate_policy
from psm_sim.hindsight.traffic_chain_recorder import record_chain
from psm_sim.network import load_topology
from psm_sim.policies import Policy, Poll, Rest, make_policy
from psm_sim.simulation import Scenario, compare_runs, simulate
from psm_sim.workload import load_workload


def seen(result) -> dict:
    return {
        key: value for key, value in result.to_dict().items() if key not in ("wall_s", "policy", "parameters")
    }


@pytest.fixture
def file(tmp_path):
    return tmp_path / "state.json"


def test_a_run_leaves_its_state_and_the_next_goes_on_from_it(file):
    """Two runs of 5 pages count their rounds together, and the second differs from a first."""
    first = simulate(f"lpsm:state={file}", pages=5)
    after_first = json.loads(file.read_text())["learner"]["rounds"]
    second = simulate(f"lpsm:state={file}", pages=5)
    after_second = json.loads(file.read_text())["learner"]["rounds"]
    assert 0 < after_first < after_second
    assert seen(first) == seen(simulate("lpsm", pages=5))
    assert seen(second) != seen(first)


def test_a_saved_learner_is_the_learner_that_was_saved(file):
    """Its distribution, to the last digit that JSON keeps, and so its next doze."""
    policy = make_policy(f"lpsm:state={file}")
    policy.start(0.1)
    for number in range(50):
        policy.rest(float(number), 1.0, Poll(300.0, 1500 * (number % 3), number % 3))
    policy.finish()
    again = make_policy(f"lpsm:state={file}")
    again.start(0.1)
    assert again.learner.rounds == 50
    np.testing.assert_allclose(again.learner.weights, policy.learner.weights, rtol=1e-12)


def test_the_same_file_gives_the_same_run(file, tmp_path):
    """To the last bit, and leaves the same file."""
    simulate(f"lpsm:state={file}", pages=5)
    other = tmp_path / "other.json"
    other.write_bytes(file.read_bytes())
    runs = [simulate(f"lpsm:state={each}", pages=5, seed=2) for each in (file, other)]
    assert seen(runs[0]) == seen(runs[1])
    assert file.read_bytes() == other.read_bytes()
    assert runs[0].parameters["state"] == str(file)


def test_one_policy_run_twice_begins_twice_with_what_was_there(file):
    """The file is read when the policy is made: no run of a comparison sees another's experience."""
    spec = f"lpsm:state={file}"
    simulate(spec, pages=5)
    runs = compare_runs([spec, spec], Scenario(pages=5, seed=3)).runs
    assert seen(runs[0]) == seen(runs[1])
    policy = make_policy(spec)
    assert seen(simulate(policy, pages=5, seed=3)) == seen(simulate(policy, pages=5, seed=3))


def test_starting_and_analysing_write_nothing(file):
    """Only a run that is over does."""
    policy = make_policy(f"lpsm:state={file}")
    policy.start(0.1)
    evaluate_policy(record_chain(load_workload("ucb", 3, 1).pages, load_topology()), policy)
    assert not file.exists()


def saved(file, spec: str = "lpsm") -> dict:
    policy = make_policy(f"{spec}{',' if ':' in spec else ':'}state={file}")
    policy.start(0.1)
    policy.finish()
    return json.loads(file.read_text())


@pytest.mark.parametrize(
    ("earlier", "now", "message"),
    [
        (
            "lpsm:max_ms=1000",
            "lpsm",
            "saved with other experts; expected 12 polling times from 100 to 1200 ms",
        ),
        ("lpsm:min_ms=200,max_ms=1300", "lpsm", "saved with other experts"),
        (
            "lpsm:alpha=0.1",
            "lpsm",
            r"has learner 'fixed-share'; expected 'learn-alpha'\); use the parameters",
        ),
        ("lpsm:alpha=0.1", "lpsm:alpha=0.2", r"has alpha 0.1; expected 0.2\)"),
        ("lpsm:horizon_s=60", "lpsm", r"has rates \[.*\.\.\.\]; expected \[.*\.\.\.\]\)"),
    ],
)
def test_a_state_of_other_experts_or_rates_is_refused_before_the_run(file, earlier, now, message):
    """In one short line; no page is loaded, the file stays as it was."""
    saved(file, earlier)
    before = file.read_bytes()
    told: list[int] = []
    spec = f"{now}{',' if ':' in now else ':'}state={file}"
    with pytest.raises(InputError, match=message) as caught:
        compare_runs([spec], Scenario(pages=3), lambda *done: told.append(done[0]))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500 + len(str(file))
    assert not told
    assert file.read_bytes() == before


def damaged(document: dict) -> list[str]:
    learner = document["learner"]
    return [
        "", "{", "[]", "null", "3", '"text"', "{}", "[" * 100_000, "\x00", json.dumps(learner),
        json.dumps({**document, "format": "other"}),
        json.dumps({**document, "learner": None}),
        json.dumps({**document, "times_ms": 3}),
        json.dumps({**document, "learner": {}}),
        json.dumps({**document, "learner": {**learner, "rounds": -1}}),
        json.dumps({**document, "learner": {**learner, "rounds": "many"}}),
        json.dumps({**document, "learner": {**learner, "log_rate_weights": [0.0]}}),
        json.dumps({**document, "learner": {**learner, "log_weights": [["a"] * 259] * 12}}),
        json.dumps({**document, "learner": {**learner, "log_weights": [[float("nan")] * 259] * 12}}),
        json.dumps({**document, "learner": {**learner, "log_weights": [[None] * 259] * 12}}),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(20))
def test_a_damaged_file_is_refused_in_one_sentence(file, number):
    """Cut, of another kind, or with numbers that are none; it is left as it was."""
    text = damaged(saved(file))[number]
    file.write_text(text)
    with pytest.raises(
        InputError, match=r"policy lpsm: state '.*' (is not a saved state|cannot be used)"
    ) as caught:
        make_policy(f"lpsm:state={file}").start(0.1)
    assert "\n" not in str(caught.value)
    assert file.read_text() == text


def test_a_place_that_cannot_be_written_is_refused_before_the_run(tmp_path, file):
    """A folder, and a file in a folder that is not there or is a file."""
    file.write_text("")
    for place in (tmp_path, tmp_path / "no" / "state.json", file / "state.json"):
        with pytest.raises(
            InputError, match=r"policy lpsm: state '.*' (is a folder|cannot be written|cannot be read)"
        ):
            make_policy(f"lpsm:state={place}")


def test_bytes_that_are_no_text_are_refused(file):
    """Whatever was meant."""
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not a saved state"):
        make_policy(f"lpsm:state={file}")


class Counting(Policy):
    """Counts how often it is told that a run is over."""

    name = "counting"
    finished: ClassVar[list[int]] = []

    def rest(self, now_s, since_uplink_s, poll):
        return Rest()

    def finish(self):
        self.finished.append(1)

    def __deepcopy__(self, memo):
        return copy.copy(self)


def test_a_users_own_policy_is_told_too_and_only_once():
    """Through the guard, when the run is over; not when it is merely tried."""
    Counting.finished.clear()
    simulate(Counting(), pages=2)
    assert len(Counting.finished) == 1


def test_a_users_policy_that_fails_at_the_end_is_named():
    """As everywhere else."""

    class Failing(Counting):
        name = "failing"

        def finish(self):
            raise KeyError("over")

    with pytest.raises(InputError, match=r"Policy failing failed in finish\(\) at .* s: KeyError"):
        simulate(Failing(), pages=1)


def test_a_state_that_cannot_be_written_leaves_the_one_before(file, monkeypatch):
    """A full disk is named, and no draft stays."""
    before = saved(file)

    def full_disk(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(InputError, match="cannot be written: No space left on device; choose another file"):
        simulate(f"lpsm:state={file}", pages=1)
    assert json.loads(file.read_text()) == before
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("value", [10**400, 1e18, "0", True, None, [1]])
def test_a_weight_that_no_learner_has_is_refused(file, value):
    """Neither a huge one nor a text that NumPy would take for a number."""
    document = saved(file)
    for weights in (document["learner"]["weights"], document["learner"].get("log_rate_weights")):
        changed = json.loads(json.dumps(document))
        key = "weights" if weights is document["learner"]["weights"] else "log_rate_weights"
        if key == "weights":
            changed["learner"][key][0][0] = value
        else:
            changed["learner"][key] = [value] * len(changed["learner"][key])
        file.write_text(json.dumps(changed))
        with pytest.raises(InputError, match="cannot be used"):
            simulate(f"lpsm:state={file}", pages=1)


def test_a_state_that_is_too_large_is_not_read(file, monkeypatch):
    """Or a device behind its name would take all memory."""
    saved(file)
    monkeypatch.setattr("psm_sim.policies.helpers.warm_start._MAX_BYTES", 1000)
    with pytest.raises(InputError, match="is larger than 0 KiB"):
        simulate(f"lpsm:state={file}", pages=1)
