"""Separate process for a user's policy in the benchmark, so that the policy sees only its observations.

The two processes exchange JSON messages through a pipe. The entry's standard streams are not connected to the
pipe. A question to the policy, called the entry, is ``[NUMBER, [[METHOD, ARGUMENT, ...], ...]]``. Its answer
is ``[NUMBER, ERROR, RESULT]``, with the result of the last call. A call that returns nothing is sent together
with the next decision, so each decision takes one exchange.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, ClassVar, NamedTuple, TypeVar

from psm_sim.common.errors import InputError, PluginError
from psm_sim.common.opened_files import add_opened_files, note_opened_files, opened_files
from psm_sim.common.parallel import Session
from psm_sim.common.parameters import parameter
from psm_sim.common.user_code_guards import WrongResultError, numbers, time_limit_s, user_code_call
from psm_sim.policies.base import Dtim, Frame, Policy, RadioPower, Rest, ServicePeriod, describe_radio
from psm_sim.policies.factory import make_policy
from psm_sim.policies.user_policy_guard import checked_rest, guard_policy
from psm_sim.poll import Poll

T = TypeVar("T")

RUN_S = 600.0
"""Time limit of all decisions of a run, in seconds (a rule of the benchmark, ``docs/benchmark.md``)."""

MAX_ANSWER_BYTES = 1 << 20
"""Maximum size of an answer in bytes."""

LATE_S = 1.0
"""Additional time in which the entry's own process can end a late call, in seconds."""

_HOOKS = ("uplink", "sent", "received", "interrupted")

_CREATE = {"load": make_policy, "open": guard_policy}
"""Methods that create the policy. The first one imports the modules of the entry."""


class _Facts(NamedTuple):
    """Hooks that an entry overrides, and the rules of its service periods."""

    hooks: frozenset[str]
    service: ServicePeriod | None


