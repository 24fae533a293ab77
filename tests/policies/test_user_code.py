"""A user's own code in its place: what it exits with, prints, returns and breaks is told, and where."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from psm_sim.cli import main

POLICIES = """
import sys
from psm_sim.policies import Policy, Rest

print("import")

class Base(Policy):
    name = "mine"
    count = 0

    def rest(self, now_s, since_uplink_s, poll):
        self.count += 1
        return self.answer(now_s)

    def answer(self, now_s):
        return Rest(0.0, 1)

class Exits(Base):
    def answer(self, now_s):
        if self.count == 20:
            raise SystemExit(0)
        return Rest(0.0, 1)

class ExitsWhenMade(Base):
    def __init__(self):
        sys.exit()

class ExitsInConfig(Base):
    def config(self):
        sys.exit(0)

class OwnBaseException(Base):
    def answer(self, now_s):
        raise type("Odd", (BaseException,), {})("odd")

class ConfigRaises(Base):
    def config(self):
        return 1 / 0

class ConfigIsASet(Base):
    def config(self):
        return {1}

class ConfigHasACycle(Base):
    def config(self):
        found = {}
        found["x"] = found
        return found

class ConfigHasAnObject(Base):
    def config(self):
        return {"x": object()}

class ReportIsNone(Base):
    def report(self):
        return None

class ReportHasText(Base):
    def report(self):
        return {"x": "abc"}

class ReportRaises(Base):
    def report(self):
        return missing

class ReportAtTheEndIsNone(ReportIsNone):
    def finish(self):
        pass

class RestIsNone(Base):
    def answer(self, now_s):
        return None

class LongNumber(Base):
    def answer(self, now_s):
        return Rest(awake_s=10**400)

class LongBeacons(Base):
    def answer(self, now_s):
        return Rest(beacons=10**5000)

class OddRepr(Base):
    def answer(self, now_s):
        return type("Answer", (), {"__repr__": lambda self: 1 / 0})()

class OddMessage(Base):
    def answer(self, now_s):
        raise type("Odd", (Exception,), {"__str__": lambda self: 1 / 0})()

class OddRest(Base):
    def answer(self, now_s):
        odd = {"awake_s": property(lambda self: 1 / 0), "__init__": lambda self: None}
        return type("Odd", (Rest,), odd)()

class NameRaises(Base):
    name = property(lambda self: 1 / 0)

    def answer(self, now_s):
        raise ValueError("no")

class NoSignature(Base):
    __signature__ = 7

class NoOutput(Base):
    def answer(self, now_s):
        sys.stdout = None
        return Rest(0.0, 1)

class Prints(Base):
    def answer(self, now_s):
        print("stray")
        return Rest(0.0, 1)

class Floats(Base):
    def config(self):
        import numpy as np
        return {"x": np.float32(0.5), "y": [np.int64(3)], 4: None}
"""

LOSSES = """
import numpy as np
from psm_sim.losses import Loss

class Base(Loss):
    name = "mine"
    count = 0

    def __call__(self, poll, times_ms):
        self.count += 1
        return self.answer(times_ms)

    def answer(self, times_ms):
        return times_ms / 100

class Exits(Base):
    def answer(self, times_ms):
        raise SystemExit(0)

class Late(Base):
    def answer(self, times_ms):
        return times_ms / 100 if self.count < 20 else np.full(times_ms.shape, 1j)

class LateNan(Base):
    def answer(self, times_ms):
        return times_ms / 100 if self.count < 20 else times_ms * np.nan

class MutatesLate(Base):
    def answer(self, times_ms):
        if self.count > 20:
            times_ms[0] = 7
        return times_ms / 100

class ObserveFails(Base):
    seen = 0

    def observe(self, poll):
        self.seen += 1
        if self.seen > 20:
            raise KeyError("late")

class ReportIsNone(Base):
    def report(self):
        return None

class GammaRaises(Base):
    def __init__(self, gamma=1.0):
        pass

    gamma = property(lambda self: 1 / 0)
