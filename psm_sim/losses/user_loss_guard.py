"""Guard of user-defined losses, and a trial of any loss before a run."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.user_code_guards import (
    Guard,
    WrongResultError,
    component_name,
    copy_component,
    numbers,
)
from psm_sim.losses.base import Loss
from psm_sim.losses.formula_loss import FormulaLoss
from psm_sim.poll import Poll

MAX_LOSS = 1e100
"""Maximum loss, in nats. The sum of such losses over any run is finite."""


class GuardedLoss(Guard):
    """Guard of a loss, which checks each array and passes read-only candidate times."""

    def __init__(self, loss: Loss) -> None:
        kind = "Loss formula" if isinstance(loss, FormulaLoss) else "Loss"
        name = repr(loss.formula) if isinstance(loss, FormulaLoss) else component_name(loss)
        super().__init__(loss, f"{kind} {name}", {"__call__": checked_losses, "report": numbers})

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the checked losses."""
        times_ms = times_ms.view()
        times_ms.flags.writeable = False
        return cast(FloatArray, self.call("__call__", poll, times_ms))

    def idle(self, times_ms: FloatArray) -> None:
        """Return None, so that the losses of each doze are checked."""


def guarded_loss(loss: Loss) -> Loss:
    """Return a built-in loss unchanged, and a guard of a user-defined loss."""
    is_built_in = type(loss).__module__.startswith("psm_sim.losses.")
    return loss if is_built_in else cast(Loss, GuardedLoss(loss))


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
        If the loss fails, or does not return an array of shape (n,) of finite numbers >= 0. The message names
        the loss, the value and the poll.
    """
    probe = GuardedLoss(copy_component(loss, f"Loss {component_name(loss)}"))
    probe.start()
    for slept_ms in sorted({float(times_ms[0]), float(times_ms[-1])}):
        for frames in (0, 1, 256):
            offsets = (np.arange(frames) + 0.5) * (slept_ms / max(frames, 1))
            poll = Poll(slept_ms, frames * 1500, frames, tuple((float(each), 1500) for each in offsets))
            with np.errstate(all="ignore"):
                probe(poll, times_ms)
            probe.observe(poll)
    probe.report()


def checked_losses(losses: Any, poll: Poll, times_ms: FloatArray) -> FloatArray:
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
    if losses.size and MAX_LOSS < float(losses.max()) < np.inf:
        raise WrongResultError(f"{losses.max():g}, more than {MAX_LOSS:g} nats{expected}")
    invalid = np.flatnonzero(~(np.isfinite(losses) & (losses >= 0)))
    if invalid.size:
        raise WrongResultError(f"{losses[invalid[0]]} for {times_ms[invalid[0]]:g} ms{expected}")
    return losses
