"""Levels: a bank of Fixed-share algorithms, one per switching rate, run side by side (2.2, 2.3)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from psm_sim.array_types import FloatArray
from psm_sim.learning.eigenmodes import compute_eigenmodes
from psm_sim.learning.lookahead import Lookahead

_MIN_SHARE = 1e-100
_MIN_STAY = 1e-9


class FixedShareBank:
    """Distributions p_{t,j}(i) of m Fixed-share algorithms over the same n experts.

    Every round each expert receives at least min(1 - alpha, alpha / (n - 1)) of its level's weight, and
    the best expert's likelihood is taken as 1, so the mixture of a level cannot underflow: ordinary
    arithmetic on an (n, m) array is safe. Only rates within 1e-9 of 1, or so near 0 that the share is
    below 1e-100, give no such floor; those columns are kept as logarithms by :class:`LogFixedShareBank`.

    Attributes
    ----------
    weights : ndarray, shape (n, m)
        One column per level; each sums to 1.
    rates : ndarray, shape (m,)
        The switching rates.
    keep, added : ndarray, shape (m,)
        Of each rate: the part of a weight that is kept in a round, and what is then added to each (2.3).
    """

    def __init__(self, n_experts: int, rates: FloatArray) -> None:
        others = max(n_experts - 1, 1)
        self.rates = rates
        self.weights: FloatArray = np.full((n_experts, rates.size), 1 / n_experts)
        # (2.3) with posterior q: (1 - alpha) q + share (1 - q) = keep q + share, share = alpha / (n - 1).
        self.added: FloatArray = rates / others if n_experts > 1 else np.zeros_like(rates)
        self.keep: FloatArray = 1 - self.added * n_experts
        # For each expert, since adding arrays of one shape takes half the time.
        self._shares: FloatArray = np.tile(self.added, (n_experts, 1))
        self._factor = np.empty_like(self.weights)
        self._edge = _edge(n_experts, rates)
        self._at_edge = LogFixedShareBank(n_experts, rates[self._edge]) if self._edge.size else None
        self._likelihood: FloatArray = np.empty(n_experts)
        self._ones: FloatArray = np.ones(n_experts)
        self._mixture: FloatArray = np.empty(rates.size)
        self._log: FloatArray = np.empty(rates.size)
        self._rates_key = rates.tobytes()

    def evidence(self, relative: FloatArray) -> FloatArray:
        """Return each level's log mixture likelihood, shape (m,), of log-likelihoods *relative*, (n,).

        The largest of *relative* must be 0. The array returned is overwritten by the next call.
        """
        self.mixture(relative)
        if self._at_edge is not None:
            # Any positive number: the columns are replaced below, and the log of 0 would warn.
            self._mixture[self._edge] = 1.0
        np.log(self._mixture, out=self._log)
        if self._at_edge is not None:
            self._log[self._edge] = self._at_edge.evidence(relative)
        return self._log

    def mixture(self, relative: FloatArray) -> FloatArray:
        """Return each level's mixture likelihood, shape (m,), where all of them are plain.

        The array returned is overwritten by :meth:`share`.
        """
        np.exp(relative, self._likelihood)
        mixture: FloatArray = self._likelihood.dot(self.weights, self._mixture)
        return mixture

    def share(self) -> None:
        """Revise every level for the round that was last asked about (2.3).

        Call it once after each :meth:`evidence` or :meth:`mixture`, of which it uses up the mixture.
        """
        # (2.3): w_ij <- (likelihood_i w_ij / mixture_j) keep_j + share_j.
        weights, factor, mixture = self.weights, self._factor, self._mixture
        # The mixture is not read again, so its array becomes the scratch for keep / mixture, shape (m,).
        np.divide(self.keep, mixture, mixture)
        self._likelihood[:, None].dot(mixture[None], factor)
        np.multiply(weights, factor, weights)
        np.add(weights, self._shares, weights)
        if self._at_edge is not None:
            weights[:, self._edge] = self._at_edge.share()

    def take(self, weights: FloatArray) -> FloatArray:
        """Go on from *weights*, (n, m), brought to sums of 1; return what they summed to, shape (m,)."""
        totals: FloatArray = self._ones.dot(weights)
        np.divide(weights, totals, self.weights)
        return totals

    def lookahead(self, losses: FloatArray, rate_weights: FloatArray) -> Lookahead | None:
        """Return a look at rounds of these *losses*, (n,), under *rate_weights*, (m,), where modes apply."""
        modes = compute_eigenmodes(self._rates_key, losses.tobytes())
        return None if modes is None else Lookahead(modes, self.weights, rate_weights)

    @property
    def is_plain(self) -> bool:
        """Whether there are several experts, and no level is kept as logarithms."""
        return self._at_edge is None and len(self.weights) > 1

    @property
    def least_mixture(self) -> float:
        """The least that a mixture of these levels can be, beside the largest likelihood."""
        return float(np.minimum(self.added, 1 - self.rates).min())

    @property
    def edge_logs(self) -> FloatArray:
        """Log-weights of the levels at the edge, shape (n, k), exact where the weight itself underflows."""
        return np.empty((len(self.weights), 0)) if self._at_edge is None else self._at_edge.log_weights

    def restore(self, weights: FloatArray, edge_logs: FloatArray) -> None:
        """Take back :attr:`weights` and :attr:`edge_logs`, to the last bit."""
        self.weights[:] = weights
        if self._at_edge is not None:
            self._at_edge.log_weights = edge_logs


class LogFixedShareBank:
    """Levels in the log domain: slower, and exact for any rate from 0 to 1.

    A level whose weight lies wholly on removed experts has evidence ``-inf`` and is left unchanged.
    """

    def __init__(self, n_experts: int, rates: FloatArray) -> None:
        self.log_weights: FloatArray = np.full((n_experts, rates.size), -math.log(n_experts))
        with np.errstate(divide="ignore"):
            self._log_stay = np.log1p(-rates)
            self._log_move = np.log(rates) - math.log(n_experts - 1)
        self._unshared = not rates.any()
        self._joint = self.log_weights
        self._log_evidence = np.zeros(rates.size)

    def evidence(self, relative: FloatArray) -> FloatArray:
        """Return each level's log mixture likelihood, shape (m,)."""
        self._joint = self.log_weights + relative[:, None]
        self._log_evidence = np.logaddexp.reduce(self._joint, axis=0)
        return self._log_evidence

    def share(self) -> FloatArray:
        """Revise the levels and return their weights, shape (n, m), in the linear domain."""
        alive = self._log_evidence > -np.inf
        if self._unshared and alive.all():
            self.log_weights = self._joint - self._log_evidence
            return np.exp(self.log_weights)
        # -inf less -inf would be nan; what a dead level gets here is dropped at the end.
        posterior = self._joint - np.where(alive, self._log_evidence, 0.0)
        moved = self._log_move + _log_sum_of_others(posterior)
        shared = np.logaddexp(self._log_stay + posterior, moved)
        self.log_weights = np.where(alive, shared, self.log_weights)
        return np.exp(self.log_weights)


def _edge(n_experts: int, rates: FloatArray) -> NDArray[np.intp]:
    """Return the indices of the levels that plain arithmetic cannot carry."""
    if n_experts == 1:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero((rates / (n_experts - 1) < _MIN_SHARE) | (1 - rates < _MIN_STAY))


def _log_sum_of_others(logs: FloatArray) -> FloatArray:
    """Return log(sum of exp over all rows but one), for each row, without cancellation."""
    # Sums from the top and from the bottom: total less own would cancel where one expert holds all weight.
    others = np.full_like(logs, -np.inf)
    others[1:] = np.logaddexp.accumulate(logs[:-1], axis=0)
    others[:-1] = np.logaddexp(others[:-1], np.logaddexp.accumulate(logs[:0:-1], axis=0)[::-1])
    return others
