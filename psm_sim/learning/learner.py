"""Learner interface: a distribution over experts, revised after every round."""

from __future__ import annotations

import math
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.learning import input_checks
from psm_sim.learning.lookahead import Lookahead

_FLOAT64 = np.dtype(np.float64)
"""The one object of this type: asking whether it is another takes a tenth of asking whether it is equal."""


class Learner(ABC):
    """Weights over n experts, learnt from the loss each of them would have suffered.

    A subclass gives a ``name``, keeps :attr:`_weights`, whose :attr:`_sum` need not be 1, and
    supplies :meth:`_learn`, :meth:`_dump_state` and :meth:`_load_state`. Memory is constant in the number of
    rounds: no history is kept.

    Attributes
    ----------
    n_experts : int
        The number of experts, at least 1.
    rounds : int
        The number of rounds learnt so far.
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
        """What :attr:`_weights` add up to."""
        return 1.0

    @property
    def weights(self) -> FloatArray:
        """A copy of p_t, the distribution over experts for the coming round, shape (n,)."""
        return self._weights / self._sum

    def update(self, losses: ArrayLike) -> float:
        """Learn one round and return the mixture loss suffered in it (2.1), in nats.

        Parameters
        ----------
        losses : array_like, shape (n,)
            The loss of each expert, in nats, 0 or more; ``inf`` removes an expert for the round.

        Returns
        -------
        float
            ``-log(sum_i p_t(i) exp(-losses[i]))``.

        Raises
        ------
        InputError
            If a loss is NaN or negative, if all are inf, if the shape is not (n,), or if only experts
            without any weight are left; names the round. The learner is not changed.
        """
        losses = self._array(losses, "the losses")
        # argmin points at a nan if there is one: this comparison refuses nan, negative and all inf at once.
        least = losses.item(losses.argmin())
        if not 0.0 <= least < math.inf:
            raise input_checks.describe_loss_error(losses, f"{self.name}, round {self.rounds + 1}")
        # Relative to the least loss: the largest likelihood is exactly 1, so they cannot all underflow.
        np.subtract(least, losses, self._relative)
        excess = self._learn(self._relative)
        self.rounds += 1
        return least + excess

    def predict(self, values: ArrayLike) -> float:
        """Return the weighted mean of the experts' *values*, shape (n,), under :attr:`weights`."""
        return float(self._weights.dot(self._array(values, "the values to predict from"))) / self._sum

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a look at coming rounds that all have these *losses*, shape (n,), in nats.

        None if the learner does not know them in fewer steps than rounds, or not for these losses.
        """
        return None

    def fast_forward(self, ahead: Lookahead, rounds: int) -> None:
        """Learn so many *rounds* at once, as :meth:`update` would one by one, within rounding errors.

        Parameters
        ----------
        ahead : Ahead
            What :meth:`ahead` returned; nothing must have been learnt since.
        rounds : int
            How many of the rounds looked at are over, at least 1.
        """
        self._set_state(*ahead.after(rounds))
        self.rounds += rounds

    def _set_state(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Take up the *weights* of each rate, (n, m), and its *log_evidence*, (m,), after a leap.

        A learner whose :meth:`ahead` returns something overrides this, too.
        """
        raise NotImplementedError(f"{type(self).__name__} has ahead() without _reach()")

    def state(self) -> dict[str, Any]:
        """Return all that was learnt as a plain dictionary, fit for JSON, for :meth:`load_state`."""
        return {"learner": self.name, "experts": self.n_experts, "rounds": self.rounds, **self._dump_state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a *state* saved by an equal learner.

        Raises
        ------
        InputError
            If the state is of another learner, number of experts or switching rates, or is damaged.
        """
        try:
            self._expect(state, "learner", self.name)
            self._expect(state, "experts", self.n_experts)
            rounds = input_checks.check_int(
                state["rounds"], f"{self.name}: rounds of the saved state", least=0
            )
            self._load_state(state)
        except (KeyError, TypeError) as fault:
            raise InputError(
                f"{self.name}: the saved state is incomplete ({fault}); expected what state() returned."
            ) from None
        self.rounds = rounds

    def _array(self, values: ArrayLike, what: str) -> FloatArray:
        # A float64 array passes without a call into checks: this runs twice in every round.
        found = values if type(values) is np.ndarray and values.dtype is _FLOAT64 else None
        if found is None or found.shape != self._shape:
            return input_checks.check_array(
                values, self._shape, f"{self.name}, round {self.rounds + 1}: {what}"
            )
        return found

    def _expect(self, state: Mapping[str, Any], key: str, own: object) -> None:
        if state[key] != own:
            found, wanted = reprlib.repr(state[key]), reprlib.repr(own)
            raise InputError(f"{self.name}: the saved state has {key} {found}; expected {wanted}.")

    def _none_left(self) -> InputError:
        return InputError(
            f"{self.name}, round {self.rounds + 1}: every expert that still has weight lost inf; "
            "expected a finite loss for one of them, or a switching rate above 0 that restores the others."
        )

    @abstractmethod
    def _learn(self, relative: FloatArray) -> float:
        """Revise the weights for log-likelihoods *relative*, (n,), maximum 0; return the loss above that."""

    @abstractmethod
    def _dump_state(self) -> dict[str, Any]:
        """Return parameters and what was learnt, as numbers and lists."""

    @abstractmethod
    def _load_state(self, state: Mapping[str, Any]) -> None:
        """Check and restore what :meth:`_dump_state` returned; change nothing if it cannot be used."""
