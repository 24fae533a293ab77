"""Checks of user-defined losses, in a trial before a run and at every call."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import PluginError, definition_location
from psm_sim.common.user_code_guards import component_name, copy_component, report_of, user_code_call
from psm_sim.losses.base import Loss
from psm_sim.losses.formula_loss import FormulaLoss
from psm_sim.poll import Poll

EXPECTED = "expected an array with one finite number >= 0 for each candidate time"
"""Expected result of a loss, for error messages."""


MAX_LOSS = 1e100
"""Maximum loss, in nats. The sum of such losses over any run is finite."""


def describe_loss_error(losses: object, times_ms: FloatArray) -> str:
    """Describe the error in a result of a loss, or return "" if it is valid.

    Parameters
    ----------
    losses : object
        Result of the loss.
    times_ms : ndarray, shape (n,)
        Candidate polling times, in ms.
    """
    if not isinstance(losses, np.ndarray) or losses.dtype.kind not in "fiu":
        kind = f"an array of {losses.dtype}" if isinstance(losses, np.ndarray) else type(losses).__name__
        return f"returned {kind}"
    if losses.shape != times_ms.shape:
        return f"returned shape {losses.shape} for {times_ms.size} candidate times"
    if losses.size and MAX_LOSS < float(losses.max()) < np.inf:
        return f"returned {losses.max():g}, more than {MAX_LOSS:g} nats"
    invalid = np.flatnonzero(~(np.isfinite(losses) & (losses >= 0)))
    return f"returned {losses[invalid[0]]} for {times_ms[invalid[0]]:g} ms" if invalid.size else ""


class GuardedLoss(Loss):
    """Wrapper that forwards every call to *loss* and checks the returned arrays.

    The loss receives read-only candidate times.

    Raises
    ------
    PluginError
        From any call, if the loss fails or returns an invalid array.
    """

    def __init__(self, loss: Loss) -> None:
        self.loss, self.name = loss, component_name(loss)

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Call the loss and check its result."""
        times_ms = times_ms.view()
        times_ms.flags.writeable = False
        with user_code_call(f"Loss {self.name} failed with {describe_poll(poll)}"):
            losses = self.loss(poll, times_ms)
            fault = describe_loss_error(losses, times_ms)
        if fault:
            raise _wrong_array_error(f"Loss {self.name}", self.loss, fault, poll)
        return losses

    def start(self) -> None:
        """Forward the start of a run."""
        with user_code_call(f"Loss {self.name} failed in start()"):
            self.loss.start()

    def report(self) -> dict[str, float]:
        """Return the measurements of the loss."""
        return report_of(self.loss.report, f"Loss {self.name}")

    def observe(self, poll: Poll) -> None:
        """Forward the end of a doze."""
        with user_code_call(f"Loss {self.name} failed in observe() with {describe_poll(poll)}"):
            self.loss.observe(poll)


def guarded_loss(loss: Loss) -> Loss:
    """Return a built-in loss unchanged, and a user-defined loss wrapped."""
    is_built_in = type(loss).__module__.startswith("psm_sim.losses.")
    return loss if is_built_in else GuardedLoss(loss)


def describe_poll(poll: Poll) -> str:
    """Describe the observation of a poll for error messages."""
    return f"{poll.buffered_bytes} bytes buffered after {poll.slept_ms:g} ms asleep"


def _wrong_array_error(label: str, loss: Loss, fault: str, poll: Poll) -> PluginError:
    location = definition_location(type(loss).__call__)
    return PluginError(f"{label} {fault} with {describe_poll(poll)}; {EXPECTED}{location}.")


_FRAME_BYTES = 1500
"""Size of the frames in the test polls, in bytes."""


def check_loss(loss: Loss, times_ms: FloatArray) -> None:
    """Test a loss with no, few and many buffered frames, after a short and a long doze.

    The test uses a copy, so a loss with state is unchanged. The copy also observes each poll, as in a run.

    Parameters
    ----------
    loss : Loss
        Loss to test.
    times_ms : ndarray, shape (n,)
        Candidate polling times of the run, in ms.

    Raises
    ------
    PluginError
        If the loss fails, changes *times_ms*, or does not return an array of shape (n,) of finite numbers >=
        0. The message names the loss, the value and the poll.
    """
    label = _describe_loss(loss)
    probe = copy_component(loss, label)
    _call_hook(label, probe.start)
    for poll in _test_polls(times_ms):
        with user_code_call(f"{label} failed with {describe_poll(poll)}"):
            fault = _describe_fault(probe, poll, times_ms)
        if fault:
            raise _wrong_array_error(label, loss, fault, poll)
        _call_hook(label, probe.observe, poll)
    report_of(probe.report, label)


def _call_hook(label: str, hook: Callable[..., object], *arguments: Poll) -> None:
    with user_code_call(f"{label} failed in {hook.__name__}()"):
        hook(*arguments)


def _test_polls(times_ms: FloatArray) -> Iterator[Poll]:
    for slept_ms in sorted({float(times_ms[0]), float(times_ms[-1])}):
        for frames in (0, 1, 256):
            offsets = (np.arange(frames) + 0.5) * (slept_ms / max(frames, 1))
            arrivals = tuple((float(offset), _FRAME_BYTES) for offset in offsets)
            yield Poll(slept_ms, frames * _FRAME_BYTES, frames, arrivals)


def _describe_fault(loss: Loss, poll: Poll, times_ms: FloatArray) -> str:
    candidates_ms = times_ms.copy()
    with np.errstate(all="ignore"):
        losses: object = loss(poll, candidates_ms)
    if not np.array_equal(candidates_ms, times_ms):
        return "modified the candidate times"
    return describe_loss_error(losses, times_ms)


def _describe_loss(loss: Loss) -> str:
    if isinstance(loss, FormulaLoss):
        return f"Loss formula {loss.formula!r}"
    return f"Loss {component_name(loss)}"
