"""Validation of a loss before a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import CommandTerminated, PluginError, describe_error
from psm_sim.common.user_code_guards import component_name, copy_component, user_code_call
from psm_sim.losses.base import Loss
from psm_sim.losses.formula_loss import FormulaLoss
from psm_sim.losses.loss_value_checks import EXPECTED, describe_loss_error
from psm_sim.losses.user_loss_guard import describe_poll
from psm_sim.poll import Poll

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
        fault = _describe_fault(probe, poll, times_ms)
        if fault:
            raise PluginError(f"{label} {fault} with {describe_poll(poll)}; {EXPECTED}.")
        _call_hook(label, probe.observe, poll)


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
    try:
        with np.errstate(all="ignore"):
            losses: object = loss(poll, candidates_ms)
    except (KeyboardInterrupt, CommandTerminated):
        raise
    except BaseException as error:
        return f"failed ({describe_error(error)})"
    if not np.array_equal(candidates_ms, times_ms):
        return "modified the candidate times"
    return describe_loss_error(losses, times_ms)


def _describe_loss(loss: Loss) -> str:
    if isinstance(loss, FormulaLoss):
        return f"Loss formula {loss.formula!r}"
    return f"Loss {component_name(loss)}"
