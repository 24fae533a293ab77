"""Decision trees of fixed depth over nominal features: the exhaustive optimum and ID3 ([003] 2.3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from psm_lab.active import input_checks
from psm_lab.active.naive_bayes import NaiveBayes, number_of_values
from psm_sim.common.array_types import BoolArray, FloatArray, IntArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter

_TIE = 1e-12  # rounding errors


@dataclass(frozen=True)
class Tree:
    """Decision tree: an inner node tests a feature and has a branch per value; a leaf has no branches.

    Attributes
    ----------
    label : int
        Prediction of the node as a leaf, -1 or 1.
    feature : int
        Index of the tested feature; -1 for a leaf.
    branches : tuple of Tree
        One branch per value of the feature.
    """

    label: int
    feature: int = -1
    branches: tuple[Tree, ...] = ()

    @property
    def depth(self) -> int:
        """Maximum number of tests on a path; 0 for a leaf."""
        return 1 + max(branch.depth for branch in self.branches) if self.branches else 0

    def predict(self, x: ArrayLike) -> IntArray:
        """Return -1 or 1 for coded instances, shape (n, d).

        A value without a branch gets the label of the node.
        """
        codes = input_checks.check_codes(x, None, "the tree")
        labels = np.full(len(codes), self.label)
        for value, branch in enumerate(self.branches):
            subset = codes[:, self.feature] == value
            if subset.any():
                labels[subset] = branch.predict(codes[subset])
        return labels


def expected_accuracy(tree: Tree, model: NaiveBayes, plus: float = -1.0, minus: float = -1.0) -> float:
    """Return the accuracy of *tree* under a naive Bayes model ([003] (2.1)).

    Parameters
    ----------
    tree : Tree
        Tree.
    model : NaiveBayes
        Model.
    plus, minus : float
        P(path, 1) and P(path, -1) at the root of *tree*; a negative value selects the class priors.
    """
    if plus < 0:
        minus, plus = model.prior.tolist()
    if not tree.branches:
        return plus if tree.label > 0 else minus
    table = model.tables[tree.feature]
    return sum(
        expected_accuracy(branch, model, plus * float(table[1, v]), minus * float(table[0, v]))
        for v, branch in enumerate(tree.branches)
    )


class TreeLearner(ABC):
    """Base class of learners of trees of fixed depth, with ``fit`` and ``predict``.

    Parameters
    ----------
    depth : int
        Maximum number of tests on a path, at least 1.
    """

    name: ClassVar[str] = ""
    max_depth: ClassVar[int] = 5

    def __init__(self, depth: int = 3) -> None:
        self.depth = Parameter("depth", 3, at_least=1, at_most=self.max_depth).check(depth, self.name)
        self.features: int | None = None
        self.tree = Tree(1)

    def fit(self, x: ArrayLike, y: ArrayLike, values: Sequence[int] | None = None) -> TreeLearner:
        """Learn a tree and return the learner.

        Parameters
        ----------
        x : array_like, shape (n, d)
            Nominal features as codes 0, 1, ...; d is at least the depth.
        y : array_like, shape (n,)
            Labels, -1 or 1.
        values : sequence of int, length d, optional
            Number of values of each feature (default: the highest code plus 1).
        """
        codes = input_checks.check_codes(x, None, self.name)
        labels = input_checks.check_labels(y, len(codes), self.name)
        if codes.shape[1] < self.depth:
            features = codes.shape[1]
            raise InputError(
                f"{self.name}: depth must be <= {features}, the number of features, got {self.depth}."
            )
        self.tree = self._grow(codes, labels, number_of_values(codes, values))
        self.features = codes.shape[1]
        return self

    def predict(self, x: ArrayLike) -> IntArray:
        """Return -1 or 1 for instances of shape (n, d)."""
        return self.tree.predict(input_checks.check_codes(x, self.features, self.name))

    @abstractmethod
    def _grow(self, codes: IntArray, labels: IntArray, values: list[int]) -> Tree:
        """Return the tree for validated data."""


class ExhaustiveTree(TreeLearner):
    """OPTDT, the tree of a depth from 1 to 3 that classifies the most training instances correctly.

    Depth 1 is a decision stump. Ties between features go to the lower index. An empty or evenly divided
    branch predicts the label of its parent.
    """

    name = "exhaustive"
    max_depth = 3

    def _grow(self, codes: IntArray, labels: IntArray, values: list[int]) -> Tree:
        return _Counts(codes, labels, values).tree(np.arange(len(codes)), self.depth, 1)


class _Counts:
    """Counts of labels by value, by pair of values and so on, computed from one-hot rows."""

    def __init__(self, codes: IntArray, labels: IntArray, values: list[int]) -> None:
        starts = np.concatenate([[0], np.cumsum(values)])
        self._columns = [np.arange(a, b) for a, b in pairwise(starts.tolist())]
        self._codes, self._positive = codes, labels > 0
        self._hot: FloatArray = np.zeros((len(codes), int(starts[-1])))
        self._hot[np.arange(len(codes))[:, None], codes + starts[:-1]] = 1
        self._feature_of_column = np.repeat(np.arange(len(values)), values)

    def tree(self, rows: IntArray, levels: int, fallback: int) -> Tree:
        """Return the best tree for some rows.

        Parameters
        ----------
        rows : ndarray of int
            Indices of the rows.
        levels : int
            Maximum depth.
        fallback : int
            Label of a branch without rows.
        """
        label = majority_tree(self._positive[rows], fallback)
        if levels == 0 or not rows.size:
            return Tree(label)
        feature = int(self._right(rows, levels).argmax())
        branches = (
            self.tree(rows[self._codes[rows, feature] == value], levels - 1, label)
            for value in range(self._columns[feature].size)
        )
        return Tree(label, feature, tuple(branches))

    def _right(self, rows: IntArray, levels: int) -> FloatArray:
        """Return the number of correctly classified rows for each first test, shape (d,).

        The tests below the first one are chosen optimally.
        """
        if levels == 1:
            positive = self._positive[rows]
            right = np.maximum(self._hot[rows[positive]].sum(axis=0), self._hot[rows[~positive]].sum(axis=0))
            return self._per_feature(right)
        if levels == 2:
            return self._per_feature(self._pairs(rows))
        parts = (rows[self._hot[rows, column] > 0] for column in range(self._hot.shape[1]))
        values = [self._right(part, levels - 1).max() for part in parts]
        return self._per_feature(np.array(values))

    def _pairs(self, rows: IntArray) -> FloatArray:
        """Return, for each value, how many of its rows the best second test classifies correctly."""
        positive = self._positive[rows]
        plus, minus = (self._hot[rows[subset]] for subset in (positive, ~positive))
        right = np.maximum(plus.T @ plus, minus.T @ minus)
        tests = np.stack([right[:, columns].sum(axis=1) for columns in self._columns], axis=1)
        best: FloatArray = tests.max(axis=1)
        return best

    def _per_feature(self, by_value: FloatArray) -> FloatArray:
        sums: FloatArray = np.bincount(
            self._feature_of_column, by_value, minlength=len(self._columns)
        ).astype(np.float64)
        return sums


class EntropyTree(TreeLearner):
    """ID3 of limited depth: each node tests the feature with the least remaining entropy.

    Ties between features go to the lower index, and a pure node is a leaf. An empty or evenly divided branch
    predicts the label of its parent.
    """

    name = "entropy"

    def _grow(self, codes: IntArray, labels: IntArray, values: list[int]) -> Tree:
        return self._node(codes, labels > 0, values, self.depth, 1, frozenset())

    def _node(
        self,
        codes: IntArray,
        positive: BoolArray,
        values: list[int],
        levels: int,
        fallback: int,
        path: frozenset[int],
    ) -> Tree:
        label = majority_tree(positive, fallback)
        if levels == 0 or positive.all() or not positive.any():
            return Tree(label)
        entropies = [entropy_left(codes[:, f], positive, r) for f, r in enumerate(values)]
        entropies = [np.inf if f in path else entropy for f, entropy in enumerate(entropies)]
        feature = int(np.argmax(np.array(entropies) <= min(entropies) + _TIE))
        branches = []
        for value in range(values[feature]):
            subset = codes[:, feature] == value
            below = path | {feature}
            branches.append(self._node(codes[subset], positive[subset], values, levels - 1, label, below))
        return Tree(label, feature, tuple(branches))


def majority_tree(positive: BoolArray, fallback: int) -> int:
    """Return the majority label, -1 or 1; *fallback* for a tie or without instances."""
    lead = 2 * int(positive.sum()) - positive.size
    return fallback if lead == 0 else 1 if lead > 0 else -1


def entropy_left(column: IntArray, positive: BoolArray, r: int) -> float:
    """Return the conditional entropy of the label given a feature, in bits.

    Parameters
    ----------
    column : ndarray, shape (n,)
        Values of the feature, 0 to r - 1.
    positive : ndarray of bool, shape (n,)
        Whether each label is 1.
    r : int
        Number of values.
    """
    from scipy.special import entr

    plus = np.bincount(column[positive], minlength=r)
    minus = np.bincount(column[~positive], minlength=r)
    total = np.maximum(plus + minus, 1)
    bits = entr(plus / total) + entr(minus / total)
    return float(total @ bits / np.log(2) / max(column.size, 1))
