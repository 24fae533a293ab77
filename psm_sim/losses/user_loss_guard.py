"""Guard of user-defined losses, and a trial of any loss before a run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import PluginError
from psm_sim.common.user_code_guards import (
    Guard,
    WrongResultError,
    component_name,
    copy_component,
    numbers,
    one_line_repr,
)
from psm_sim.losses.base import Loss
from psm_sim.losses.formula_loss import FormulaLoss
from psm_sim.poll import Context, Poll

MAX_LOSS = 1e100
"""Maximum loss, in nats. The sum of such losses over any run is finite."""

IDLE_DOZES_MS = np.geomspace(1.0, 1e6, 20)
"""Dozes without buffered frames for which ``idle()`` is compared with calls, shape (20,), in ms."""


class GuardedLoss(Guard):
    """Guard of a loss, which checks each array and passes read-only candidate times."""

    def __init__(self, loss: Loss) -> None:
        kind = "Loss formula" if isinstance(loss, FormulaLoss) else "Loss"
        name = repr(loss.formula) if isinstance(loss, FormulaLoss) else component_name(loss)
        checks: dict[str, Callable[..., Any]] = {
            "__call__": checked_losses,
            "idle": self._checked_idle,
            "report": numbers,
        }
        super().__init__(loss, f"{kind} {name}", checks)
        if type(loss).observe is Loss.observe:
            self.__dict__["observe"] = loss.observe  # runs every round, and does nothing

    def __call__(self, poll: Poll, times_ms: FloatArray, *more: Context) -> FloatArray:
        """Return the checked losses."""
        return cast(FloatArray, self.call("__call__", poll, _read_only(times_ms), *more))

    def idle(self, times_ms: FloatArray) -> FloatArray | None:
        """Return the result of ``idle()``. An array must equal the results of calls."""
        return cast("FloatArray | None", self.call("idle", _read_only(times_ms)))

    def _checked_idle(self, losses: Any, times_ms: FloatArray) -> FloatArray | None:
        if losses is None:
            return None
        for slept_ms in IDLE_DOZES_MS.tolist():
            expected = self(Poll(slept_ms), times_ms)
            if not np.array_equal(losses, expected):
                raise WrongResultError(
                    f"{one_line_repr(losses)}; expected None, because a call with {Poll(slept_ms)} "
                    f"returns {one_line_repr(expected)}"
                )
        return checked_losses(losses, Poll(slept_ms), times_ms)


def _read_only(times_ms: FloatArray) -> FloatArray:
    view = times_ms.view()
    view.flags.writeable = False
    return view


def guarded_loss(loss: Loss) -> Loss:
    """Return a built-in loss unchanged, and a guard of a user-defined loss."""
    is_built_in = type(loss).__module__.startswith("psm_sim.losses.")
    return loss if is_built_in else cast(Loss, GuardedLoss(loss))


def check_loss(loss: Loss, times_ms: FloatArray) -> None:
    """Test a loss with no, few and many buffered frames, after a short and a long doze.

    The test uses a copy, so the state of *loss* is unchanged. It also calls ``observe()`` and ``report()``.

    Raises
    ------
    PluginError
        If ``per`` is invalid, or the loss fails or does not return an array of shape (n,) of finite numbers
        >= 0. The message names the loss, the value and the poll.
    """
    if loss.per not in ("doze", "page"):
        raise PluginError(
            f"Loss {component_name(loss)}: per must be 'doze' or 'page', got {one_line_repr(loss.per)}."
        )
    probe = GuardedLoss(copy_component(loss, f"Loss {component_name(loss)}"))
    probe.start()
    for slept_ms in sorted({float(times_ms[0]), float(times_ms[-1])}):
        for frames in (0, 1, 256):
            offsets = (np.arange(frames) + 0.5) * (slept_ms / max(frames, 1))
            poll = Poll(slept_ms, frames * 1500, frames, tuple((float(offset), 1500) for offset in offsets))
            with np.errstate(all="ignore"):
                probe(poll, times_ms)
            probe.observe(poll)
    probe.report()


def takes_context(loss: Loss) -> bool:
    """Return whether a call of *loss* has an argument ``context``."""
    return "context" in inspect.signature(type(loss).__call__).parameters


def checked_losses(losses: Any, poll: Poll, times_ms: FloatArray, *context: Context) -> FloatArray:
    """Return *losses* if they are a valid result for these candidate times.

    Raises
    ------
    WrongResultError
        If they are not an array of one finite number >= 0 for each candidate time.
    """
    expected = "; expected an array with one finite number >= 0 for each candidate time"
    if not isinstance(losses, np.ndarray) or losses.dtype.kind not in "fiu":
        kind = f"an array of {losses.dtype}" if isinstance(losses, np.ndarray) else type(losses).__name__
        raise WrongResultError(f"{kind}{expected}")
    if losses.shape != times_ms.shape:
        raise WrongResultError(f"shape {losses.shape} for {times_ms.size} candidate times{expected}")
    # Two reductions take half the time of a mask, and propagate nan.
    if not (np.minimum.reduce(losses) >= 0 and np.maximum.reduce(losses) <= MAX_LOSS):
        index = ((losses >= 0) & (losses <= MAX_LOSS)).argmin()
        too_large = f", more than {MAX_LOSS:g} nats" if MAX_LOSS < losses[index] < np.inf else ""
        raise WrongResultError(f"{losses[index]} for {times_ms[index]:g} ms{too_large}{expected}")
    return losses
