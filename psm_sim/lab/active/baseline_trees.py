"""Rival trees: the exhaustive optimum on the training data, and ID3 stopped early ([003] 2.3)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from psm_sim.array_types import BoolArray, FloatArray, IntArray
from psm_sim.lab.active.trees import Tree, TreeLearner

_TIE = 1e-12


class ExhaustiveTree(TreeLearner):
    """OPTDT: the tree of a depth, 1 to 3, with the most training instances right; a stump at depth 1.

    Equally good features go to the lower number; an empty or evenly divided branch predicts as its parent
    would.
    """

    name = "exhaustive"
    deepest = 3

    def _grow(self, codes: IntArray, labels: IntArray, values: list[int]) -> Tree:
        return _Counts(codes, labels, values).tree(np.arange(len(codes)), self.depth, 1)


class _Counts:
    """Counts of label by value, by pair of values, and so on, from one-hot rows."""

    def __init__(self, codes: IntArray, labels: IntArray, values: list[int]) -> None:
        starts = np.concatenate([[0], np.cumsum(values)])
        self._columns = [np.arange(a, b) for a, b in pairwise(starts.tolist())]
        self._codes, self._positive = codes, labels > 0
        self._hot: FloatArray = np.zeros((len(codes), int(starts[-1])))
        self._hot[np.arange(len(codes))[:, None], codes + starts[:-1]] = 1
        self._owner = np.repeat(np.arange(len(values)), values)

    def tree(self, rows: IntArray, levels: int, fallback: int) -> Tree:
        """Return the best tree for some rows; *fallback* is the label without any."""
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
        """Return the instances that the best tree gets right whose first test is each feature, shape (d,)."""
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
        """Return, for each value, the instances with it that the best further test gets right."""
        positive = self._positive[rows]
        up, down = (self._hot[rows[where]] for where in (positive, ~positive))
        right = np.maximum(up.T @ up, down.T @ down)
        tests = np.stack([right[:, columns].sum(axis=1) for columns in self._columns], axis=1)
        found: FloatArray = tests.max(axis=1)
        return found

    def _per_feature(self, by_value: FloatArray) -> FloatArray:
        found: FloatArray = np.bincount(self._owner, by_value, minlength=len(self._columns)).astype(
            np.float64
        )
        return found


class EntropyTree(TreeLearner):
    """ID3 stopped at a depth: each node tests the feature that leaves the least entropy.

    Equally good features go to the lower number, a pure node is a leaf, an empty or evenly divided
    branch predicts as its parent would.
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
        left = [entropy_left(codes[:, f], positive, r) for f, r in enumerate(values)]
        left = [np.inf if f in path else each for f, each in enumerate(left)]
        feature = int(np.argmax(np.array(left) <= min(left) + _TIE))
        branches = []
        for value in range(values[feature]):
            there = codes[:, feature] == value
            below = path | {feature}
            branches.append(self._node(codes[there], positive[there], values, levels - 1, label, below))
        return Tree(label, feature, tuple(branches))


def majority_tree(positive: BoolArray, fallback: int) -> int:
    """Return the label, -1 or 1, of most instances, shape (n,); *fallback* if there is none or a tie."""
    ahead = 2 * int(positive.sum()) - positive.size
    return fallback if ahead == 0 else 1 if ahead > 0 else -1


def entropy_left(column: IntArray, positive: BoolArray, r: int) -> float:
    """Return the mean entropy, in bits, of the label once a feature is known.

    Parameters
    ----------
    column : ndarray, shape (n,)
        The feature's values, 0 to r - 1.
    positive : ndarray of bool, shape (n,)
        Where the label is 1.
    r : int
        The number of values.
    """
    from scipy.special import entr

    up = np.bincount(column[positive], minlength=r)
    down = np.bincount(column[~positive], minlength=r)
    total = np.maximum(up + down, 1)
    bits = entr(up / total) + entr(down / total)
    return float(total @ bits / np.log(2) / max(column.size, 1))
