"""The data that the interactive page requests, without a browser."""

from __future__ import annotations

import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from psm_sim.commands.explore import compare_arguments
from psm_sim.common.errors import InputError
from psm_sim.common.progress import Progress, no_progress
from psm_sim.reporting.explore.server import Simulator
from psm_sim.reporting.explore.settings import Settings

QUICK = Settings(policies=("anticipate",), pages="2", seeds="1")


def ask(simulator: Simulator, check: Progress = no_progress, **changes: Any) -> Any:
    """Return the answer for the initial values of the controls with some changes."""
    values = {name: control["values"] for name, control in simulator.controls.items()}
    return simulator.answer({**values, **changes}, check)


def stop(arguments: Any, progress: Any) -> Any:
    """Simulate nothing, for tests of other functions of the page."""
    raise InputError("Stopped.")


def test_the_answer_has_conclusion_and_command_and_marks_and_timelines() -> None:
    answer = ask(Simulator(compare_arguments, QUICK))
    assert "seed 1" in answer["title"]
    view = answer["views"][""]
    assert "anticipate:price=0.25" in view["conclusion"]
    assert "--policy anticipate:price=0.25 --trace ucb" in view["command"] == answer["command"]
    assert [row[0] for row in view["table"][1:]] == ["always-on *", "psm *", "anticipate:price=0.25"]
    assert any("not a recording" in line for line in [*answer["caption"], *view["caption"]])
    assert "slowdown" in view["axes"][0]
    assert view["frontier"]
    assert view["far"] == ["always-on"]
    assert [mark[0] for mark in view["marks"]] == view["runs"] == list(answer["timelines"])
    assert answer["timelines"]["psm"]["beacons"]
    assert not answer["timelines"]["always-on"]["beacons"]


def test_a_page_for_the_timelines_needs_no_new_simulation() -> None:
    calls = []

    def count(arguments, progress):
        calls.append(arguments)
        return compare_arguments(arguments, progress)

    simulator = Simulator(count, QUICK)
    answers = [ask(simulator, page=[page]) for page in ("1", "2", "20")]
    assert [answer["page"].partition(",")[0] for answer in answers] == ["page 1", "page 2", "page 2"]
    assert len(calls) == 1


def test_a_trace_without_pages_has_latencies_and_the_timeline_of_its_first_message() -> None:
    def simulate(arguments, progress):
        shorter = ["ping:stretch_s=60" if word == "ping" else word for word in arguments]
        return compare_arguments(shorter, progress)

    answer = ask(Simulator(simulate, QUICK), trace=["ping"], profile=["esp32"], pages=["1"])
    x, y = answer["views"][""]["axes"]
    assert "(ms)" in x
    assert "(mW)" in y
    assert answer["timelines"]["psm"]["down"]


def test_the_page_has_the_numbers_of_pages_and_seeds_for_a_fast_simulation_of_each_trace() -> None:
    page = Simulator(stop, QUICK).page
    assert '"ucb":{"pages":"40","seeds":"5"}' in page
    assert '"mqtt":{"pages":"1","seeds":"5"}' in page


@pytest.mark.parametrize("error", [InputError("Too\nmuch."), ZeroDivisionError("Too much")])
def test_an_error_is_reported_with_the_command(error: Exception) -> None:
    def fail(arguments, progress):
        raise error

    answer = ask(Simulator(fail, QUICK), pages=["80"])
    assert "Too much." in answer["error"]
    assert "--pages 80" in answer["command"]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("policies", ["evil.py:Evil"]),
        ("trace", ["secret.csv"]),
        ("trace", ["ucb", "ucb"]),
        ("round_trip_ms", ["abc"]),
        ("seed", []),
        ("page", ["-1"]),
    ],
)
def test_a_value_that_a_control_does_not_offer_is_rejected(
    name: str, values: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser cannot make the server open or run a file."""
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text("raise SystemExit\n")
    Path("secret.csv").write_text("secret\n")
    assert " must be one of" in ask(Simulator(stop, QUICK), no_progress, **{name: values})["error"]


def test_a_policy_that_exits_is_an_error_and_the_next_simulation_still_runs() -> None:
    def leave(arguments, progress):
        if "80" in arguments:
            sys.exit("left")
        return stop(arguments, progress)

    simulator = Simulator(leave, QUICK)
    assert "left" in ask(simulator, pages=["80"])["error"]
    assert ask(simulator, pages=["1"])["error"] == "Stopped."


def test_a_request_that_is_no_longer_wanted_ends_and_a_queued_one_does_not_begin() -> None:
    begun, closed, requests, ended = threading.Event(), threading.Event(), [], []

    def slow(arguments, progress):
        requests.append(arguments)
        begun.set()
        closed.wait(600)
        return compare_arguments(arguments, progress)

    simulator = Simulator(slow, QUICK)

    def check(*_: object) -> None:
        if closed.is_set():
            raise ConnectionAbortedError

    def request() -> None:
        with pytest.raises(ConnectionAbortedError):
            ask(simulator, check)
        ended.append(True)

    threads = [threading.Thread(target=request) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(600)
    closed.set()
    for thread in threads:
        thread.join()
    assert len(ended) == 3
    assert len(requests) == 1


def test_a_parameter_control_applies_only_to_policies_that_do_not_set_the_parameter() -> None:
    policies = ("bsd", "bsd:p=2", "lpsm", "lpsm:learner=learn-alpha", "anticipate:delay_ms=50")
    settings = Settings(policies=policies, price="3", bound="0.1", gamma="0.01", switching_rate="0.1")
    assert [text for option, text in pairwise(settings.arguments) if option == "--policy"] == [
        "bsd:p=0.1",
        "bsd:p=2",
        "lpsm:gamma=0.01,alpha=0.1",
        "lpsm:learner=learn-alpha,gamma=0.01",
        "anticipate:delay_ms=50",
    ]
    assert ask(Simulator(stop, settings))["disabled"] == ["price"]


def test_the_page_opens_with_a_conclusion_that_names_a_best_policy() -> None:
    conclusion = compare_arguments(Settings().arguments, no_progress).conclusion()
    assert "least energy" in conclusion
    assert "not significant" not in conclusion
