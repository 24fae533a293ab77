"""Interface of online learners, which maintain a distribution over experts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter
from psm_sim.learning.repeated_loss_lookahead import Lookahead

_FLOAT64 = np.dtype(np.float64)
"""The NumPy singleton of this dtype. An identity test takes a tenth of the time of an equality test."""


class Learner(ABC):
    """Base class of online learners over n experts.

    A subclass defines a ``name`` and :meth:`learn`, which sets :attr:`weights`. Its constructor accepts
    ``n_experts``. No history is kept, so memory is constant in the number of rounds.

    Parameters
    ----------
    n_experts : int
        Number of experts, at least 1.

    Attributes
    ----------
    n_experts : int
        Number of experts.
    rounds : int
        Number of rounds learnt so far.
    """

    name: str = ""

    def __init__(self, n_experts: int) -> None:
        self.n_experts: int = Parameter("the number of experts", 1, at_least=1).check(n_experts, self.name)
        self.rounds = 0
        self._shape = (self.n_experts,)
        self._weights: FloatArray = np.full(self.n_experts, 1 / self.n_experts)
        self._sum = 1.0
        self._relative: FloatArray = np.empty(self.n_experts)

    @property
    def weights(self) -> FloatArray:
        """Copy of the distribution p_t over the experts for the next round, shape (n,)."""
        return self._weights / self._sum

    @weights.setter
    def weights(self, weights: FloatArray) -> None:
        """Set the distribution over the experts for the next round; its sum is 1."""
        self._weights = weights

    def update(self, losses: ArrayLike) -> float:
        """Learn one round and return its mixture loss (thesis, eq. 2.1), in nats.

        Parameters
        ----------
        losses : array_like, shape (n,)
            Loss of each expert, in nats, 0 or more; ``inf`` excludes an expert from the round.

        Returns
        -------
        float
            ``-log(sum_i p_t(i) exp(-losses[i]))``.

        Raises
        ------
        InputError
            If a loss is NaN or negative, if all losses are inf, if the shape is not (n,), or if every expert
            with positive weight has an infinite loss. The message names the round, and the learner is
            unchanged.
        """
        losses = self._array(losses, "the losses")
        # argmin returns the index of a NaN, so this test rejects NaN, negative and all-inf losses.
        min_loss = losses.item(losses.argmin())
        if not 0.0 <= min_loss < math.inf:
            raise describe_loss_error(losses, f"{self.name}, round {self.rounds + 1}")
        # Relative to the minimum loss, the largest likelihood is exactly 1, so not all likelihoods underflow.
        np.subtract(min_loss, losses, self._relative)
        excess = self.learn(self._relative)
        if excess == math.inf:
            raise InputError(
                f"{self.name}, round {self.rounds + 1}: every expert with positive weight has an infinite "
                "loss; expected a finite loss for one of them, or a switching rate above 0."
            )
        self.rounds += 1
        return min_loss + excess

    def predict(self, values: ArrayLike) -> float:
        """Return the mean of the experts' values, weighted by :attr:`weights`.

        Parameters
        ----------
        values : array_like, shape (n,)
            Value of each expert.
        """
        return float(self._weights.dot(self._array(values, "the values to predict from"))) / self._sum

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return an object that predicts many rounds with the same losses (optional hook).

        Predictions do not change the learner. ``lookahead.learn(k)`` lets the learner learn *k* of the rounds
        at once.

        Parameters
        ----------
        losses : ndarray, shape (n,)
            Losses of each round, in nats.

        Returns
        -------
        Lookahead or None
            None if rounds with these losses must be learnt one by one.
        """
        return None

    def _array(self, values: ArrayLike, label: str) -> FloatArray:
        # Fast path for float64 arrays, because this runs twice in every round.
        array = values if type(values) is np.ndarray and values.dtype is _FLOAT64 else None
        if array is None or array.shape != self._shape:
            return check_array(values, self._shape, f"{self.name}, round {self.rounds + 1}: {label}")
        return array

    @abstractmethod
    def learn(self, log_likelihoods: FloatArray) -> float:
        """Learn one round, and set the weights for the next. Called by :meth:`update` with valid losses.

        Parameters
        ----------
        log_likelihoods : ndarray, shape (n,)
            ``losses.min() - losses``, in nats, so the best expert has 0. The array is reused after the call.

        Returns
        -------
        float
            Mixture loss minus the minimum loss, ``-log(sum_i p_t(i) exp(log_likelihoods[i]))``, in nats. If
            every expert with positive weight has an infinite loss, return ``inf`` and keep the weights.
        """


def check_array(values: ArrayLike, shape: tuple[int, ...], name: str) -> FloatArray:
    """Return *values* as a float64 array.

    Raises
    ------
    InputError
        If the values are not numbers of this shape.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers of shape {shape}, got {values!r}.") from None
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}, one value per expert, got {array.shape}.")
    return array


def describe_loss_error(losses: FloatArray, round_name: str) -> InputError:
    """Return the error for invalid *losses* of one round, which *round_name* identifies."""
    for expert, loss in enumerate(losses.tolist()):
        if math.isnan(loss) or loss < 0:
            return InputError(
                f"{round_name}: the loss of expert {expert} must be at least 0 nats "
                f"(inf excludes the expert), got {loss}."
            )
    return InputError(f"{round_name}: all losses are inf; expected a finite loss for at least one expert.")
