"""Policies in a second process: equal decisions, and no access to the simulation."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import select
from types import SimpleNamespace
from typing import Any

import pytest

import psm_sim
from psm_sim.campaign.benchmark import entry_process
from psm_sim.campaign.benchmark.entry_process import EntryPolicy, serve_policy
from psm_sim.common.errors import PluginError
from psm_sim.policies import Rest
from psm_sim.simulation.table import usage_of
from tests.page_rows import run_text

OWN = """
import gc, os, sys, time
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

class Interrupts(Mine):
    def late(self):
        raise KeyboardInterrupt

class Hangs(Mine):
    def late(self):
        os.open("fifo", os.O_WRONLY)  # and its child
        os.fork()
        while True:
            time.sleep(1)

class Hoards(Mine):
    def late(self):
        bytearray(1 << 40)

class Reports(Mine):
    def report(self):
        return {str(number): 1.0 for number in range(100_000)}

class Noisy(Mine):
    '''Write an answer to the standard streams.'''
    def rest(self, now_s, since_uplink_s, poll):
        os.write(1, b"[1, null, [-5.0, 1, false]]\\n")
        print("noise", file=sys.__stdout__)
        return super().rest(now_s, since_uplink_s, poll)

class Lies(Mine):
    '''Write answers to every open pipe.'''
    def late(self):
        for number in range(3, 20):
            try:
                os.write(number, b"\\0\\0\\0\\2{}" * 9)
            except OSError:
                pass

class Cheat(Mine):
    '''Search all objects of the process, and the local variables of the callers.'''
    findings, looked = 0, False

    def late(self):
        if self.looked:
            return
        self.looked = True
        frame, local = sys._getframe(), []
        while frame:
            local += frame.f_locals.values()
            frame = frame.f_back
        self.findings = sum(type(item).__name__ in self.wanted for item in [*gc.get_objects(), *local])

    def report(self):
        return {"findings": self.findings}

class ReadsServerClock(Cheat):
    wanted = "Clock", "Environment", "Server", "World"

class ReadsPageList(Cheat):
    wanted = "Page", "Workload", "Visit", "Browser"

class ReadsFuture(Cheat):
    wanted = "Segment", "Port", "Link", "ReusableEvent"
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
def test_a_policy_in_a_second_process_gives_the_same_run_bit_for_bit(policy, trace, profile):
    """The policies use all hooks, service periods, and the power of the radio."""
    arguments = {"trace": trace, "profile": profile, "pages": 3}
    there = psm_sim.simulate(EntryPolicy(policy), **arguments)
    here = psm_sim.simulate(policy, **arguments)
    assert run_text(there) == run_text(here)


def test_a_user_defined_policy_with_parameters_runs_in_a_second_process(own):
    """Each run has its own process."""
    policies = [EntryPolicy(f"{own}:Mine:limit={limit}") for limit in (1, 4)]
    runs = psm_sim.compare(policies, pages=2, replications=1, workers=1).runs
    assert runs[0].energy_per_page_j > runs[1].energy_per_page_j


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "Fails",
            r"Policy .*own.py:Fails failed in rest\(\) with .*: KeyError: 'late' \(.*own.py, line 23\)",
        ),
        ("Ends", r"own.py:Ends: rest\(\) returned no result: its process has ended with exit status 3\."),
        (
            "Interrupts",
            r"Policy .*own.py:Interrupts failed in rest\(\) with .*: KeyboardInterrupt \(.*own.py, line 31\)",
        ),
        ("Hoards", r"Policy .*own.py:Hoards failed in rest\(\) with .*: MemoryError \(.*own.py"),
        (
            "Reports",
            r"Policy .*own.py:Reports failed in report\(\): it returned 100000 numbers; .* at most 1000",
        ),
        ("Lies", r"own.py:Lies: rest\(\) gave an answer that psm_sim did not ask for"),
        ("Absent", "own.py has no class 'Absent'"),
    ],
)
def test_an_error_in_the_second_process_is_one_sentence(own, name, message):
    """The sentence has the reason, as for a policy in the same process."""
    with pytest.raises(PluginError, match=message):
        psm_sim.simulate(EntryPolicy(f"{own}:{name}"), pages=2)


