"""Check of a loss before a run, so that a bad one does not stop the run midway."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import numpy as np

from psm_sim.arrays import Floats
from psm_sim.errors import PluginError, reason
from psm_sim.losses.base import Loss
from psm_sim.losses.formula import Formula
from psm_sim.poll import Poll

_EXPECTED = "expected an array of one finite number of 0 or more for each candidate time"
_FRAME_BYTES = 1500


def check_loss(loss: Loss, times_ms: Floats) -> None:
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
    try:
        probe = copy.deepcopy(loss)
    except Exception as error:
        raise PluginError(f"{label} cannot be copied: {reason(error)}; expected a loss that can.") from error
    _tell(label, probe.start)
    for poll in _polls(times_ms):
        fault = _fault(probe, poll, times_ms)
        if fault:
            held = f"{poll.held_bytes} bytes held after {poll.slept_ms:g} ms asleep"
            raise PluginError(f"{label} {fault} with {held}; {_EXPECTED}.")
        _tell(label, probe.observe, poll)


def _tell(label: str, hook: Callable[..., object], *arguments: Poll) -> None:
    try:
        hook(*arguments)
    except Exception as error:
        raise PluginError(f"{label} failed in {hook.__name__}(): {reason(error)}; mend the loss.") from error


def _polls(times_ms: Floats) -> Iterator[Poll]:
    for slept_ms in sorted({float(times_ms[0]), float(times_ms[-1])}):
        for frames in (0, 1, 256):
            offsets = (np.arange(frames) + 0.5) * (slept_ms / max(frames, 1))
            arrivals = tuple((float(offset), _FRAME_BYTES) for offset in offsets)
            yield Poll(slept_ms, frames * _FRAME_BYTES, frames, arrivals)


def _fault(loss: Loss, poll: Poll, times_ms: Floats) -> str:
    given = times_ms.copy()
    try:
        with np.errstate(all="ignore"):
            losses: object = loss(poll, given)
    except Exception as error:
        return f"failed ({reason(error)})"
    if not np.array_equal(given, times_ms):
        return "changed the candidate times it was given"
    return fault_of(losses, times_ms)


def fault_of(losses: object, times_ms: Floats) -> str:
    """Say what is wrong with the *losses* returned for the candidates *times_ms*; nothing if all is well."""
    if not isinstance(losses, np.ndarray) or losses.dtype.kind not in "fiu":
        kind = f"an array of {losses.dtype}" if isinstance(losses, np.ndarray) else type(losses).__name__
        return f"returned {kind}"
    if losses.shape != times_ms.shape:
        return f"returned shape {losses.shape} for {times_ms.size} candidate times"
    wrong = np.flatnonzero(~(np.isfinite(losses) & (losses >= 0)))
    return f"returned {losses[wrong[0]]} for {times_ms[wrong[0]]:g} ms" if wrong.size else ""


def _label(loss: Loss) -> str:
    if isinstance(loss, Formula):
        return f"Loss formula {loss.formula!r}"
    return f"Loss {getattr(loss, 'name', '') or type(loss).__name__}"