@dataclass
class EntryPolicy(Policy):
    """Stand-in for the entry, which decides in a second process.

    The second process does not contain the simulated network, so the entry cannot read its state. The process
    begins before the run, and ends with :meth:`finish` or when this object is deleted.
    """

    name: ClassVar[str] = "entry"

    policy: str = parameter("psm", "the policy that runs in a second process")

    def __post_init__(self) -> None:
        self._session: Any = None
        self._calls: list[tuple[Any, ...]] = []
        self._report: dict[str, float] = {}

    @property
    def service(self) -> ServicePeriod | None:
        """Rules of the entry's service periods."""
        return self._open().service

    def wants(self, hook: str) -> bool:
        """Return whether the entry overrides the *hook*."""
        return hook in self._open().hooks

    def start(self, beacon_s: float) -> None:
        """Start the entry."""
        super().start(beacon_s)
        self._open()
        self._calls.clear()
        self._ask(_ignore, "start", self.power, self.dtim, beacon_s)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the decision of the entry."""
        return self._ask(_read_rest, "rest", now_s, since_uplink_s, _pack(poll))

    def uplink(self, now_s: float) -> None:
        """Record an uplink packet for the entry."""
        self._note("uplink", now_s)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Record a frame sent."""
        self._note("sent", now_s, frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Record a frame received."""
        self._note("received", now_s, frame)

    def interrupted(self, poll: Poll) -> None:
        """Record an interrupted doze."""
        self._note("interrupted", _pack(poll))

    def finish(self) -> None:
        """Finish the entry, and end its process."""
        self._report = self._ask(numbers, "finish")
        add_opened_files(self._ask(_read_digests, "files"))
        self._close()

    def report(self) -> dict[str, float]:
        """Return the measurements that the entry reported at :meth:`finish`."""
        return self._report

    def _open(self) -> _Facts:
        """Start the process if it does not run. Return the hooks and service periods of the entry."""
        if self._session is None:
            self._session = Session(serve_policy, self.policy)
            self._number, self._left_s = 0, RUN_S
            self._ask(_ignore, "load")
            self._facts = self._ask(_read_facts, "open")
        return self._facts

    def _close(self) -> None:
        """End the process."""
        if self._session is not None:
            self._session.end()
        self._session = None

    def _note(self, hook: str, *arguments: Any) -> None:
        if hook in self._facts.hooks:
            self._calls.append((hook, *arguments))

    def _ask(self, convert: Callable[[Any], T], method: str, *arguments: Any) -> T:
        """Send the recorded calls, then call *method*, and return its result, converted by *convert*."""
        try:
            return convert(self._exchange([*self._calls, (method, *arguments)]))
        except PluginError:
            self._close()
            raise
        except WrongResultError as error:
            problem = f"returned {error}."
        except TimeoutError as error:
            problem = f"gave no answer within {error} s."
        except (EOFError, ConnectionError):
            problem = f"returned no result: {self._session.reason_of_end()}"
        except (OSError, TypeError, ValueError, LookupError, RecursionError):
            problem = "gave an answer that psm_sim did not ask for."
        finally:
            self._calls.clear()
        self._close()
        raise PluginError(f"Policy {self.policy}: {method}() {problem}")

    def _exchange(self, calls: list[tuple[Any, ...]]) -> Any:
        """Return the result of the last call."""
        channel = self._session.channel
        limit_s = min(time_limit_s(calls[-1][0]) + LATE_S, self._left_s)
        self._number += 1
        begin_s = time.monotonic()
        channel.send_bytes(json.dumps([self._number, calls]).encode())
        if not channel.poll(limit_s):
            raise TimeoutError(f"{limit_s:g}")
        self._left_s = max(0.0, self._left_s - (time.monotonic() - begin_s))
        number, error, result = json.loads(channel.recv_bytes(MAX_ANSWER_BYTES))
        if number != self._number:
            raise ValueError
        if error is not None:
            raise PluginError(str(error))
        return result


def serve_policy(channel: Connection, spec: str) -> None:
    """Answer the questions in *channel* with the policy *spec* until the channel is closed."""
    policy: Any = None
    with suppress(EOFError, OSError), note_opened_files():
        while True:
            number, calls = json.loads(channel.recv_bytes())
            method = calls[-1][0]
            try:
                with user_code_call(f"Policy {spec} failed in {method}()", limit_s=time_limit_s(method)):
                    policy = _CREATE[method](spec) if method in _CREATE else policy
                    *_, result = [_call(policy, *call) for call in calls]
                    answer = json.dumps([number, None, result])
            except InputError as error:
                answer = json.dumps([number, str(error), None])
            channel.send_bytes(answer.encode())


def _read_facts(facts: Any) -> _Facts:
    service = facts["service"]
    return _Facts(frozenset(facts["hooks"]), None if service is None else ServicePeriod(*service))


def _read_digests(files: Any) -> dict[str, str]:
    return {str(path): str(digest) for path, digest in dict(files).items()}


def _read_rest(values: Any) -> Rest:
    return checked_rest(Rest(*values))


def _ignore(_: Any) -> None:
    """Discard the answer to a call without a result."""


def _call(policy: Policy, method: str, *arguments: Any) -> Any:
    """Call a method of the policy with arguments from JSON, and return its result for JSON."""
    match method, *arguments:
        case ["open"]:
            return {"hooks": [hook for hook in _HOOKS if policy.wants(hook)], "service": policy.service}
        case ["start", power, dtim, beacon_s]:
            describe_radio(policy, RadioPower(*power), Dtim(*dtim))
            policy.start(beacon_s)
        case ["rest", now_s, since_uplink_s, poll]:
            rest = policy.rest(now_s, since_uplink_s, None if poll is None else Poll(*poll))
            return rest.awake_s, rest.beacons, rest.repeat
        case ["uplink", now_s]:
            policy.uplink(now_s)
        case ["sent", now_s, frame]:
            policy.sent(now_s, Frame(*frame))
        case ["received", now_s, frame]:
            policy.received(now_s, Frame(*frame))
        case ["interrupted", poll]:
            policy.interrupted(Poll(*poll))
        case ["finish"]:
            policy.finish()
            return policy.report()
        case ["files"]:
            return opened_files()
    return None


def _pack(poll: Poll | None) -> tuple[Any, ...] | None:
    if poll is None:
        return None
    return poll.slept_ms, poll.buffered_bytes, poll.buffered_frames
