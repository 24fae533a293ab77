"""Process of a benchmark entry, which knows only its observations.

The two processes exchange lines of JSON through pipes. A line to the entry is a list of calls, ``[[METHOD,
ARGUMENT, ...], ...]``. The answer is ``{"result": ...}`` of the last call, or ``{"error": TEXT}``. Calls
without a result wait for the next decision, so each decision takes one exchange.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import weakref
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

from psm_sim.common.errors import InputError, PluginError
from psm_sim.common.parameters import parameter
from psm_sim.common.user_code_guards import WrongResultError
from psm_sim.policies.base import Dtim, Frame, Policy, RadioPower, Rest, ServicePeriod, describe_radio
from psm_sim.policies.user_policy_guard import checked_rest, guard_policy
from psm_sim.poll import Poll

_SERVE = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from psm_sim.campaign.benchmark.entry_process import serve; serve(sys.argv[2])"
)
_HOOKS = ("uplink", "sent", "received", "interrupted")


@dataclass
class EntryPolicy(Policy):
    """Policy of an entry, which decides in a second process.

    It cannot see the simulated network, because its process has no part of it. The process begins before the
    run, and ends with :meth:`finish` or with this object.

    Parameters
    ----------
    policy : str
        Spec of the entry, such as ``"my.py:Mine:limit=3"``.
    """

    name: ClassVar[str] = "entry"

    policy: str = parameter("psm", "the policy that runs in a second process")

    def __post_init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._calls: list[tuple[Any, ...]] = []
        self._report: dict[str, float] = {}

    @property
    def service(self) -> ServicePeriod | None:
        """Rules of the entry's service periods."""
        service = self._open()["service"]
        return None if service is None else ServicePeriod(*service)

    def wants(self, hook: str) -> bool:
        """Return whether the entry overrides the *hook*."""
        return hook in self._open()["hooks"]

    def start(self, beacon_s: float) -> None:
        """Start the entry."""
        super().start(beacon_s)
        self._open()
        self._calls.clear()
        self._ask("start", self.power, self.dtim, beacon_s)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the decision of the entry."""
        rest = Rest(*self._ask("rest", now_s, since_uplink_s, _pack(poll)))
        try:
            return checked_rest(rest)
        except WrongResultError as error:
            raise PluginError(f"Policy {self.policy}: rest() at {now_s:g} s returned {error}.") from None

    def uplink(self, now_s: float) -> None:
        """Note an uplink packet for the entry."""
        self._note("uplink", now_s)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Note a frame sent."""
        self._note("sent", now_s, frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Note a frame received."""
        self._note("received", now_s, frame)

    def interrupted(self, poll: Poll) -> None:
        """Note an interrupted doze."""
        self._note("interrupted", _pack(poll))

    def finish(self) -> None:
        """Finish the entry, and end its process."""
        self._report = self._ask("finish")
        self._end()
        self._process = None

    def report(self) -> dict[str, float]:
        """Return the measurements of the entry at its end."""
        return self._report

    def _open(self) -> dict[str, Any]:
        """Begin the process, unless it runs, and return what the entry is."""
        if self._process is None:
            root = Path(__file__).resolve().parents[3]
            self._process = subprocess.Popen(  # noqa: S603 (this interpreter, and a policy that the user names)
                [sys.executable, "-c", _SERVE, str(root), self.policy],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONSAFEPATH": "1"},
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C interrupts the run, which then ends the process
            )
            # communicate() closes the input, which ends the process, and waits for it.
            self._end = weakref.finalize(self, self._process.communicate)
            self._facts: dict[str, Any] = self._ask("open")
        return self._facts

    def _note(self, hook: str, *arguments: Any) -> None:
        if hook in self._facts["hooks"]:
            self._calls.append((hook, *arguments))

    def _ask(self, method: str, *arguments: Any) -> Any:
        """Send all calls that are due, and return the result of the last one."""
        process: Any = self._process
        calls = [*self._calls, (method, *arguments)]
        self._calls.clear()
        try:
            _write(process.stdin, calls)
            answer = json.loads(process.stdout.readline())
        except (OSError, ValueError):
            raise PluginError(
                f"Policy {self.policy}: its process ended in {method}(); its last output has the reason."
            ) from None
        if "error" in answer:
            raise PluginError(answer["error"])
        return answer["result"]


def serve(spec: str) -> None:
    """Run the policy *spec*, as lines on standard input ask, until they end.

    Standard output of the policy goes to standard error.
    """
    answers, policy = sys.stdout, None
    with redirect_stdout(sys.stderr):
        for line in sys.stdin:
            try:
                policy = guard_policy(spec) if policy is None else policy
                *_, result = [_call(policy, *call) for call in json.loads(line)]
                _write(answers, {"result": result})
            except InputError as error:
                _write(answers, {"error": str(error)})


def _call(policy: Policy, method: str, *arguments: Any) -> Any:
    """Call a method of the policy with arguments from JSON, and return its result for JSON."""
    match method, *arguments:
        case ["open"]:
            return {"hooks": [hook for hook in _HOOKS if policy.wants(hook)], "service": policy.service}
        case ["start", power, dtim, beacon_s]:
            describe_radio(policy, RadioPower(*power), Dtim(*dtim))
            policy.start(beacon_s)
        case ["rest", now_s, since_uplink_s, poll]:
            rest = policy.rest(now_s, since_uplink_s, None if poll is None else _unpack(poll))
            return rest.awake_s, rest.beacons, rest.repeat
        case ["uplink", now_s]:
            policy.uplink(now_s)
        case ["sent", now_s, frame]:
            policy.sent(now_s, Frame(*frame))
        case ["received", now_s, frame]:
            policy.received(now_s, Frame(*frame))
        case ["interrupted", poll]:
            policy.interrupted(_unpack(poll))
        case ["finish"]:
            policy.finish()
            return policy.report()
    return None


def _pack(poll: Poll | None) -> tuple[Any, ...] | None:
    if poll is None:
        return None
    return poll.slept_ms, poll.buffered_bytes, poll.buffered_frames, poll.arrivals


def _unpack(values: list[Any]) -> Poll:
    slept_ms, size, frames, arrivals = values
    return Poll(slept_ms, size, frames, tuple((arrived_ms, size) for arrived_ms, size in arrivals))


def _write(file: IO[str], message: Any) -> None:
    file.write(json.dumps(message) + "\n")
    file.flush()
