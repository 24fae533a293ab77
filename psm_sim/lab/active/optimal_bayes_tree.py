"""OPTNBDT: the tree of fixed depth with the highest expected accuracy under naive Bayes ([003] chapter 2)."""

from __future__ import annotations

import numpy as np

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.lab.active.decision_trees import Tree, TreeLearner
from psm_sim.lab.active.naive_bayes import NaiveBayes
from psm_sim.lab.active.optimal_feature_list import OptFeatureList, opt_feature_list

_TIE = 1e-12

Path = frozenset[int]


class OptNbdt(TreeLearner):
    """OPTNBDT, the best tree of a depth from 1 to 5 under a naive Bayes model of the data.

    For n_f features of r values it takes O(n_f |S| + (r n_f)^(d-1) d log(r n_f)) time, and O(d r n_f) memory
    for the list.
    """

    name = "optnbdt"

    def _grow(self, codes: IntArray, labels: IntArray, values: list[int]) -> Tree:
        return best_tree(NaiveBayes.fit(codes, labels, values), self.depth)[0]


def best_tree(model: NaiveBayes, depth: int) -> tuple[Tree, float]:
    """Return the tree of highest expected accuracy under *model*, and that accuracy.

    Parameters
    ----------
    model : NaiveBayes
        Model.
    depth : int
        Number of tests on each path, 1 to the number of features.
    """
    minus, plus = model.prior.tolist()
    search = _Search(model, opt_feature_list(model, depth))
    value, _ = search.best(frozenset(), depth, plus, minus)
    return search.tree(frozenset(), depth, plus, minus), value


class _Search:
    """Search for the best test at each node.

    A path is described by its tested features and by *plus* = P(path, 1) and *minus* = P(path, -1).
    """

    def __init__(self, model: NaiveBayes, last: OptFeatureList) -> None:
        self._tables = [(table[1].tolist(), table[0].tolist()) for table in model.tables]
        self._plus, self._minus = model.padded()
        self._last = last

    def best(self, path: Path, levels: int, plus: float, minus: float) -> tuple[float, int]:
        """Return the value of the best subtree of *levels* tests, and its first feature.

        See the class for *path*, *plus* and *minus*.
        """
        if levels == 1:
            return self._one_level(path, plus, minus)
        if levels == 2:
            values = self._two_levels(path, plus, minus)
        else:
            values = np.array([self._value(path, f, levels, plus, minus) for f in range(len(self._tables))])
        feature = int(np.argmax(values >= values.max() - _TIE))
        return float(values[feature]), feature

    def _value(self, path: Path, feature: int, levels: int, plus: float, minus: float) -> float:
        """Return the value of testing *feature* first; -1 if the path has already tested it."""
        if feature in path:
            return -1.0
        below = path | {feature}
        children = zip(*self._tables[feature], strict=True)
        return sum(
            self.best(below, levels - 1, plus * p_plus, minus * p_minus)[0] for p_plus, p_minus in children
        )

    def _one_level(self, path: Path, plus: float, minus: float) -> tuple[float, int]:
        """Return value and feature of the last test: the first listed feature that is not on the path."""
        listed = self._last.at(np.array(plus / (plus + minus))).tolist()
        feature = next(candidate for candidate in listed if candidate not in path)
        children = zip(*self._tables[feature], strict=True)
        return sum(max(plus * p_plus, minus * p_minus) for p_plus, p_minus in children), feature

    def _two_levels(self, path: Path, plus: float, minus: float) -> FloatArray:
        """Return the value of each feature as the second-to-last test, shape (d,).

        All list look-ups are vectorised.
        """
        plus_below, minus_below = plus * self._plus, minus * self._minus
        reached = plus_below + minus_below
        listed = self._last.at(plus_below / np.where(reached > 0, reached, 1.0))
        used = listed == np.arange(len(self._tables))[:, None, None]
        for feature in path:
            used |= listed == feature
        first = np.take_along_axis(listed, used.argmin(axis=2)[:, :, None], axis=2)[:, :, 0]
        right = np.maximum(
            plus_below[:, :, None] * self._plus[first], minus_below[:, :, None] * self._minus[first]
        )
        values: FloatArray = right.sum(axis=(1, 2))
        values[list(path)] = -1.0
        return values

    def tree(self, path: Path, levels: int, plus: float, minus: float) -> Tree:
        """Return the best subtree of *levels* tests; see the class for *path*, *plus* and *minus*."""
        label = 1 if plus >= minus else -1
        if levels == 0:
            return Tree(label)
        feature = self.best(path, levels, plus, minus)[1]
        children = zip(*self._tables[feature], strict=True)
        below = path | {feature}
        branches = (
            self.tree(below, levels - 1, plus * p_plus, minus * p_minus) for p_plus, p_minus in children
        )
        return Tree(label, feature, tuple(branches))
