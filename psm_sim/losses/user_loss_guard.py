"""Guard of a user's own loss: its mistakes, at any time of a run, become errors that name it."""

from __future__ import annotations

from psm_sim.array_types import FloatArray
from psm_sim.errors import PluginError
from psm_sim.losses.base import Loss
from psm_sim.losses.loss_validation import EXPECTED, describe_loss_error
from psm_sim.poll import Poll
from psm_sim.user_code import calling, component_name, to_plain


class GuardedLoss(Loss):
    """Passes everything on to *loss*, and checks each of its answers; the times it is given are read-only.

    Raises
    ------
    PluginError
        From any call, if the loss fails in it, or its answer is no array of losses.
    """

    def __init__(self, loss: Loss) -> None:
        self.loss, self.name = loss, component_name(loss)

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Ask the loss, and check its answer."""
        times_ms = times_ms.view()
        times_ms.flags.writeable = False
        with calling(f"Loss {self.name} failed with {describe_poll(poll)}"):
            losses = self.loss(poll, times_ms)
            fault = describe_loss_error(losses, times_ms)
        if fault:
            raise PluginError(f"Loss {self.name} {fault} with {describe_poll(poll)}; {EXPECTED}.")
        return losses

    def start(self) -> None:
        """Begin a run."""
        with calling(f"Loss {self.name} failed in start()"):
            self.loss.start()

    def report(self) -> dict[str, float]:
        """Return what the loss measured."""
        with calling(f"Loss {self.name} failed in report()"):
            return to_plain(self.loss.report())

    def observe(self, poll: Poll) -> None:
        """Tell the loss of a poll."""
        with calling(f"Loss {self.name} failed in observe() with {describe_poll(poll)}"):
            self.loss.observe(poll)


def guarded_loss(loss: Loss) -> Loss:
    """Return a built-in loss as it is, a user's own one guarded."""
    own = type(loss).__module__.startswith("psm_sim.losses.")
    return loss if own else GuardedLoss(loss)


def describe_poll(poll: Poll) -> str:
    """Say in words what a poll found, for errors."""
    return f"{poll.buffered_bytes} bytes held after {poll.slept_ms:g} ms asleep"
