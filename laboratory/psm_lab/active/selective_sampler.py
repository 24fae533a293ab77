"""Selective sampler: a learner and a query rule on a stream."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psm_lab.active import input_checks
from psm_lab.active.online_learner import Decision, OnlineLearner, wrong_type_error
from psm_lab.active.query_rules import QueryRule
from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError, PluginError
from psm_sim.common.random_streams import random_stream


@dataclass(frozen=True, eq=False)
class Record:
    """Record of a run, with one entry per round in each array of shape (n,).

    Attributes
    ----------
    prediction : ndarray of int
        Prediction before the label was known, -1 or +1.
    probability : ndarray of float
        Query probability.
    queried, updated : ndarray of bool
        Whether the label was queried, and whether the learner changed.
    """

    prediction: NDArray[np.int64]
    probability: FloatArray
    queried: NDArray[np.bool_]
    updated: NDArray[np.bool_]


class SelectiveSampler:
    """Learner that decides for each instance whether to query its label.

    Parameters
    ----------
    learner : OnlineLearner
        Learner to train; it is modified.
    rule : QueryRule
        Rule for the query probability; it is modified.
    seed : int
        Seed of the Bernoulli draws. A round has a draw if its probability is strictly between 0 and 1.
    unit : bool
        Whether instances are divided by their norm; an instance of norm 0 stays unchanged.

    Raises
    ------
    InputError
        If the rule requires a spread and the learner has none.
    """

    def __init__(
        self,
        learner: OnlineLearner,
        rule: QueryRule,
        seed: int = 1,
        unit: bool = False,
    ) -> None:
        for part, expected, role in ((learner, OnlineLearner, "learner"), (rule, QueryRule, "rule")):
            if not isinstance(part, expected):
                raise InputError(wrong_type_error(part, expected, f"the {role} of a selective sampler"))
        if rule.needs_spread and not hasattr(learner, "spread"):
            raise InputError(f"{rule.name} requires a second-order learner, got {learner.name}.")
        self.learner, self.rule, self.unit = learner, rule, unit
        self.rng = random_stream(seed, "active coin")
        self.n_queries_ = 0
        self._asked: tuple[Any, FloatArray] | None = None

    def ask(self, x: ArrayLike) -> Decision:
        """Return the decision about *x*, shape (features,): margin, prediction, probability, query."""
        row = self._row(x)
        margin, spread = self.learner._view(row)
        p = self.rule.query_probability(row, margin, spread)
        if not 0.0 <= p <= 1.0:
            raise self._invalid_probability(p)
        query = p == 1.0 or (p > 0.0 and bool(self.rng.random() < p))
        self._asked = (x, row)
        return Decision(margin, 1 if margin >= 0 else -1, p, query)

    def tell(self, x: ArrayLike, y: int) -> bool:
        """Learn a queried label.

        Parameters
        ----------
        x : array_like, shape (features,)
            Instance. The object that was passed to the last :meth:`ask` is not validated again.
        y : int
            Label, -1 or +1.

        Returns
        -------
        bool
            Whether the learner changed.
        """
        label = input_checks.check_label(y, self.learner.name)
        row = self._asked[1] if self._asked is not None and self._asked[0] is x else self._row(x)
        self._asked = None
        self.n_queries_ += 1
        is_correct = label * self.learner._view(row)[0] > 0
        updated = self.learner._learn(row, label)
        self.rule.on_label(is_correct)
        return updated

    def run(self, X: ArrayLike, y: ArrayLike) -> Record:
        """Ask and tell row by row, continuing from the current state.

        Parameters
        ----------
        X : array_like, shape (n, features)
            One instance per row.
        y : array_like, shape (n,)
            Labels, -1 or +1. All are validated first, but only queried ones are used.

        Raises
        ------
        InputError
            If the rows or the labels are invalid. The learner stays unchanged.
        """
        rows = input_checks.check_instances(X, self.learner.features, self.learner.name)
        labels = input_checks.check_labels(y, len(rows), self.learner.name).tolist()
        return self._run_rows(rows, labels)

    def _row(self, x: ArrayLike) -> FloatArray:
        row, square = input_checks.check_instance(x, self.learner.features, self.learner.name)
        if self.unit and square:
            return row / math.sqrt(square)
        return row.copy() if row is x else row

    def _scaled(self, rows: FloatArray) -> FloatArray:
        if not self.unit:
            return rows
        lengths = np.sqrt([x.dot(x) for x in rows])  # row by row, bit-for-bit identical to single instances
        return rows / np.where(lengths > 0, lengths, 1.0)[:, None]

    def _run_rows(self, rows: FloatArray, labels: list[int]) -> Record:
        """Run :meth:`ask` and :meth:`tell` over rows. Attribute look-ups are hoisted for speed."""
        view, probability, on_label = self.learner._view, self.rule.query_probability, self.rule.on_label
        learn, draw = self.learner._learn, self.rng.random
        margins, probabilities = np.empty(len(rows)), np.empty(len(rows))
        queried, updated = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
        for number, (x, label) in enumerate(zip(self._scaled(rows), labels, strict=True)):
            margin, spread = view(x)
            p = probability(x, margin, spread)
            if not 0.0 <= p <= 1.0:
                raise self._invalid_probability(p)
            margins[number], probabilities[number] = margin, p
            if p == 1.0 or (p > 0.0 and draw() < p):
                self.n_queries_ += 1
                queried[number], updated[number] = True, learn(x, label)
                on_label(label * margin > 0)
        return Record(np.where(margins >= 0, 1, -1), probabilities, queried, updated)

    def _invalid_probability(self, p: float) -> PluginError:
        return PluginError(f"{self.rule.name}: the query probability must be between 0 and 1, got {p!r}.")
