"""Check of a loss before a run, so that a bad one does not stop the run midway."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.errors import CommandTerminated, PluginError, describe_error
from psm_sim.losses.base import Loss
from psm_sim.losses.formula import FormulaLoss
from psm_sim.losses.loss_validation import EXPECTED, describe_loss_error
from psm_sim.losses.user_loss_guard import describe_poll
from psm_sim.poll import Poll
from psm_sim.user_code import calling, component_name, copy_component

_FRAME_BYTES = 1500


def check_loss(loss: Loss, times_ms: FloatArray) -> None:
    """Probe *loss* with nothing, little and much held, after a short and a long doze.

    The probes are made on a copy, so a loss that keeps state is left as it was. The copy is told of each
    probe as in a run, so that a loss that adapts is tried as well. *times_ms* are the candidates that the
    run will ask about, shape (n,), in ms.

    Raises
    ------
    PluginError
        If it raises, changes *times_ms*, or returns anything but an array of shape (n,) of finite
        numbers of 0 or more; the loss, the value and the poll are named.
    """
    label = _label(loss)
    probe = copy_component(loss, label)
    _tell(label, probe.start)
    for poll in _polls(times_ms):
        fault = _fault(probe, poll, times_ms)
        if fault:
            raise PluginError(f"{label} {fault} with {describe_poll(poll)}; {EXPECTED}.")
        _tell(label, probe.observe, poll)


def _tell(label: str, hook: Callable[..., object], *arguments: Poll) -> None:
    with calling(f"{label} failed in {hook.__name__}()"):
        hook(*arguments)


def _polls(times_ms: FloatArray) -> Iterator[Poll]:
    for slept_ms in sorted({float(times_ms[0]), float(times_ms[-1])}):
        for frames in (0, 1, 256):
            offsets = (np.arange(frames) + 0.5) * (slept_ms / max(frames, 1))
            arrivals = tuple((float(offset), _FRAME_BYTES) for offset in offsets)
            yield Poll(slept_ms, frames * _FRAME_BYTES, frames, arrivals)


def _fault(loss: Loss, poll: Poll, times_ms: FloatArray) -> str:
    given = times_ms.copy()
    try:
        with np.errstate(all="ignore"):
            losses: object = loss(poll, given)
    except (KeyboardInterrupt, CommandTerminated):
        raise
    except BaseException as error:
        return f"failed ({describe_error(error)})"
    if not np.array_equal(given, times_ms):
        return "changed the candidate times it was given"
    return describe_loss_error(losses, times_ms)


def _label(loss: Loss) -> str:
    if isinstance(loss, FormulaLoss):
        return f"Loss formula {loss.formula!r}"
    return f"Loss {component_name(loss)}"
