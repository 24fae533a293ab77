"""Compiled backends of Learn-alpha, and the choice of a backend."""

from __future__ import annotations

import math

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning.fixed_share_bank import FixedShareBank
from psm_sim.learning.log_posterior import LogPosterior
from psm_sim.learning.numba_kernel import compile_kernel
from psm_sim.learning.numpy_backend import MIN_GAIN, NumpyBackend, make_numpy_backend
from psm_sim.learning.repeated_loss_predictions import Lookahead

CHOICES = ("no", "auto", "yes")
"""Values of ``compiled``.

``"no"`` selects NumPy, and ``"yes"`` selects Numba. ``"auto"`` selects Numba after :data:`NUMBA_AFTER_ROUNDS`
rounds, if it is available.
"""
NUMBA_AFTER_ROUNDS = 100_000
"""Number of rounds after which ``"auto"`` imports Numba and compiles."""


class NumbaBackend(NumpyBackend):
    """Backend that learns a round with one compiled call.

    It works on the same arrays as :class:`NumpyBackend`, and requires a bank without log-domain rates.
    :meth:`flush` updates the log-weights, after so few rounds that no likelihood underflows.

    Parameters
    ----------
    bank, rate_posterior, means
        See :class:`~psm_sim.learning.numpy_backend.NumpyBackend`.
    """

    def __init__(self, bank: FixedShareBank, rate_posterior: LogPosterior, means: FloatArray) -> None:
        super().__init__(bank, rate_posterior, means)
        self._gains: FloatArray = np.ones_like(bank.rates)
        self._start: FloatArray = rate_posterior.weights.copy()
        self._scratch: FloatArray = np.empty_like(bank.rates)
        self._max_rounds = max(1, int(MIN_GAIN / math.log(bank.min_mixture)))
        self._unflushed_rounds = 0

    def learn(self, relative: FloatArray) -> float:
        """Learn one round. Equivalent to the NumPy backend up to rounding."""
        bank, rate_weights = self._bank, self._rate_posterior.weights
        own_arrays = self._start, self._gains, rate_weights, self._scratch, self._means
        log_likelihood = compile_kernel()(relative, bank.weights, bank.keep, bank.added, *own_arrays)
        self._unflushed_rounds += 1
        if self._unflushed_rounds == self._max_rounds:
            self.flush()
        return log_likelihood

    def flush(self) -> None:
        """Add the logarithms of the accumulated evidence. Weights change by rounding errors."""
        if self._unflushed_rounds:
            self._rate_posterior.restore(self._rate_posterior.log_weights + np.log(self._gains))
            self.reload()

    def reload(self) -> None:
        """Continue from the current bank and posterior."""
        super().reload()
        self._start[:] = self._rate_posterior.weights
        self._gains[:] = 1.0
        self._unflushed_rounds = 0

    def fast_forward(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Continue after several identical rounds, from normalised weights.

        Arguments as for :meth:`NumpyBackend.fast_forward`.
        """
        self.flush()
        super().fast_forward(log_evidence, weights)


class AutoBackend(NumpyBackend):
    """Backend that switches to Numba after :data:`NUMBA_AFTER_ROUNDS` rounds, if available.

    Parameters
    ----------
    bank, rate_posterior, means
        See :class:`~psm_sim.learning.numpy_backend.NumpyBackend`.
    """

    def __init__(self, bank: FixedShareBank, rate_posterior: LogPosterior, means: FloatArray) -> None:
        super().__init__(bank, rate_posterior, means)
        self._rounds, self._active = 0, make_numpy_backend(bank, rate_posterior, means)

    @property
    def total(self) -> float:
        """Sum of the means of the active backend."""
        return self._active.total

    def learn(self, relative: FloatArray) -> float:
        """Learn one round with the active backend."""
        if self._rounds == NUMBA_AFTER_ROUNDS and self._bank.is_linear and not numba_error():
            self._active.flush()
            self._active = NumbaBackend(self._bank, self._rate_posterior, self._means)
        self._rounds += 1
        return self._active.learn(relative)

    def flush(self) -> None:
        """Flush the active backend."""
        self._active.flush()

    def rate_weights(self) -> FloatArray:
        """Return the distribution over the rates of the active backend."""
        return self._active.rate_weights()

    def reload(self) -> None:
        """Reload the active backend."""
        self._active.reload()

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a lookahead of the active backend."""
        return self._active.lookahead(losses)

    def fast_forward(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Fast-forward the active backend."""
        self._active.fast_forward(log_evidence, weights)


def numba_error() -> str:
    """Return why Numba cannot be used, or "" if it can.

    If Numba can be used, this call compiles the kernel.
    """
    try:
        compile_kernel()
    except ImportError as error:
        return str(error)
    return ""


def check_numba(owner: str) -> None:
    """Raise an error if ``compiled=yes`` cannot be satisfied.

    Parameters
    ----------
    owner : str
        Component named in the message, such as ``"policy lpsm"``.

    Raises
    ------
    InputError
        If Numba cannot be used.
    """
    if reason := numba_error():
        raise InputError(
            f"{owner}: compiled=yes requires Numba, which cannot be used ({reason}); "
            "pip install 'psm_sim[fast]', or use auto or no."
        )


def make_backend(
    compiled: object, bank: FixedShareBank, rate_posterior: LogPosterior, means: FloatArray
) -> NumpyBackend:
    """Create the backend of Learn-alpha.

    Parameters
    ----------
    compiled : str
        One of :data:`CHOICES`.
    bank, rate_posterior, means
        See :class:`~psm_sim.learning.numpy_backend.NumpyBackend`.

    Raises
    ------
    InputError
        If *compiled* is no valid choice, or is ``"yes"`` and Numba cannot be used or does not support the
        bank.
    """
    prefix = "learn-alpha: compiled"
    if compiled not in CHOICES:
        raise InputError(f"{prefix} must be {', '.join(CHOICES[:-1])} or {CHOICES[-1]}, got {compiled!r}.")
    if compiled != "yes":
        return (AutoBackend if compiled == "auto" else make_numpy_backend)(bank, rate_posterior, means)
    if not bank.is_linear:
        raise InputError(
            f"{prefix}=yes requires two or more experts and no switching rate whose weights need logarithms, "
            "because it is too close to 0 or 1; use auto or no."
        )
    check_numba("learn-alpha")
    return NumbaBackend(bank, rate_posterior, means)
