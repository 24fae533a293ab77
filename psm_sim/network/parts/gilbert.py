"""Gilbert model of frame losses (independent or in runs), and a source of random numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

_DRAWN_AT_ONCE = 1024  # a call for each number costs 27 times as much


def uniform_numbers(random: np.random.Generator) -> Iterator[float]:
    """Yield random numbers from 0 to 1."""
    while True:
        yield from reversed(random.random(_DRAWN_AT_ONCE).tolist())


class GilbertLosses:
    """Losses of consecutive frames, independent or in runs of geometric length (Gilbert 1960).

    Each frame uses one random number. The first frame, and the first one after :meth:`restart`, is lost with
    the probability *loss*.

    Parameters
    ----------
    draw
        Returns a random number from 0 to 1.
    loss
        Share of the frames that are lost.
    loss_run : float or None
        Mean number of consecutive lost frames; None for independent losses.
    """

    def __init__(self, draw: Callable[[], float], loss: float, loss_run: float | None) -> None:
        self._draw, self._loss = draw, loss
        self._after_receipt = self._after_loss = self._next = loss
        if loss_run is not None and loss:
            self._after_receipt, self._after_loss = loss / (1 - loss) / loss_run, 1 - 1 / loss_run

    def restart(self) -> None:
        """Forget whether the last frame was lost."""
        self._next = self._loss

    def lost(self) -> bool:
        """Return whether the next frame is lost."""
        lost = self._draw() < self._next
        self._next = self._after_loss if lost else self._after_receipt
        return lost
