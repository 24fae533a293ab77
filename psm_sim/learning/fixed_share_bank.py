"""Bank of Fixed-share learners, one per switching rate (thesis, eqs. 2.2 and 2.3)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.learning.repeated_loss_lookahead import Lookahead, Skip, compute_eigenmodes

_MIN_SHARE = 1e-100
"""Smallest share per expert for which plain arithmetic is safe."""
_MIN_STAY = 1e-9
"""Smallest 1 - alpha for which plain arithmetic is safe."""


class FixedShareBank:
    """Distributions p_{t,j}(i) of m Fixed-share learners over the same n experts.

    After each round, every weight is at least min(1 - alpha, alpha / (n - 1)). The best expert's likelihood
    is scaled to 1, so the mixture of a rate cannot underflow and plain arithmetic on an (n, m) array is safe.
    For two kinds of rates, this lower bound is too small: rates within 1e-9 of 1, and rates with
    alpha / (n - 1) below 1e-100. Their columns are maintained as logarithms by :class:`LogFixedShareBank`.

    Attributes
    ----------
    weights : ndarray, shape (n, m)
        One column per rate; each column sums to 1.
    rates : ndarray, shape (m,)
        Switching rates.
    keep, added : ndarray, shape (m,)
        Coefficients of eq. 2.3 of the thesis: ``keep * q + added`` is the next weight of an expert with
        posterior q.
    """

    def __init__(self, n_experts: int, rates: FloatArray) -> None:
        others = max(n_experts - 1, 1)
        self.rates = rates
        self.weights: FloatArray = np.full((n_experts, rates.size), 1 / n_experts)
        # (2.3) with posterior q: (1 - alpha) q + share (1 - q) = keep q + share, share = alpha / (n - 1).
        self.added: FloatArray = rates / others if n_experts > 1 else np.zeros_like(rates)
        self.keep: FloatArray = 1 - self.added * n_experts
        # Repeated for each expert, because adding arrays of equal shape takes half the time.
        self._shares: FloatArray = np.tile(self.added, (n_experts, 1))
        self._factor = np.empty_like(self.weights)
        self._edge = _log_domain_rates(n_experts, rates)
        self._at_edge = LogFixedShareBank(n_experts, rates[self._edge]) if self._edge.size else None
        self._likelihood: FloatArray = np.empty(n_experts)
        self._ones: FloatArray = np.ones(n_experts)
        self._mixture: FloatArray = np.empty(rates.size)
        self._log: FloatArray = np.empty(rates.size)
        self._rates_key = rates.tobytes()

    def evidence(self, relative: FloatArray) -> FloatArray:
        """Return the log mixture likelihood at each rate, shape (m,).

        Parameters
        ----------
        relative : ndarray, shape (n,)
            Log-likelihoods of the experts, whose maximum must be 0.

        Returns
        -------
        ndarray, shape (m,)
            Overwritten by the next call.
        """
        self.mixture(relative)
        if self._at_edge is not None:
            # Any positive number avoids the warning for log(0). These entries are replaced below.
            self._mixture[self._edge] = 1.0
        np.log(self._mixture, out=self._log)
        if self._at_edge is not None:
            self._log[self._edge] = self._at_edge.evidence(relative)
        return self._log

    def mixture(self, relative: FloatArray) -> FloatArray:
        """Return the mixture likelihood at each rate, shape (m,), if :attr:`is_linear`.

        Parameters
        ----------
        relative : ndarray, shape (n,)
            Log-likelihoods of the experts, whose maximum must be 0.

        Returns
        -------
        ndarray, shape (m,)
            Overwritten by :meth:`share`.
        """
        np.exp(relative, self._likelihood)
        mixture: FloatArray = self._likelihood.dot(self.weights, self._mixture)
        return mixture

    def share(self) -> None:
        """Update the weights for the round of the last :meth:`evidence` or :meth:`mixture`.

        See thesis, eq. 2.3. Call this method at most once after each call of :meth:`evidence` or
        :meth:`mixture`, because it overwrites the mixture.
        """
        # (2.3): w_ij <- (likelihood_i w_ij / mixture_j) keep_j + share_j.
        weights, factor, mixture = self.weights, self._factor, self._mixture
        # The mixture is not used again, so its array serves as scratch for keep / mixture, shape (m,).
        np.divide(self.keep, mixture, mixture)
        self._likelihood[:, None].dot(mixture[None], factor)
        np.multiply(weights, factor, weights)
        np.add(weights, self._shares, weights)
        if self._at_edge is not None:
            weights[:, self._edge] = self._at_edge.share()

    def set_weights(self, weights: FloatArray) -> FloatArray:
        """Divide each column of *weights*, shape (n, m), by its sum, and set the weights to the result.

        Return the sums, shape (m,).
        """
        totals: FloatArray = self._ones.dot(weights)
        np.divide(weights, totals, self.weights)
        return totals

    def lookahead(self, losses: FloatArray, rate_weights: FloatArray, skip: Skip) -> Lookahead | None:
        """Return a lookahead on rounds with these *losses* in nats, or None if eigenmodes do not apply."""
        modes = compute_eigenmodes(self._rates_key, losses.tobytes())
        return None if modes is None else Lookahead(modes, self.weights, rate_weights, skip)

    @property
    def is_linear(self) -> bool:
        """Whether there are several experts and no rate is in the log domain."""
        return self._at_edge is None and len(self.weights) > 1

    @property
    def min_mixture(self) -> float:
        """Lower bound of the values that :meth:`mixture` returns."""
        return float(np.minimum(self.added, 1 - self.rates).min())


class LogFixedShareBank:
    """Fixed-share learners in the log domain, slower but exact for any rate from 0 to 1 and n >= 2 experts.

    If all experts with a positive weight at a rate have infinite losses, its evidence is ``-inf`` and its
    weights do not change.
    """

    def __init__(self, n_experts: int, rates: FloatArray) -> None:
        self.log_weights: FloatArray = np.full((n_experts, rates.size), -math.log(n_experts))
        with np.errstate(divide="ignore"):
            self._log_stay = np.log1p(-rates)
            self._log_move = np.log(rates) - math.log(n_experts - 1)
        self._all_rates_zero = not rates.any()
        self._joint = self.log_weights
        self._log_evidence = np.zeros(rates.size)

    def evidence(self, relative: FloatArray) -> FloatArray:
        """Return the log mixture likelihood at each rate, shape (m,).

        See :meth:`FixedShareBank.evidence`.
        """
        self._joint = self.log_weights + relative[:, None]
        self._log_evidence = np.logaddexp.reduce(self._joint, axis=0)
        return self._log_evidence

    def share(self) -> FloatArray:
        """Update the weights and return them in the linear domain, shape (n, m)."""
        has_evidence = self._log_evidence > -np.inf
        if self._all_rates_zero and has_evidence.all():
            self.log_weights = self._joint - self._log_evidence
            return np.exp(self.log_weights)
        # Avoid -inf - (-inf) = NaN. The columns of such rates are discarded below.
        posterior = self._joint - np.where(has_evidence, self._log_evidence, 0.0)
        moved = self._log_move + _log_sum_of_others(posterior)
        shared = np.logaddexp(self._log_stay + posterior, moved)
        self.log_weights = np.where(has_evidence, shared, self.log_weights)
        return np.exp(self.log_weights)


def _log_domain_rates(n_experts: int, rates: FloatArray) -> NDArray[np.intp]:
    """Return the indices of the rates for which plain arithmetic is unsafe."""
    if n_experts == 1:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero((rates / (n_experts - 1) < _MIN_SHARE) | (1 - rates < _MIN_STAY))


def _log_sum_of_others(logs: FloatArray) -> FloatArray:
    """Return an array whose row i is the ``logsumexp`` of all rows except row i."""
    # Cumulative sums from both ends, because subtraction from the total is inexact if one row dominates.
    others = np.full_like(logs, -np.inf)
    others[1:] = np.logaddexp.accumulate(logs[:-1], axis=0)
    others[:-1] = np.logaddexp(others[:-1], np.logaddexp.accumulate(logs[:0:-1], axis=0)[::-1])
    return others
