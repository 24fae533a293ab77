"""OPTNBDT: the tree of fixed depth with the highest expected accuracy under naive Bayes ([003] chapter 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from psm_lab.active.decision_trees import Tree, TreeLearner
from psm_lab.active.naive_bayes import NaiveBayes
from psm_sim.common.array_types import FloatArray, IntArray


@dataclass(frozen=True)
class OptFeatureList:
    """The d most accurate features for every posterior x = P(1 | path), best first.

    The accuracy of a feature is Acc(F, x) = sum_v max{x P(v|1), (1 - x) P(v|-1)}. It is linear on every cell.

    Attributes
    ----------
    edges : ndarray, shape (cells + 1,)
        Edges of the cells, from 0 to 1.
    features : ndarray, shape (cells, d)
        Best features; ties go to the lower index.
    slopes, bases : ndarray, shape (cells, d)
        Accuracies of the features, slope * x + base.
    """

    edges: FloatArray
    features: IntArray
    slopes: FloatArray
    bases: FloatArray

    def at(self, x: FloatArray) -> IntArray:
        """Return the features for posteriors of any shape, 0 to 1; the result has a last axis of length d."""
        return self.features[self._cell(x)]

    def _cell(self, x: FloatArray) -> IntArray:
        return np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.features) - 1)

    def refined(self, edges: FloatArray) -> OptFeatureList:
        """Return the same list with finer cells; *edges* must include all current edges."""
        cell = self._cell((edges[1:] + edges[:-1]) / 2)
        return OptFeatureList(edges, self.features[cell], self.slopes[cell], self.bases[cell])


def opt_feature_list(model: NaiveBayes, depth: int) -> OptFeatureList:
    """Return the opt-feature list for trees of a depth, by divide and conquer over the features.

    The list has *depth* candidates, because the path may already test up to depth - 1 of them. The algorithm
    of [003] keeps only depth - 1 candidates, so the path may have tested all of them.
    """
    lists = [_single_feature_list(feature, table) for feature, table in enumerate(model.tables)]
    while len(lists) > 1:
        merged = [merge(lists[i], lists[i + 1], depth) for i in range(0, len(lists) - 1, 2)]
        lists = merged + lists[len(merged) * 2 :]
    return lists[0]


def _single_feature_list(feature: int, table: FloatArray) -> OptFeatureList:
    """Return the opt-feature list of a single feature.

    The slope of its accuracy changes where a value begins to favour class 1. *table* has P(v|-1) and P(v|1).
    """
    minus, plus = table
    kinks = minus / (plus + minus)
    order = np.argsort(kinks, kind="stable")
    rising = np.concatenate([[0.0], np.cumsum(plus[order])])
    falling = np.concatenate([np.cumsum(minus[order][::-1])[::-1], [0.0]])
    edges = np.concatenate([[0.0], kinks[order], [1.0]])
    columns = (rising - falling)[:, None], falling[:, None]
    return _join_cells(OptFeatureList(edges, np.full((edges.size - 1, 1), feature), *columns))


def merge(first: OptFeatureList, second: OptFeatureList, depth: int) -> OptFeatureList:
    """Return the *depth* best features of two lists without common features.

    Parameters
    ----------
    first, second : OptFeatureList
        Lists to merge.
    depth : int
        Number of candidates to keep, at least 1.
    """
    edges = np.union1d(first.edges, second.edges)
    edges = np.union1d(edges, _crossings(first.refined(edges), second.refined(edges)))
    sides = first.refined(edges), second.refined(edges)
    features = np.hstack([side.features for side in sides])
    slopes, bases = np.hstack([side.slopes for side in sides]), np.hstack([side.bases for side in sides])
    heights = slopes * ((edges[1:] + edges[:-1]) / 2)[:, None] + bases
    best = np.lexsort((features, -heights), axis=-1)[:, :depth]
    rows = np.arange(len(best))[:, None]
    return _join_cells(OptFeatureList(edges, features[rows, best], slopes[rows, best], bases[rows, best]))


def _crossings(first: OptFeatureList, second: OptFeatureList) -> FloatArray:
    """Return where lines of one list cross lines of the other inside a common cell."""
    steeper = first.slopes[:, :, None] - second.slopes[:, None, :]
    higher = second.bases[:, None, :] - first.bases[:, :, None]
    parallel = steeper == 0
    crossing = higher / np.where(parallel, 1.0, steeper)
    left, right = first.edges[:-1, None, None], first.edges[1:, None, None]
    inside: FloatArray = crossing[~parallel & (left < crossing) & (crossing < right)]
    return inside


def _join_cells(cells: OptFeatureList) -> OptFeatureList:
    """Join neighbouring cells with the same lines, and drop cells of width 0."""
    is_wide = np.diff(cells.edges) > 0
    features, slopes, bases = cells.features[is_wide], cells.slopes[is_wide], cells.bases[is_wide]
    new = np.ones(len(features), dtype=bool)
    for values in (features, slopes, bases):
        new[1:] &= (values[1:] == values[:-1]).all(axis=1)
    new[1:] = ~new[1:]
    edges = np.append(cells.edges[:-1][is_wide][new], 1.0)
    return OptFeatureList(edges, features[new], slopes[new], bases[new])


_TIE = 1e-12  # rounding errors

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
        """Return the value and the feature of the best last test: the first listed feature not on *path*."""
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
