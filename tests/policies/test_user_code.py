"""Faults of user-defined code: the error has its file, line and time."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from psm_sim.cli import main
from psm_sim.common import user_code_guards
from psm_sim.common.errors import PluginError
from psm_sim.common.user_code_guards import user_code_call

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

class OwnBaseException(Base):
    def answer(self, now_s):
        raise type("Odd", (BaseException,), {})("odd")

class ConfigIsASet(Base):
    def config(self):
        return {1}

class ConfigHasACycle(Base):
    def config(self):
        parameters = {}
        parameters["x"] = parameters
        return parameters

class ConfigHasAnObject(Base):
    def config(self):
        return {"x": object()}

class ReportIsNone(Base):
    def report(self):
        return None

class ReportHasText(Base):
    def report(self):
        return {"x": "abc"}

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
    (
        "Exits",
        r"Policy mine.py:Exits failed in rest\(\) with \(.*\): SystemExit: 0 \(.*py, line 21\); fix the code",
    ),
    ("ExitsWhenMade", r"cannot be created with \{\}: SystemExit \(.*mine.py, line 26\)"),
    ("OwnBaseException", r"failed in rest\(\) with \(0.0, 0.0, None\): Odd: odd"),
    (
        "ConfigIsASet",
        r"failed in config\(\): it returned \{1\}; expected a dictionary \(.*mine.py, line 33\)",
    ),
    ("ConfigHasACycle", r"failed in config\(\): RecursionError"),
    (
        "ConfigHasAnObject",
        r"config\(\): it returned the value <object object.*; expected only numbers.* \(.*mine.py, line 43\)",
    ),
    (
        "ReportIsNone",
        r"^psm_sim: Policy mine.py:ReportIsNone failed in report\(\): it returned None; expected a dict",
    ),
    (
        "ReportHasText",
        r"report\(\): it returned the value 'abc'; expected a dictionary of numbers \(.*mine.py, line",
    ),
    ("LongNumber", r"returned awake_s=10{150,}.*expected seconds from 0 to 1e\+09, or inf"),
    ("LongBeacons", r"returned beacons=<int>; expected an integer from 1"),
    ("OddRepr", r"returned <Answer>; expected a Rest"),
    ("OddMessage", r"failed in rest\(\) with .*: Odd: <Odd>"),
    ("OddRest", r"failed in rest\(\) with .*: ZeroDivisionError"),
    ("NameRaises", r"Policy mine.py:NameRaises failed in rest\(\)"),
    ("NoSignature", r"NoSignature: the constructor's signature cannot be read"),
]

WRONG_LOSSES = [
    ("Exits", r"Loss losses.py:Exits failed in __call__\(\) with .*: SystemExit: 0 \(.*losses.py, line 18\)"),
    ("Late", r"Loss losses.py:Late failed .*: it returned an array of complex128; .*losses.py, line 9\)"),
    (
        "ReportIsNone",
        r"Loss losses.py:ReportIsNone failed in report\(\): it returned None; expected a dictionary",
    ),
    (
        "MutatesLate",
        r"Loss losses.py:MutatesLate failed in .*: ValueError: assignment destination is read-only",
    ),
    ("ObserveFails", r"Loss losses.py:ObserveFails failed in observe\(\) with .*: KeyError: 'late'"),
    ("GammaRaises", "ZeroDivisionError"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with files of a user."""
    (tmp_path / "mine.py").write_text(POLICIES)
    (tmp_path / "losses.py").write_text(LOSSES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def error_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must end with status 2 and one line of error; return the line."""
    assert main([*words]) == 2
    output, complaint = capsys.readouterr()
    lines = [line for line in complaint.splitlines() if line not in ("import", "stray")]
    assert (output, len(lines)) == ("", 1)
    return lines[0]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("name", "message"), WRONG, ids=[name for name, _ in WRONG])
def test_the_error_of_a_policy_is_one_line_with_file_and_line_number_and_time(
    capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    """A policy can neither end the run with status 0 nor lose the result of a long run at its end."""
    assert re.search(message, error_of(capsys, "--policy", f"mine.py:{name}", "--pages", "3"))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("name", "message"), WRONG_LOSSES, ids=[name for name, _ in WRONG_LOSSES])
def test_the_error_of_a_loss_late_in_a_run_is_one_line(
    capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    """The times that a loss receives are read-only."""
    assert re.search(message, error_of(capsys, "--pages", "5", "--loss", f"losses.py:{name}"))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["Prints", "NoOutput", "Floats"])
def test_standard_output_has_only_the_result(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Prints go to standard error. A policy that closes the output does not lose the result."""
    assert main(["--policy", f"mine.py:{name}", "--pages", "2", "--format", "json"]) == 0
    output, complaint = capsys.readouterr()
    (run,) = json.loads(output)["runs"]
    assert run["parameters"] == ({"x": 0.5, "y": [3], "4": None} if name == "Floats" else {})
    assert ("stray" in complaint) == (name == "Prints")


def test_the_error_for_a_formula_that_overflows_late_in_a_run_quotes_the_formula(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The learner that rejects the losses does not know their source."""
    words = ["--loss", "where(I > 20000, 1/0, 1/Ti)", "--pages", "40"]
    message = error_of(capsys, *words)
    assert re.search(r"Loss (formula )?.*returned inf|Loss where\(I > 20000.* bytes buffered", message)


# --- in a process of its own ------------------------------------------------------------------------------

UNRULY = """
import os, threading, time
from psm_sim.policies import Policy, Rest

class Base(Policy):
    name = "unruly"
    count = 0

    def rest(self, now_s, since_uplink_s, poll):
        self.count += 1
        if self.count == 20:
            self.act()
        return Rest()

class Ends(Base):
    def act(self):
        os._exit(0)

class Crashes(Base):
    def act(self):
        os.kill(os.getpid(), 11)

class Leaves(Base):
    '''It leaves a thread, a process, and a copy of the command.'''
    def act(self):
        os.open("fifo", os.O_WRONLY)
        threading.Thread(target=time.sleep, args=[120]).start()
        os.fork()
        if os.fork() == 0:
            time.sleep(120)

class Waits(Base):
    def act(self):
        os.open("fifo", os.O_WRONLY)
        time.sleep(120)
"""

posix_only = pytest.mark.skipif(os.name != "posix", reason="there are no such processes on Windows")


@pytest.fixture
def fifo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Change to a folder with unruly policies; yield a FIFO there."""
    monkeypatch.chdir(tmp_path)
    Path("unruly.py").write_text(UNRULY)
    os.mkfifo("fifo")
    fifo = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
    yield fifo
    os.close(fifo)


def started(name: str, *words: str) -> subprocess.Popen[str]:
    """Start a command with an unruly policy."""
    policies = () if "--policy" in words else ("--policy", f"unruly.py:{name}")
    command = [sys.executable, "-m", "psm_sim", *policies, "--pages", "3", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def assert_that_no_process_opens(fifo: int) -> None:
    """Check that a FIFO has no writers left."""
    assert select.select([fifo], [], [], 60)[0] == [fifo]
    assert os.read(fifo, 1) == b""


@posix_only
@pytest.mark.usefixtures("fifo")
@pytest.mark.parametrize(
    ("name", "how"),
    [("Ends", "with exit status 0"), ("Crashes", "by signal 11 (Segmentation fault)")],
)
def test_the_error_for_a_policy_that_ends_its_process_is_one_line(name: str, how: str) -> None:
    process = started(name)
    output, message = process.communicate()
    assert (process.returncode, output) == (2, "")
    assert message == f"psm_sim: Policy unruly.py:{name} returned no result: its process has ended {how}.\n"


@posix_only
@pytest.mark.usefixtures("fifo")
def test_the_results_of_other_policies_are_printed_if_a_policy_ends_its_process() -> None:
    process = started("", "--policy", "bsd", "--policy", "unruly.py:Ends", "--format", "json")
    output, message = process.communicate()
    assert process.returncode == 2
    assert [run["policy"] for run in json.loads(output)["runs"]] == ["bsd"]
    assert message.startswith("psm_sim: Policy unruly.py:Ends returned no result")
    assert message.count("\n") == 1


@posix_only
@pytest.mark.usefixtures("fifo")
def test_the_error_for_a_file_that_exits_is_one_line() -> None:
    Path("unruly.py").write_text("import os\nos._exit(3)")
    command = [sys.executable, "-m", "psm_sim", "check", "unruly.py:Ends"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "psm_sim: unruly.py:Ends returned no result: its process has ended with exit status 3.\n"
    )


@posix_only
def test_processes_of_a_policy_end_with_the_command(fifo: int) -> None:
    """The result is printed once."""
    process = started("Leaves", "--format", "json")
    output, messages = process.communicate()
    assert (process.returncode, messages) == (0, "")
    assert len(json.loads(output)["runs"]) == 1
    assert_that_no_process_opens(fifo)


@posix_only
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("SIGINT", "psm_sim: interrupted.\n"),
        ("SIGKILL", ""),
    ],
)
def test_a_signal_to_the_command_ends_the_policy(name: str, message: str, fifo: int) -> None:
    process = started("Waits")
    while not is_held(fifo):
        assert process.poll() is None
    process.send_signal(getattr(signal, name))
    assert process.communicate() == ("", message)
    assert process.returncode in (-9, 128 + getattr(signal, name))
    assert_that_no_process_opens(fifo)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ctrl_z_pauses_the_policy(fifo: int) -> None:
    process = started("Waits")
    while not is_held(fifo):
        assert process.poll() is None
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for number, states in ((signal.SIGTSTP, "T"), (signal.SIGCONT, "RS")):
        process.send_signal(number)
        while {state_of(str(process.pid)), state_of(child)} - set(states):
            time.sleep(0.05)
    process.kill()
    process.communicate()
    assert_that_no_process_opens(fifo)


def state_of(process: str) -> str:
    """Return the letter of the state of a process, T if it is stopped."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def is_held(fifo: int) -> bool:
    """Return whether a process has the FIFO open, after a moment."""
    time.sleep(0.05)
    try:
        os.read(fifo, 1)
    except BlockingIOError:
        return True
    return False


@posix_only
def test_the_error_for_a_call_that_takes_too_long_states_the_time_limit() -> None:
    """The call ends after as many ticks of the timer as its limit has."""
    before = signal.signal(signal.SIGALRM, user_code_guards._limit_time)
    try:
        with pytest.raises(PluginError, match=r"^It failed: TimeLimitError: no result within 1 s; fix"):
            _pass_ticks(3)
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _pass_ticks(number: int) -> None:
    with user_code_call("It failed", limit_s=1.0):
        for _ in range(number):
            signal.raise_signal(signal.SIGALRM)