def test_what_an_entry_prints_is_neither_a_reply_nor_output(own, capfd):
    """Standard error has the prints."""
    noisy = psm_sim.simulate(EntryPolicy(f"{own}:Noisy"), pages=1)
    assert run_text(noisy) == run_text(psm_sim.simulate(f"{own}:Mine", pages=1))
    out, error = capfd.readouterr()
    assert out == ""
    assert "noise" in error


def test_an_entry_past_the_time_limit_is_killed_with_its_children(own, monkeypatch, tmp_path):
    """No process has the FIFO of the entry and of its child open after the time limit."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    fifo = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
    policy = EntryPolicy(f"{own}:Hangs")
    policy.start(0.1)
    monkeypatch.setattr(entry_process, "time_limit_s", lambda _: 0.0)
    with pytest.raises(PluginError, match=r"own.py:Hangs: rest\(\) gave no answer within 1 s"):
        policy.rest(30.0, 0.0, None)
    assert select.select([fifo], [], [], 60)[0] == [fifo]
    assert os.read(fifo, 1) == b""
    os.close(fifo)


def test_the_second_process_ends_with_its_policy():
    """The process ends with the run, or when the policy is garbage collected."""
    gc.collect()  # policies of earlier runs
    policy = EntryPolicy("psm")
    policy.start(0.1)
    policy.start(0.1024)
    assert policy.rest(0.0, 0.0, None) == Rest(repeat=True)
    assert len(multiprocessing.active_children()) == 1
    policy.finish()
    assert multiprocessing.active_children() == []
    policy.start(0.1)
    del policy
    gc.collect()
    assert multiprocessing.active_children() == []


def test_the_server_replies_to_every_call():
    """Each call of the station and an error are tried, in this process so that coverage is measured."""
    frame = [0, 40, 0, True, False, 1460, False]
    questions = [
        [["load"]],
        [["open"]],
        [["start", [0.5, 0.1, 0.001], [2], 0.2]],
        [["sent", 0.1, frame], ["received", 0.2, frame]],
        [["interrupted", [5.0, 40, 1, [[1.0, 40]]]], ["rest", 0.3, 0.2, None]],
        [["rest", 0.5, 0.4, [100.0, 0, 0, []]]],
        [["uplink", 0.6], ["finish"]],
    ]
    _, opened, started, _, decided, *_ = _answers("anticipate", questions)
    assert opened == [1, None, {"hooks": ["sent", "received", "interrupted"], "service": None}]
    assert started == [2, None, None]
    assert len(decided[2]) == 3
    assert "Unknown policy 'missing'" in _answers("missing", [[["load"]]])[0][1]


def _answers(spec, questions):
    here, there = multiprocessing.Pipe()
    for number, question in enumerate(questions):
        here.send_bytes(json.dumps([number, question]).encode())
    channel: Any = SimpleNamespace(
        recv_bytes=lambda: there.recv_bytes() if there.poll() else _end(), send_bytes=there.send_bytes
    )
    serve_policy(channel, spec)
    return [json.loads(here.recv_bytes()) for _ in questions]


def _end():
    raise EOFError


# --- access of a policy to the simulation -------------------------------------------------------------------


@pytest.mark.parametrize("name", CHEATS)
def test_a_policy_in_a_second_process_has_no_access_to_the_simulation(own, name):
    """The process has no clock, page or frame in transit. Spying does not change the energy."""
    cheat = psm_sim.simulate(EntryPolicy(f"{own}:{name}"), pages=2)
    assert cheat["policy_report.findings"] == 0
    honest = psm_sim.simulate(f"{own}:Mine", pages=2)
    assert usage_of(cheat.row) == usage_of(honest.row)


@pytest.mark.parametrize("name", CHEATS)
def test_a_policy_in_the_same_process_has_access_to_the_simulation(own, name):
    """Python cannot prevent introspection, as documented."""
    assert psm_sim.simulate(f"{own}:{name}", pages=2)["policy_report.findings"] > 0
