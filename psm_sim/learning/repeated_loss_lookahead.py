"""Computation of many rounds of Fixed-share with the same losses, by eigenmodes.

With unnormalised weights v over the experts, a round of Fixed-share (thesis, eqs. 2.2 and 2.3) is the linear
map v <- M D v. D is the diagonal matrix of the likelihoods exp(-L(i)). M = keep I + share 1 1' describes the
switches. M and D are symmetric, so for each switching rate D^(1/2) M D^(1/2) has real eigenvalues and
orthonormal eigenvectors, the modes. In the basis of the modes, k rounds multiply each coordinate by the k-th
power of its eigenvalue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache

import numpy as np

from psm_sim.common.array_types import FloatArray, IntArray

BLOCK_ROUNDS = 256
"""Number of rounds that are computed together."""
_SHORT_BLOCK = 32
"""Number of rounds in a block if powers cannot be interpolated."""
_MIN_BASE = -0.1
"""Smallest base for which powers are interpolated. With n experts no eigenvalue is below -1 / (n - 1)."""
_MAX_NUMBERS = 200_000
"""Maximum size of the matrices, n * n * m, which then have 1.6 MB."""
_MIN_SHARE = 1e-9
"""Minimum share per expert, and minimum 1 - alpha."""
_MAX_SPREAD_NATS = 2.0
"""Maximum spread of the losses in nats, for which a block decays at most to exp(-512), without underflow."""


class Eigenmodes:
    """Eigenmodes of m switching rates over n experts, for one vector of losses in nats.

    Attributes
    ----------
    logs : ndarray, shape (m,)
        Logarithm of the largest eigenvalue of each rate. This is the asymptotic evidence of the rate per
        round, relative to the best expert.
    ratios : ndarray, shape (n, m)
        Eigenvalues divided by the largest eigenvalue of their rate.
    ones : ndarray, shape (n,)
        Ones. A dot product with this array takes a third of the time of a sum.
    """

    def __init__(self, rates: FloatArray, losses: FloatArray) -> None:
        n = losses.size
        self.ones: FloatArray = np.ones(n)
        share = rates / (n - 1)
        root = np.exp((losses.min() - losses) / 2)
        maps = (1 - share * n)[:, None, None] * np.eye(n) + share[:, None, None]
        eigenvalues, vectors = np.linalg.eigh(root[:, None] * maps * root)
        largest = eigenvalues[:, -1:]
        self.logs: FloatArray = np.log(largest[:, 0])
        self.ratios: FloatArray = np.ascontiguousarray((eigenvalues / largest).T)
        # Eigenvectors times D^(1/2), where D holds the likelihoods relative to the largest one. They map
        # weights to coordinates. The inverse map is the transpose, followed by a division by D.
        self._vectors: FloatArray = np.ascontiguousarray((root[:, None] * vectors).transpose(1, 2, 0))
        self._likelihoods: FloatArray = (root * root)[:, None]
        with np.errstate(divide="ignore"):
            self._log_ratios: FloatArray = np.log(np.abs(self.ratios))
        self._signs: FloatArray = np.sign(self.ratios)
        self._relative: FloatArray = np.ascontiguousarray(
            (self.ratios * np.exp(self.logs - self.logs.max())).T
        )
        self._min_visible = math.exp(-BLOCK_ROUNDS * float(losses.max() - losses.min())) * 1e-17 / rates.size
        self._key = b""
        self._value_terms: FloatArray = np.empty(0)

    def coordinates(self, weights: FloatArray) -> FloatArray:
        """Return the coordinates in the modes of *weights*, both of shape (n, m)."""
        coordinates: FloatArray = np.einsum("iem,im->em", self._vectors, weights)
        return coordinates

    def weights(self, coordinates: FloatArray) -> FloatArray:
        """Return the weights, shape (n, m), from their *coordinates* in the modes, shape (n, m)."""
        weights: FloatArray = np.einsum("iem,em->im", self._vectors, coordinates)
        weights /= self._likelihoods
        return weights

    def decay(self, rounds: int) -> FloatArray:
        """Return :attr:`ratios` to the power of *rounds*, at least 1, shape (n, m)."""
        powers: FloatArray = np.exp(self._log_ratios * rounds)
        if rounds % 2:
            powers *= self._signs
        return powers

    def value_terms(self, values: FloatArray) -> FloatArray:
        """Return the linear maps from coordinates to the weighted sum of *values*, and to the sum of weights.

        *values* has shape (n,). The result has shape (2, m, n), for both maps, m rates and n modes.
        """
        # The values rarely change between blocks. The cache saves 5 % of the time of a page with ``lpsm``.
        key = values.tobytes()
        if key != self._key:
            both = np.stack([values, self.ones]) / self._likelihoods[:, 0]
            self._value_terms = np.ascontiguousarray(np.einsum("iem,si->sme", self._vectors, both))
            self._key = key
        return self._value_terms

    def visible_rates(self, rate_weights: FloatArray) -> slice:
        """Return the range of rates that can affect the next block of rounds.

        At each rate, every round divides the sum of the weights by at most the largest likelihood ratio. The
        omitted rates together contribute at most 1e-17 of the sum in any round of the block.
        """
        largest = rate_weights.item(rate_weights.argmax())
        visible = (rate_weights > largest * self._min_visible).nonzero()[0]
        return slice(visible.item(0), visible.item(-1) + 1)

    def sums(self, terms: FloatArray, rates: slice) -> tuple[FloatArray, FloatArray]:
        """Return the weighted sum of the values, and the sum of the weights, after each round of a block.

        *terms*, shape (2, k, n), has the contributions of the n modes of k *rates* to both sums before the
        block. Two separate products with a vector are used, because one product with two columns takes over
        twice the time.
        """
        powers, between = self.powers
        rate_powers = powers[rates].reshape(-1, powers.shape[-1])
        weighted, weights = [term.ravel().dot(rate_powers).dot(between) for term in terms]
        return weighted, weights

    @cached_property
    def powers(self) -> tuple[FloatArray, FloatArray]:
        """Powers of the eigenvalues in r rounds of a block, and a matrix that interpolates the other rounds.

        The shapes are (m, n, r) and (r, rounds). The eigenvalues are relative to the largest of all rates.
        The interpolation error is at most 1e-13.
        """
        relative = self._relative.ravel()
        nodes, between = (
            _interpolation()
            if relative.min() > _MIN_BASE
            else (np.arange(1, _SHORT_BLOCK + 1), np.eye(_SHORT_BLOCK))
        )
        all_powers = np.multiply.accumulate(np.broadcast_to(relative, (nodes[-1], relative.size)))
        return np.ascontiguousarray(all_powers[nodes - 1].T).reshape(
            *self._relative.shape, nodes.size
        ), between

    @cached_property
    def block_decay(self) -> FloatArray:
        """Powers of the relative eigenvalues after a whole block, shape (m, n)."""
        return np.ascontiguousarray(self.powers[0][:, :, -1])


@cache
def _interpolation() -> tuple[IntArray, FloatArray]:
    """Return r rounds and the matrix, shape (r, BLOCK_ROUNDS), that interpolates all powers of a block.

    Powers of numbers from 0 to 1 are smooth in the logarithm of the round. The nodes are the first few rounds
    and then Chebyshev nodes on this scale. The matrix is the least-squares solution for many numbers from 0
    to 1 and some below 0. With 300 instead of 200 positive numbers the error is the same, but OpenBLAS starts
    threads, which can take a quarter of a second.
    """
    positions = (1 - np.cos(np.linspace(0, np.pi, 34))) / 2
    nodes = np.unique(
        np.round(np.concatenate([np.arange(1, 9), 8 * (BLOCK_ROUNDS / 8) ** positions])).astype(np.intp)
    )
    decays = np.exp(np.linspace(np.log(1e-7), np.log(40), 200))
    bases = np.concatenate([np.linspace(_MIN_BASE, 0, 12), np.exp(-decays), [1.0]])
    powers = bases ** np.arange(1, BLOCK_ROUNDS + 1)[:, None]
    matrix = np.linalg.lstsq(powers[nodes - 1].T, powers.T, rcond=1e-15)[0]
    return nodes, np.ascontiguousarray(matrix)


def is_applicable(rates: FloatArray, losses: FloatArray) -> bool:
    """Return whether eigenmodes are accurate and small for these rates and losses.

    The smallest share must be far above rounding errors, the likelihoods within a factor of e^2, and the
    matrices (n * n * m numbers) small enough to read in each round. Otherwise rounds are learnt one by one.
    """
    n = losses.size
    if n < 2 or n * n * rates.size > _MAX_NUMBERS or not np.isfinite(losses).all():
        return False
    share, stay = float(rates.min()) / (n - 1), 1 - float(rates.max())
    return min(share, stay) >= _MIN_SHARE and float(losses.max() - losses.min()) <= _MAX_SPREAD_NATS


@lru_cache(maxsize=4)
def compute_eigenmodes(rates: bytes, losses: bytes) -> Eigenmodes | None:
    """Return the eigenmodes of rates and losses given as bytes, or None if they do not apply.

    Parameters
    ----------
    rates, losses : bytes
        Buffers of float64 arrays, shapes (m,) and (n,).
    """
    rate_array, loss_array = np.frombuffer(rates), np.frombuffer(losses)
    return Eigenmodes(rate_array, loss_array) if is_applicable(rate_array, loss_array) else None


_ALL_RATES = slice(None)

Skip = Callable[[int, FloatArray, FloatArray], None]


class Lookahead:
    """Lookahead on future rounds of one learner that all have the same losses.

    Predictions do not change the learner. Call :meth:`learn` at most once, and only if the learner has learnt
    no round since the lookahead was created.

    Parameters
    ----------
    modes : Eigenmodes
        Eigenmodes of the learner's m switching rates for these losses.
    weights : ndarray, shape (n, m)
        Current weights of the experts at each rate.
    rate_weights : ndarray, shape (m,)
        Weights of the rates, up to the factors ``weights.sum(axis=0)``.
    skip : callable
        Function that sets the learner to a later round. :meth:`learn` calls it with the number of rounds and
        the two arrays of :meth:`after`.
    """

    def __init__(self, modes: Eigenmodes, weights: FloatArray, rate_weights: FloatArray, skip: Skip) -> None:
        self._skip = skip
        self._modes, self._coordinates = modes, modes.coordinates(weights)
        self._rate_weights, self._evidence = rate_weights.copy(), rate_weights * modes.ones.dot(weights)
        self._terms_of_values: FloatArray

    def predictions(self, values: FloatArray) -> Iterator[FloatArray]:
        """Yield the weighted means of *values*, shape (n,), after rounds 1, 2, 3, ... in blocks.

        Each block computes only the rates that can affect it. Most idle periods end within the first block.
        """
        self._terms_of_values = self._modes.value_terms(values)
        rates = self._modes.visible_rates(self._evidence)
        weighted, weights = self._modes.sums(self._terms(self._coordinates[:, rates], rates), rates)
        yield weighted / weights
        terms = self._terms(self._coordinates, _ALL_RATES) * self._modes.block_decay
        terms /= terms[1].sum()
        while True:
            rates = self._modes.visible_rates(terms[1].dot(self._modes.ones))
            weighted, weights = self._modes.sums(terms[:, rates], rates)
            terms *= self._modes.block_decay / weights[-1]
            yield weighted / weights

    def _terms(self, coordinates: FloatArray, rates: slice) -> FloatArray:
        """Return the *terms* of :meth:`Eigenmodes.sums`, shape (2, k, n), for k *rates*."""
        terms: FloatArray = self._terms_of_values[:, rates] * (coordinates * self._rate_weights[rates]).T
        return terms

    def learn(self, rounds: int) -> None:
        """Let the learner learn *rounds* rounds, at least 1, at once.

        Equivalent to *rounds* calls of :meth:`~psm_sim.learning.Learner.update`, up to rounding.
        """
        self._skip(rounds, *self.after(rounds))

    def after(self, rounds: int) -> tuple[FloatArray, FloatArray]:
        """Return the evidence and the weights after *rounds* rounds.

        Returns
        -------
        log_evidence : ndarray, shape (m,)
            Log evidence of each rate, to which ``log(weights.sum(axis=0))`` must be added.
        weights : ndarray, shape (n, m)
            Unnormalised weights of the experts at each rate.
        """
        weights = self._modes.weights(self._coordinates * self._modes.decay(rounds))
        return rounds * self._modes.logs, weights
