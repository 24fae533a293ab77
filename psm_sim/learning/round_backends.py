"""Rounds of Learn-alpha: by calls of NumPy, or compiled by Numba where that is asked for."""

from __future__ import annotations

import math

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.learning.fixed_share_bank import FixedShareBank
from psm_sim.learning.lookahead import Lookahead
from psm_sim.learning.numba_kernel import compile_kernel
from psm_sim.learning.numpy_backend import MIN_GAIN, NumpyBackend, make_numpy_backend
from psm_sim.learning.posterior import LogPosterior

CHOICES = ("no", "auto", "yes")
"""Values of ``compiled``: NumPy; Numba after :data:`NUMBA_AFTER_ROUNDS` rounds if available; Numba."""
NUMBA_AFTER_ROUNDS = 100_000
"""Rounds after which ``auto`` imports Numba and compiles."""


class NumbaBackend(NumpyBackend):
    """Rounds of one compiled call each, on the same arrays, none of whose levels is kept as logarithms.

    The posterior's logarithms wait for :meth:`settle`, for so few rounds that no likelihood underflows.
    """

    def __init__(self, levels: FixedShareBank, top: LogPosterior, means: FloatArray) -> None:
        super().__init__(levels, top, means)
        self._gains: FloatArray = np.ones_like(levels.rates)
        self._start: FloatArray = top.weights.copy()
        self._scratch: FloatArray = np.empty_like(levels.rates)
        self._most = max(1, int(MIN_GAIN / math.log(levels.least_mixture)))
        self._waiting = 0

    def learn(self, relative: FloatArray) -> float:
        """Learn one round, as by calls of NumPy within rounding errors."""
        levels, rate_weights = self._levels, self._top.weights
        mine = self._start, self._gains, rate_weights, self._scratch, self._means
        gain = compile_kernel()(relative, levels.weights, levels.keep, levels.added, *mine)
        self._waiting += 1
        if self._waiting == self._most:
            self.flush()
        return gain

    def flush(self) -> None:
        """Add the logarithms of what the rates have gained; weights then move by rounding errors."""
        if self._waiting:
            self._top.restore(self._top.log_weights + np.log(self._gains))
            self.begin()

    def begin(self) -> None:
        """Go on from levels and posterior as they stand."""
        super().begin()
        self._start[:] = self._top.weights
        self._gains[:] = 1.0
        self._waiting = 0

    def fast_forward(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Go on from there; the levels that it began from were scaled."""
        self.flush()
        super().fast_forward(log_evidence, weights)


class AutoBackend(NumpyBackend):
    """Rounds by calls of NumPy, and compiled after :data:`NUMBA_AFTER_ROUNDS` of them, if that can be."""

    def __init__(self, levels: FixedShareBank, top: LogPosterior, means: FloatArray) -> None:
        super().__init__(levels, top, means)
        self._rounds, self._now = 0, make_numpy_backend(levels, top, means)

    @property
    def total(self) -> float:
        """Pass it on."""
        return self._now.total

    def learn(self, relative: FloatArray) -> float:
        """Learn one round, in the present way."""
        if self._rounds == NUMBA_AFTER_ROUNDS and self._levels.is_plain and not numba_error():
            self._now.flush()
            self._now = NumbaBackend(self._levels, self._top, self._means)
        self._rounds += 1
        return self._now.learn(relative)

    def flush(self) -> None:
        """Pass it on."""
        self._now.flush()

    def rate_weights(self) -> FloatArray:
        """Pass it on."""
        return self._now.rate_weights()

    def begin(self) -> None:
        """Pass it on."""
        self._now.begin()

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Pass it on."""
        return self._now.lookahead(losses)

    def fast_forward(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Pass it on."""
        self._now.fast_forward(log_evidence, weights)


def numba_error() -> str:
    """Return why Numba cannot be used; empty if it can be, and then the round is compiled."""
    try:
        compile_kernel()
    except ImportError as error:
        return str(error)
    return ""


def check_numba(owner: str) -> None:
    """Refuse ``compiled=yes`` of *owner*, such as ``policy lpsm``, where Numba cannot be used."""
    if why := numba_error():
        raise InputError(
            f"{owner}: compiled is 'yes', but Numba cannot be used ({why}); pip install 'psm_sim[fast]', "
            "or give auto or no."
        )


def make_backend(
    wanted: object, levels: FixedShareBank, top: LogPosterior, means: FloatArray
) -> NumpyBackend:
    """Return rounds learnt as *wanted*.

    Parameters
    ----------
    wanted : str
        One of :data:`CHOICES`.
    levels, top, means : as for :class:`NumpyBackend`

    Raises
    ------
    InputError
        If it is no choice, or is ``yes`` and Numba cannot be used, or not for these levels.
    """
    told = f"learn-alpha: compiled is {wanted!r}"
    if wanted not in CHOICES:
        raise InputError(f"{told}; expected {', '.join(CHOICES[:-1])} or {CHOICES[-1]}.")
    if wanted != "yes":
        return (AutoBackend if wanted == "auto" else make_numpy_backend)(levels, top, means)
    if not levels.is_plain:
        raise InputError(
            f"{told}, but there is one expert, or a switching rate so near 0 or 1 that its weights are kept "
            "as logarithms; give auto or no."
        )
    check_numba("learn-alpha")
    return NumbaBackend(levels, top, means)
