"""Interface of online learners, which maintain a distribution over experts."""

from __future__ import annotations

import math
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning import input_checks
from psm_sim.learning.repeated_loss_lookahead import Lookahead

_FLOAT64 = np.dtype(np.float64)
"""The NumPy singleton of this dtype. An identity test takes a tenth of the time of an equality test."""


class Learner(ABC):
    """Base class of online learners over n experts.

    A subclass defines a ``name`` and maintains :attr:`_weights`, whose sum is :attr:`_sum`. It implements
    :meth:`_learn`, :meth:`_dump_state` and :meth:`_load_state`. No history is kept, so memory is constant in
    the number of rounds.

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
        self.n_experts = input_checks.check_int(n_experts, f"{self.name}: the number of experts")
        self.rounds = 0
        self._shape = (self.n_experts,)
        self._weights: FloatArray = np.full(self.n_experts, 1 / self.n_experts)
        self._relative: FloatArray = np.empty(self.n_experts)

    @property
    def _sum(self) -> float:
        """Sum of :attr:`_weights`."""
        return 1.0

    @property
    def weights(self) -> FloatArray:
        """Copy of the distribution p_t over the experts for the next round, shape (n,)."""
        return self._weights / self._sum

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
            raise input_checks.describe_loss_error(losses, f"{self.name}, round {self.rounds + 1}")
        # Relative to the minimum loss, the largest likelihood is exactly 1. They cannot all underflow.
        np.subtract(min_loss, losses, self._relative)
        excess = self._learn(self._relative)
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
        """Return a lookahead on future rounds that all have the same losses (optional hook).

        Parameters
        ----------
        losses : ndarray, shape (n,)
            Losses of every future round, in nats.

        Returns
        -------
        Lookahead or None
            None if the learner has no faster method than learning round by round, or not for these losses.
        """
        return None

    def fast_forward(self, lookahead: Lookahead, rounds: int) -> None:
        """Learn identical rounds at once.

        Equivalent to repeated :meth:`update`, up to rounding.

        Parameters
        ----------
        lookahead : Lookahead
            Result of :meth:`lookahead`. No round may have been learnt since.
        rounds : int
            Number of rounds to learn, at least 1.
        """
        self._set_state(*lookahead.after(rounds))
        self.rounds += rounds

    def _set_state(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Set the state after a fast-forward.

        A learner that overrides :meth:`lookahead` must override this method as well.

        Parameters
        ----------
        log_evidence : ndarray, shape (m,)
            Log evidence of each switching rate in these rounds, in nats.
        weights : ndarray, shape (n, m)
            Weights of the experts at each rate.
        """
        raise NotImplementedError(f"{type(self).__name__} defines lookahead() without _set_state()")

    def state(self) -> dict[str, Any]:
        """Return the learnt state as a JSON-compatible dictionary.

        See :meth:`load_state`.
        """
        return {"learner": self.name, "experts": self.n_experts, "rounds": self.rounds, **self._dump_state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a *state* saved by a learner with the same parameters.

        Raises
        ------
        InputError
            If the state is damaged, or has another learner, number of experts or switching rates.
        """
        try:
            self._expect(state, "learner", self.name)
            self._expect(state, "experts", self.n_experts)
            rounds = input_checks.check_int(
                state["rounds"], f"{self.name}: rounds of the saved state", minimum=0
            )
            self._load_state(state)
        except (KeyError, TypeError) as error:
            raise InputError(
                f"{self.name}: the saved state is incomplete ({error}); expected the result of state()."
            ) from None
        self.rounds = rounds

    def _array(self, values: ArrayLike, label: str) -> FloatArray:
        # Fast path for float64 arrays, because this runs twice in every round.
        array = values if type(values) is np.ndarray and values.dtype is _FLOAT64 else None
        if array is None or array.shape != self._shape:
            return input_checks.check_array(
                values, self._shape, f"{self.name}, round {self.rounds + 1}: {label}"
            )
        return array

    def _expect(self, state: Mapping[str, Any], key: str, own: object) -> None:
        if state[key] != own:
            saved, expected = reprlib.repr(state[key]), reprlib.repr(own)
            raise InputError(f"{self.name}: the saved state has {key} {saved}; expected {expected}.")

    def _no_weight_left_error(self) -> InputError:
        return InputError(
            f"{self.name}, round {self.rounds + 1}: every expert with positive weight has an infinite loss; "
            "expected a finite loss for one of them, or a switching rate above 0."
        )

    @abstractmethod
    def _learn(self, relative: FloatArray) -> float:
        """Update the weights by the log-likelihoods *relative*, shape (n,), whose maximum is 0.

        Return the mixture loss minus the minimum loss, in nats.
        """

    @abstractmethod
    def _dump_state(self) -> dict[str, Any]:
        """Return the parameters and the learnt state as numbers and lists."""

    @abstractmethod
    def _load_state(self, state: Mapping[str, Any]) -> None:
        """Validate and restore the result of :meth:`_dump_state`.

        An invalid state must leave the learner unchanged.
        """