"""

WRONG = [
    ("Exits", r"Policy mine failed in rest\(\) with \(.*\): SystemExit: 0 \(.*py, line 21\); fix the code"),
    ("ExitsWhenMade", r"cannot be created with \{\}: SystemExit \(.*mine.py, line 26\)"),
    ("ExitsInConfig", r"failed in config\(\): SystemExit"),
    ("OwnBaseException", r"failed in rest\(\) with \(0.0, 0.0, None\): Odd: odd"),
    ("ConfigRaises", r"failed in config\(\): ZeroDivisionError"),
    (
        "ConfigIsASet",
        r"failed in config\(\): it returned \{1\}; expected a dictionary \(.*mine.py, line 41\)",
    ),
    ("ConfigHasACycle", r"failed in config\(\): RecursionError"),
    (
        "ConfigHasAnObject",
        r"config\(\): it returned the value <object object.*; expected only numbers.* \(.*mine.py, line 51\)",
    ),
    (
        "ReportIsNone",
        r"^psm_sim: Policy mine failed in report\(\): it returned None; expected a dictionary \(.*py, line",
    ),
    (
        "ReportHasText",
        r"report\(\): it returned the value 'abc'; expected a dictionary of numbers \(.*mine.py, line",
    ),
    ("ReportRaises", r"^psm_sim: Policy mine failed in report\(\): NameError.* \(.*mine.py, line"),
    (
        "ReportAtTheEndIsNone",
        r"failed in report\(\): it returned None; expected a dictionary \(.*mine.py, line",
    ),
    ("RestIsNone", r"rest\(\) with \(.*\): it returned None; expected a Rest \(.*mine.py, line 11\)"),
    ("LongNumber", r"returned awake_s=10{150,}.*expected seconds from 0 to 1e\+09, or inf"),
    ("LongBeacons", r"returned beacons=<int>; expected an integer from 1"),
    ("OddRepr", r"returned <Answer>; expected a Rest"),
    ("OddMessage", r"failed in rest\(\) with .*: Odd: <Odd>"),
    ("OddRest", r"failed in rest\(\) with .*: ZeroDivisionError"),
    ("NameRaises", r"Policy NameRaises failed in rest\(\)"),
    ("NoSignature", r"NoSignature: the constructor's signature cannot be read"),
]

WRONG_LOSSES = [
    ("Exits", r"Loss mine failed in __call__\(\) with .*: SystemExit: 0 \(.*losses.py, line 18\)"),
    ("Late", r"Loss mine failed .*: it returned an array of complex128; .*losses.py, line 9\)"),
    ("LateNan", r"Loss mine failed .*: it returned nan for 100 ms; .*losses.py, line 9\)"),
    (
        "ReportIsNone",
        r"Loss mine failed in report\(\): it returned None; expected a dictionary \(.*losses.py, line",
    ),
    ("MutatesLate", "Loss mine failed in .*: ValueError: assignment destination is read-only"),
    ("ObserveFails", r"Loss mine failed in observe\(\) with .*: KeyError: 'late'"),
    ("GammaRaises", "ZeroDivisionError"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with a user's files."""
    (tmp_path / "mine.py").write_text(POLICIES)
    (tmp_path / "losses.py").write_text(LOSSES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that has to end with one line and status 2; return the line."""
    assert main([*words]) == 2
    output, complaint = capsys.readouterr()
    told = [line for line in complaint.splitlines() if line not in ("import", "stray")]
    assert (output, len(told)) == ("", 1)
    return told[0]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("name", "message"), WRONG, ids=[name for name, _ in WRONG])
def test_a_policy_that_goes_wrong_is_one_line_with_file_line_and_time(
    capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    """It can neither end the run with status 0 nor lose the result of a long one at its end."""
    assert re.search(message, refused(capsys, "--policy", f"mine.py:{name}", "--pages", "3"))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("name", "message"), WRONG_LOSSES, ids=[name for name, _ in WRONG_LOSSES])
def test_a_loss_that_goes_wrong_late_is_one_line_too(
    capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    """The times that it is given are read-only."""
    assert re.search(message, refused(capsys, "--pages", "5", "--loss", f"losses.py:{name}"))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["Prints", "NoOutput", "Floats"])
def test_the_output_is_the_result_alone(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Prints go to standard error; a policy that takes the output away does not take the result."""
    assert main(["--policy", f"mine.py:{name}", "--pages", "2", "--format", "json"]) == 0
    output, complaint = capsys.readouterr()
    (run,) = json.loads(output)["runs"]
    assert run["parameters"] == ({"x": 0.5, "y": [3], "4": None} if name == "Floats" else {})
    assert ("stray" in complaint) == (name == "Prints")


def test_a_formula_that_overflows_late_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """The learner that refuses its losses does not know where they come from."""
    words = ["--loss", "where(I > 20000, 1/0, 1/Ti)", "--pages", "40"]
    told = refused(capsys, *words)
    assert re.search(r"Loss (formula )?.*returned inf|Loss where\(I > 20000.* bytes buffered", told)
