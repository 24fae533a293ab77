"""Control of the price of delay by a target for the estimated delay."""

from __future__ import annotations

from math import exp, inf, sqrt

PAUSE_S = 0.3
"""A page ends if no connection waits and no useful frame follows within this time, in seconds.

Neither 0.1 s nor 1 s changes the energy or the delay of ``ucb`` and ``modern`` with a target
(``benchmarks/anticipate_constants.py``).
"""
MIN_LOAD_S = 0.02
"""Shortest page time without power saving that is assumed, in seconds.

This limit keeps the relative delay of a page of a single packet finite. Without it, the results on ``ucb``
and ``modern`` are the same. With 0.1 s, the delay of ``ucb`` is 22 % longer
(``benchmarks/anticipate_constants.py``).
"""
GAIN = 0.2
"""Change of the logarithm of the price by a page without delay.

A larger gain meets the target sooner. A smaller gain varies the price less and saves energy. With half the
gain, ``modern`` needs 0.8 % less energy (``benchmarks/anticipate_constants.py``).
"""
MIN_PRICE, MAX_PRICE = 0.07, 140.0
"""Range of the price. It has no effect on ``ucb`` and ``modern`` (``benchmarks/anticipate_constants.py``)."""
EXCESS_AT_1, DELAY_AT_1_S, EXPONENT = 0.195, 0.062, 0.625
"""Fit to pages of ``ucb`` (seeds 1 and 2) at constant prices, which gives the price at the start.

The excess slowdown and the delay per page are about proportional to ``price**(-1 / EXPONENT)``.
"""


class DelayControl:
    """Integral control of the price of delay.

    A driver does not see pages. A period of activity counts as a page. It begins with a request while no
    connection waits, and ends with the last useful frame before a pause. Each wake-up adds the longest of the
    estimated waits of its frames, divided by the square root of the number of waiting connections, because
    parallel connections share a delay. After each page, the logarithm of the price changes in proportion to
    the excess slowdown (or delay) of the page minus its target.

    Parameters
    ----------
    slowdown : float, optional
        Target of the mean slowdown, above 1.
    delay_s : float
        Target of the mean delay added to a page, in seconds. Used if *slowdown* is None.

    Attributes
    ----------
    price : float
        Current price.
    pages : int
        Number of periods of activity that have ended.
    excess : float
        Sum over these periods of the estimated slowdown minus 1; with *delay_s*, of the estimated delay in
        seconds.
    """

    def __init__(self, slowdown: float | None, delay_s: float) -> None:
        self._is_relative = slowdown is not None
        self._target = delay_s if slowdown is None else slowdown - 1
        at_1 = EXCESS_AT_1 if self._is_relative else DELAY_AT_1_S
        self.price = self._start = (at_1 / self._target) ** EXPONENT
        self.pages, self.excess = 0, 0.0
        self._begin_s, self._last_s, self._added_s = -inf, -inf, 0.0
        self._wait_s, self._connections = 0.0, 1

    def frame(self, now_s: float, *, waited: bool, waits: bool) -> None:
        """Handle a useful frame.

        Parameters
        ----------
        now_s : float
            Time at which the frame is sent or received, in seconds.
        waited, waits : bool
            Whether a connection waits for a reply before and after the frame.
        """
        if waited or now_s - self._last_s <= PAUSE_S:
            self._last_s = now_s
        elif waits:
            if self._begin_s > -inf:
                self._end_page()
            self._begin_s = self._last_s = now_s

    def arrived(self, wait_s: float, connections: int) -> None:
        """Handle a reply that was buffered for *wait_s*, in seconds.

        *connections* is the number of connections that still wait for a reply.
        """
        self._wait_s, self._connections = max(self._wait_s, wait_s), max(1, connections)

    def rests(self) -> None:
        """Add the delay of the last wake-up, after all frames of the wake-up have been received."""
        self._added_s += self._wait_s / sqrt(self._connections)
        self._wait_s = 0.0

    def _end_page(self) -> None:
        took_s, added_s = self._last_s - self._begin_s, self._added_s
        # At least a third of the page time is used, because the estimated delay may exceed the page time.
        load_s = max(took_s - added_s, took_s / 3, MIN_LOAD_S)
        self.excess += added_s / load_s if self._is_relative else added_s
        self.pages += 1
        self._added_s = 0.0
        logarithm = GAIN * (self.excess / self._target - self.pages)
        price = self._start * exp(min(logarithm, 50.0))
        self.price = min(max(price, MIN_PRICE), MAX_PRICE)
