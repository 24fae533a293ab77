"""Modes: what many rounds with the same losses do to a bank of Fixed-share algorithms, in one step.

With unnormalised weights v over the experts a round of Fixed-share (2.2, 2.3) is the linear map
v <- M D v: D holds the likelihoods exp(-L(i)), M = keep I + share 1 1' the switches. M and D are symmetric,
so D^(1/2) M D^(1/2) has real eigenvalues and orthonormal eigenvectors, one set per switching rate: its modes.
In their coordinates k rounds multiply each mode by the k-th power of its eigenvalue.
"""

from __future__ import annotations

import math
from functools import cache, cached_property, lru_cache

import numpy as np

from psm_sim.array_types import FloatArray, IntArray

BLOCK = 256
"""Rounds that are looked at together; further ahead it goes block by block."""
_FIRST = 32
_NEGATIVE = -0.1
"""Powers are interpolated down to here: with n experts no eigenvalue is below -1 / (n - 1)."""
_MAX_NUMBERS = 200_000
_MIN_SHARE = 1e-9
_MAX_SPREAD_NATS = 2.0


class Eigenmodes:
    """Modes of m switching rates over n experts, for one vector of losses.

    Parameters
    ----------
    rates : ndarray, shape (m,)
        The switching rates.
    losses : ndarray, shape (n,)
        The losses of every round, in nats.

    Attributes
    ----------
    logs : ndarray, shape (m,)
        The logarithm of each rate's largest eigenvalue: its evidence per round, in the long run, beside that
        of the best expert.
    ratios : ndarray, shape (n, m)
        The eigenvalues over the largest of their rate.
    ones : ndarray, shape (n,)
        Ones: a product with it sums in a third of the time that a sum takes.
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
        # Times D^(1/2), which leads from weights to coordinates; the way back is this over D.
        self._vectors: FloatArray = np.ascontiguousarray((root[:, None] * vectors).transpose(1, 2, 0))
        self._likelihoods: FloatArray = (root * root)[:, None]
        with np.errstate(divide="ignore"):
            self._log_ratios: FloatArray = np.log(np.abs(self.ratios))
        self._signs: FloatArray = np.sign(self.ratios)
        self._relative: FloatArray = np.ascontiguousarray(
            (self.ratios * np.exp(self.logs - self.logs.max())).T
        )
        self._unseen = math.exp(-BLOCK * float(losses.max() - losses.min())) * 1e-17 / rates.size
        self._key = b""
        self._readings: FloatArray = np.empty(0)

    def coordinates(self, weights: FloatArray) -> FloatArray:
        """Return *weights* over the experts, shape (n, m), in the modes, shape (n, m)."""
        found: FloatArray = np.einsum("iem,im->em", self._vectors, weights)
        return found

    def weights(self, coordinates: FloatArray) -> FloatArray:
        """Return the weights, shape (n, m), of *coordinates* in the modes, shape (n, m)."""
        found: FloatArray = np.einsum("iem,em->im", self._vectors, coordinates)
        found /= self._likelihoods
        return found

    def left(self, rounds: int) -> FloatArray:
        """Return the powers of :attr:`ratios`, shape (n, m), to so many *rounds*, at least 1."""
        found: FloatArray = np.exp(self._log_ratios * rounds)
        if rounds % 2:
            found *= self._signs
        return found

    def readings(self, values: FloatArray) -> FloatArray:
        """Return what each mode adds to the weighted sum of *values*, (n,), and of ones; shape (2, m, n)."""
        key = values.tobytes()
        if key != self._key:
            both = np.stack([values, self.ones]) / self._likelihoods[:, 0]
            self._readings = np.ascontiguousarray(np.einsum("iem,si->sme", self._vectors, both))
            self._key = key
        return self._readings

    def near(self, rate_weights: FloatArray) -> slice:
        """Return the rates, neighbours, that can be seen in a block of rounds from here.

        At each rate the sum of the weights falls in each round, and by no more than the widest likelihood
        ratio. A rate left out, of the *rate_weights*, (m,), is 1e-17 of the sum at most, all of them
        together, after any round of the block.
        """
        largest = rate_weights.item(rate_weights.argmax())
        seen = (rate_weights > largest * self._unseen).nonzero()[0]
        return slice(seen.item(0), seen.item(-1) + 1)

    def sums(self, terms: FloatArray, rates: slice) -> tuple[FloatArray, FloatArray]:
        """Return both weighted sums after each round of a block, from what each mode of *rates* adds now.

        Each is a product of its own with a vector: one with both as columns takes over twice the time.
        """
        powers, between = self.powers
        some = powers[rates].reshape(-1, powers.shape[-1])
        weighted, weights = [term.ravel().dot(some).dot(between) for term in terms]
        return weighted, weights

    @cached_property
    def powers(self) -> tuple[FloatArray, FloatArray]:
        """Powers of all eigenvalues over the very largest, and what makes every round of a block of them.

        Shapes (m, n, r) and (r, rounds): the powers of r rounds, the last one among them, are
        enough to make those of 256 within 1e-13.
        """
        relative = self._relative.ravel()
        nodes, between = _interpolation() if relative.min() > _NEGATIVE else (_each(), np.eye(_FIRST))
        all_ = np.multiply.accumulate(np.broadcast_to(relative, (nodes[-1], relative.size)))
        return np.ascontiguousarray(all_[nodes - 1].T).reshape(*self._relative.shape, nodes.size), between

    @cached_property
    def block_decay(self) -> FloatArray:
        """What is left of each mode after a block of rounds, beside the very largest; shape (m, n)."""
        return np.ascontiguousarray(self.powers[0][:, :, -1])


def _each() -> IntArray:
    return np.arange(1, _FIRST + 1)


@cache
def _interpolation() -> tuple[IntArray, FloatArray]:
    """Return r rounds, and the matrix (r, BLOCK) that makes a power for each round of a block of theirs.

    Powers of numbers from 0 to 1 are smooth in the logarithm of the round: nodes as Chebyshev's on that
    scale, after the first few, and the least squares of many such numbers, and of some below 0. With 300 in
    place of 200 the error is the same, and OpenBLAS takes threads, which can cost it a quarter of a second.
    """
    bends = (1 - np.cos(np.linspace(0, np.pi, 34))) / 2
    nodes = np.unique(np.round(np.concatenate([np.arange(1, 9), 8 * (BLOCK / 8) ** bends])).astype(np.intp))
    decays = np.exp(np.linspace(np.log(1e-7), np.log(40), 200))
    bases = np.concatenate([np.linspace(_NEGATIVE, 0, 12), np.exp(-decays), [1.0]])
    powers = bases ** np.arange(1, BLOCK + 1)[:, None]
    made = np.linalg.lstsq(powers[nodes - 1].T, powers.T, rcond=1e-15)[0]
    return nodes, np.ascontiguousarray(made)


def is_applicable(rates: FloatArray, losses: FloatArray) -> bool:
    """Say whether modes are accurate, and small, for these *rates*, (m,), and *losses*, (n,), in nats.

    A share must stand far above rounding errors, the likelihoods within a factor of e^2, and their number,
    n * n * m, within what a round can read; else rounds are learnt one by one.
    """
    n = losses.size
    if n < 2 or n * n * rates.size > _MAX_NUMBERS or not np.isfinite(losses).all():
        return False
    share, stay = float(rates.min()) / (n - 1), 1 - float(rates.max())
    return min(share, stay) >= _MIN_SHARE and float(losses.max() - losses.min()) <= _MAX_SPREAD_NATS


@lru_cache(maxsize=4)
def compute_eigenmodes(rates: bytes, losses: bytes) -> Eigenmodes | None:
    """Return the modes of *rates*, (m,), for *losses*, (n,), in nats, as bytes; None where none apply."""
    rates_, losses_ = np.frombuffer(rates), np.frombuffer(losses)
    return Eigenmodes(rates_, losses_) if is_applicable(rates_, losses_) else None
