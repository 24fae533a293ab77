"""A policy in a second process decides as it does in this one, and sees no more than it is told."""

from __future__ import annotations

import copy
import gc

import pytest

import psm_sim
from psm_sim.campaign.benchmark.entry_process import EntryPolicy, serve
from psm_sim.common.errors import PluginError
from psm_sim.policies import Rest

OWN = """
import gc, os, sys
from psm_sim.policies import Policy, Rest

print("import")

class Mine(Policy):
    name = "mine"

    def __init__(self, limit=3):
        self.limit = limit

    def rest(self, now_s, since_uplink_s, poll):
        if now_s > 20:
            self.late()
        return Rest(beacons=self.limit)

    def late(self):
        pass

class Fails(Mine):
    def late(self):
        raise KeyError("late")

class Ends(Mine):
    def late(self):
        os._exit(3)

class Lies(Mine):
    '''It writes the answer itself.'''
    def late(self):
        os.write(1, b'{"result": [-5.0, 1, false]}\\n')

class Cheat(Mine):
    '''It looks at all that this process has, and at the local variables of its callers.'''
    found, looked = 0, False

    def late(self):
        if self.looked:
            return
        self.looked = True
        frame, local = sys._getframe(), []
        while frame:
            local += frame.f_locals.values()
            frame = frame.f_back
        self.found = sum(type(each).__name__ in self.wanted for each in [*gc.get_objects(), *local])

    def report(self):
        return {"found": self.found}

class ReadsServerClock(Cheat):
    wanted = "Clock", "Environment", "Server", "World"

class ReadsPageList(Cheat):
    wanted = "Page", "Workload", "Visit", "Browser"

class ReadsFuture(Cheat):
    wanted = "Segment", "AccessPoint", "Link", "ReusableEvent"
"""
CHEATS = ["ReadsServerClock", "ReadsPageList", "ReadsFuture"]


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("policy", "trace", "profile"),
    [
        ("lpsm:acks=uplink", "ucb", None),
        ("anticipate", "phone", "esp32-c6"),
        ("uapsd", "ucb", None),
        ("twt", "ucb", None),
    ],
)
def test_the_run_is_the_same_bit_for_bit(policy, trace, profile):
    """With all hooks, service periods, and the power of the radio."""
    arguments = {"trace": trace, "profile": profile, "pages": 3}
    there = psm_sim.simulate(EntryPolicy(policy), **arguments)
    here = psm_sim.simulate(policy, **arguments)
    assert there.usage == here.usage
    assert there.page_records == here.page_records
    assert there.policy_report == here.policy_report


def test_a_users_file_with_parameters(own):
    """Each run has a process of its own."""
    policies = [EntryPolicy(f"{own}:Mine:limit={limit}") for limit in (1, 4)]
    runs = psm_sim.compare(policies, pages=2, replications=2, workers=2).runs
    assert runs[0].energy_per_page_j > runs[1].energy_per_page_j


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Fails", r"Policy mine failed in rest\(\) with .*: KeyError: 'late' \(.*own.py, line 23\)"),
        ("Ends", r"own.py:Ends: its process ended in rest\(\)"),
        ("Lies", r"own.py:Lies: rest\(\) at .* returned awake_s=-5.0; expected seconds"),
        ("Absent", "own.py has no class 'Absent'"),
    ],
)
def test_an_error_there_is_one_sentence_here(own, name, message):
    """The reason, as for a policy in this process."""
    with pytest.raises(PluginError, match=message):
        psm_sim.simulate(EntryPolicy(f"{own}:{name}"), pages=2)


def test_a_process_ends_with_its_policy():
    """At the end of the run, or when nothing refers to the policy any more."""
    policy = EntryPolicy("psm")
    policy.start(0.1)
    policy.start(0.1024)
    first = policy._process
    assert first is not None
    assert policy.rest(0.0, 0.0, None) == Rest(repeat=True)
    policy.finish()
    assert first.returncode == 0
    policy.start(0.1)
    second = policy._process
    assert second is not None
    del policy
    gc.collect()
    assert second.returncode == 0


def test_a_finished_policy_can_be_copied():
    """As one that has not begun."""
    policy = EntryPolicy("psm")
    policy.start(0.1)
    policy.finish()
    assert copy.deepcopy(policy) == policy


def test_the_server_answers_line_by_line(monkeypatch, capsys):
    """In this process, to be seen by the coverage: every call of the station, and an error."""
    frame = "[0, 40, 0, true, false, 1460, false]"
    lines = [
        '[["open"]]',
        '[["start", [0.5, 0.1, 0.001], [2], 0.2]]',
        f'[["sent", 0.1, {frame}], ["received", 0.2, {frame}]]',
        '[["interrupted", [5.0, 40, 1, [[1.0, 40]]]], ["rest", 0.3, 0.2, null]]',
        '[["rest", 0.5, 0.4, [100.0, 0, 0, []]]]',
        '[["uplink", 0.6], ["finish"]]',
    ]
    monkeypatch.setattr("sys.stdin", iter(lines))
    serve("anticipate")
    answers = capsys.readouterr().out.splitlines()
    assert answers[0].startswith('{"result": {"hooks": ["sent", "received", "interrupted"], "service": null')
    assert answers[1] == '{"result": null}'
    assert answers[2] == '{"result": null}'
    assert answers[3].startswith('{"result": [')
    monkeypatch.setattr("sys.stdin", iter(['[["open"]]']))
    serve("nobody")
    assert "Unknown policy 'nobody'" in capsys.readouterr().out


# --- what a policy can see --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_in_a_second_process_finds_nothing(own, name):
    """No clock, no page, no frame in transit: its energy is that of the honest policy."""
    cheat = psm_sim.simulate(EntryPolicy(f"{own}:{name}"), pages=2)
    assert cheat.policy_report["found"] == 0
    assert cheat.usage == psm_sim.simulate(f"{own}:Mine", pages=2).usage


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_in_this_process_finds_everything(own, name):
    """Python hides nothing from introspection, and the documentation says so."""
    assert psm_sim.simulate(f"{own}:{name}", pages=2).policy_report["found"] > 0
