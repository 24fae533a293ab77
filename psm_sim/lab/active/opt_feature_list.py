"""Opt-feature list: the best features for the last level of a tree, for every posterior ([003] 2.2.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from psm_sim.array_types import FloatArray, IntArray
from psm_sim.lab.active.bayes import NaiveBayes


@dataclass(frozen=True)
class OptFeatureList:
    """Opt-feature list: for every x = P(1 | path) the d features of largest accuracy, best first.

    The accuracy of a feature is Acc(F, x) = sum_v max{x P(v|1), (1 - x) P(v|-1)}: a line on every cell.

    Attributes
    ----------
    edges : ndarray, shape (cells + 1,)
        The ends of the cells, from 0 to 1.
    features : ndarray, shape (cells, d)
        The best features; the lower number first where two are equally good.
    slopes, bases : ndarray, shape (cells, d)
        Their accuracies, slope * x + base.
    """

    edges: FloatArray
    features: IntArray
    slopes: FloatArray
    bases: FloatArray

    def at(self, x: FloatArray) -> IntArray:
        """Return the features for posteriors of any shape, 0 to 1, with a last axis of length d."""
        return self.features[self._cell(x)]

    def _cell(self, x: FloatArray) -> IntArray:
        return np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.features) - 1)

    def refined(self, edges: FloatArray) -> OptFeatureList:
        """Return the same list on the cells between *edges*, which hold all of its own."""
        cell = self._cell((edges[1:] + edges[:-1]) / 2)
        return OptFeatureList(edges, self.features[cell], self.slopes[cell], self.bases[cell])


def opt_feature_list(model: NaiveBayes, depth: int) -> OptFeatureList:
    """Return the opt-feature list for trees of a depth, by divide and conquer over the features.

    *depth* candidates are needed, since up to depth - 1 of them may stand on the path already; the text
    keeps one fewer, and then the list can run dry.
    """
    lists = [_one(feature, table) for feature, table in enumerate(model.tables)]
    while len(lists) > 1:
        paired = [merge(lists[i], lists[i + 1], depth) for i in range(0, len(lists) - 1, 2)]
        lists = paired + lists[len(paired) * 2 :]
    return lists[0]


def _one(feature: int, table: FloatArray) -> OptFeatureList:
    """Return the list of one feature: its accuracy bends where a value begins to favour class 1."""
    minus, plus = table
    bends = minus / (plus + minus)
    order = np.argsort(bends, kind="stable")
    rising = np.concatenate([[0.0], np.cumsum(plus[order])])
    falling = np.concatenate([np.cumsum(minus[order][::-1])[::-1], [0.0]])
    edges = np.concatenate([[0.0], bends[order], [1.0]])
    columns = (rising - falling)[:, None], falling[:, None]
    return _joined(OptFeatureList(edges, np.full((edges.size - 1, 1), feature), *columns))


def merge(first: OptFeatureList, second: OptFeatureList, depth: int) -> OptFeatureList:
    """Return the best *depth* of the features of two lists that share none.

    Parameters
    ----------
    first, second : OptFeatureList
        The lists.
    depth : int
        The number of candidates to keep, at least 1.
    """
    edges = np.union1d(first.edges, second.edges)
    edges = np.union1d(edges, _crossings(first.refined(edges), second.refined(edges)))
    sides = first.refined(edges), second.refined(edges)
    features = np.hstack([side.features for side in sides])
    slopes, bases = np.hstack([side.slopes for side in sides]), np.hstack([side.bases for side in sides])
    heights = slopes * ((edges[1:] + edges[:-1]) / 2)[:, None] + bases
    best = np.lexsort((features, -heights), axis=-1)[:, :depth]
    rows = np.arange(len(best))[:, None]
    return _joined(OptFeatureList(edges, features[rows, best], slopes[rows, best], bases[rows, best]))


def _crossings(first: OptFeatureList, second: OptFeatureList) -> FloatArray:
    """Return where lines of one list cross lines of the other inside a common cell."""
    steeper = first.slopes[:, :, None] - second.slopes[:, None, :]
    higher = second.bases[:, None, :] - first.bases[:, :, None]
    parallel = steeper == 0
    where = higher / np.where(parallel, 1.0, steeper)
    left, right = first.edges[:-1, None, None], first.edges[1:, None, None]
    found: FloatArray = where[~parallel & (left < where) & (where < right)]
    return found


def _joined(found: OptFeatureList) -> OptFeatureList:
    """Join neighbouring cells with the same lines, and drop cells without width."""
    real = np.diff(found.edges) > 0
    features, slopes, bases = found.features[real], found.slopes[real], found.bases[real]
    new = np.ones(len(features), dtype=bool)
    for each in (features, slopes, bases):
        new[1:] &= (each[1:] == each[:-1]).all(axis=1)
    new[1:] = ~new[1:]
    edges = np.append(found.edges[:-1][real][new], 1.0)
    return OptFeatureList(edges, features[new], slopes[new], bases[new])
