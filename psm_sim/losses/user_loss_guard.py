"""Wrapper that reports errors of a user-defined loss by name."""

from __future__ import annotations

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import PluginError
from psm_sim.common.user_code_guards import component_name, to_plain, user_code_call
from psm_sim.losses.base import Loss
from psm_sim.losses.loss_value_checks import EXPECTED, describe_loss_error
from psm_sim.poll import Poll


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
            raise PluginError(f"Loss {self.name} {fault} with {describe_poll(poll)}; {EXPECTED}.")
        return losses

    def start(self) -> None:
        """Forward the start of a run."""
        with user_code_call(f"Loss {self.name} failed in start()"):
            self.loss.start()

    def report(self) -> dict[str, float]:
        """Return the measurements of the loss."""
        with user_code_call(f"Loss {self.name} failed in report()"):
            return to_plain(self.loss.report())

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
