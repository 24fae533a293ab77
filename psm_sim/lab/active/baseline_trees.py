"""Baseline trees: the exhaustive optimum on the training data, and ID3 of limited depth ([003] 2.3)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from psm_sim.common.array_types import BoolArray, FloatArray, IntArray
from psm_sim.lab.active.decision_trees import Tree, TreeLearner

_TIE = 1e-12


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
        """Return, per value, the rows with this value that the best second test classifies correctly."""
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
