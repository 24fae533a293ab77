"""Selective sampler: a learner and a query rule on a stream."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError, PluginError
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.online_learner import Classifier, Decision, OnlineLearner, wrong_type_error
from psm_sim.lab.active.query_rules import QueryRule
from psm_sim.lab.active.selective_record import Record
from psm_sim.lab.active.serializable import Serializable
from psm_sim.random_streams import random_stream


class SelectiveSampler(Serializable, Classifier):
    """Learner that decides on each instance whether its label is worth buying.

    Parameters
    ----------
    learner : OnlineLearner
        What is learnt; it is changed.
    rule : QueryRule
        When a label is bought; it is changed.
    seed : int
        Of the coin, where no *rng* is given.
    rng : numpy.random.Generator, optional
        The coin: one draw per round whose probability lies strictly between 0 and 1, none otherwise.
    unit : bool
        Whether instances are divided by their norm; an instance of norm 0 is left as it is.

    Raises
    ------
    InputError
        If the rule needs a spread and the learner has none.
    """

    name = "selective"
    state_attributes = ("learner", "rule", "rng", "n_queries_")

    def __init__(
        self,
        learner: OnlineLearner,
        rule: QueryRule,
        seed: int = 1,
        rng: np.random.Generator | None = None,
        unit: bool = False,
    ) -> None:
        for given, wanted, what in ((learner, OnlineLearner, "learner"), (rule, QueryRule, "rule")):
            if not isinstance(given, wanted):
                raise InputError(wrong_type_error(given, wanted, f"the {what} of a selective sampler"))
        if rule.needs_spread and not hasattr(learner, "spread"):
            raise InputError(f"{rule.name}: the learner is {learner.name}; expected a second-order one.")
        self.learner, self.rule, self.unit = learner, rule, unit
        self.rng = random_stream(seed, "active coin") if rng is None else rng
        self.n_queries_ = 0
        self._asked: tuple[Any, FloatArray] | None = None
        self._fresh = deepcopy((learner, rule)), self.rng.bit_generator.state

    def ask(self, x: ArrayLike) -> Decision:
        """Return margin, prediction, query probability and whether to buy the label of *x*, (features,)."""
        row = self._row(x)
        margin, spread = self.learner._view(row)
        p = self.rule.chance(row, margin, spread)
        if not 0.0 <= p <= 1.0:
            raise self._improper(p)
        query = p == 1.0 or (p > 0.0 and bool(self.rng.random() < p))
        self._asked = (x, row)
        return Decision(margin, 1 if margin >= 0 else -1, p, query)

    def tell(self, x: ArrayLike, y: int) -> bool:
        """Learn a bought label.

        Parameters
        ----------
        x : array_like, shape (features,)
            The instance; the very object given to the last :meth:`ask` is not checked again.
        y : int
            Its label, -1 or +1.

        Returns
        -------
        bool
            True if the learner moved.
        """
        label = input_checks.check_label(y, self.learner.name)
        row = self._asked[1] if self._asked is not None and self._asked[0] is x else self._row(x)
        self._asked = None
        self.n_queries_ += 1
        right = label * self.learner._view(row)[0] > 0
        moved = self.learner._learn(row, label)
        self.rule.told(right)
        return moved

    def run(self, X: ArrayLike, y: ArrayLike) -> Record:
        """Ask and tell row by row, from the present state on.

        Parameters
        ----------
        X : array_like, shape (n, features)
            One instance per row.
        y : array_like, shape (n,)
            Labels, -1 or +1; only those that are bought are looked at, though all are checked first.

        Raises
        ------
        InputError
            If the rows or the labels cannot be used; nothing is learnt.
        """
        rows = input_checks.check_instances(X, self.learner.features, self.learner.name)
        labels = input_checks.check_labels(y, len(rows), self.learner.name).tolist()
        return self._pass(rows, labels.__getitem__)

    def partial_fit(self, X: ArrayLike, oracle: Callable[[int], int]) -> Record:
        """Ask row by row, from the present state on, and buy labels from an *oracle*.

        Parameters
        ----------
        X : array_like, shape (n, features)
            One instance per row.
        oracle : callable
            ``oracle(i)`` returns the label of row i, -1 or +1; called for bought labels only.
        """
        rows = input_checks.check_instances(X, self.learner.features, self.learner.name)
        return self._pass(
            rows, lambda row: input_checks.check_label(oracle(row), f"{self.learner.name}, row {row}")
        )

    def fit(self, X: ArrayLike, y: ArrayLike) -> SelectiveSampler:
        """Forget everything, then :meth:`run`; return self (scikit-learn's habit, with ``n_queries_``)."""
        rows = input_checks.check_instances(X, self.learner.features, self.learner.name)
        labels = input_checks.check_labels(y, len(rows), self.learner.name)
        (learner, rule), self.rng.bit_generator.state = self._fresh
        self.learner.load_state(learner.state())
        self.rule.load_state(rule.state())
        self.n_queries_, self._asked = 0, None
        self.run(rows, labels)
        return self

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return the margin of each row of *X*, shape (n, features); changes nothing."""
        return self.learner._margins(
            self._scaled(input_checks.check_instances(X, self.learner.features, self.learner.name))
        )

    def _settings(self) -> dict[str, Any]:
        return {"unit": self.unit}

    def _load_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return {**super()._load_state(state), "_asked": None}

    def _row(self, x: ArrayLike) -> FloatArray:
        row, square = input_checks.check_instance(x, self.learner.features, self.learner.name)
        if self.unit and square:
            return row / math.sqrt(square)
        return row.copy() if row is x else row

    def _scaled(self, rows: FloatArray) -> FloatArray:
        if not self.unit:
            return rows
        lengths = np.sqrt([x.dot(x) for x in rows])  # row by row, to have the bits of a single instance
        return rows / np.where(lengths > 0, lengths, 1.0)[:, None]

    def _pass(self, rows: FloatArray, oracle: Callable[[int], float]) -> Record:
        """Do the rounds of :meth:`ask` and :meth:`tell` with their look-ups hoisted, for speed."""
        view, chance, told = self.learner._view, self.rule.chance, self.rule.told
        learn, draw = self.learner._learn, self.rng.random
        margins, chances, bought, moved = [], [], [], []
        for number, x in enumerate(self._scaled(rows)):
            margin, spread = view(x)
            p = chance(x, margin, spread)
            if not 0.0 <= p <= 1.0:
                raise self._improper(p)
            margins.append(margin)
            chances.append(p)
            if p == 1.0 or (p > 0.0 and draw() < p):
                label = oracle(number)
                self.n_queries_ += 1
                bought.append(number)
                if learn(x, label):
                    moved.append(number)
                told(label * margin > 0)
        return Record.of(margins, chances, bought, moved)

    def _improper(self, p: float) -> PluginError:
        return PluginError(f"{self.rule.name}: the probability is {p!r}; expected 0 to 1.")
