"""Decision trees of fixed depth over nominal features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import IntArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.naive_bayes import NaiveBayes, number_of_values


@dataclass(frozen=True)
class Tree:
    """Decision tree: an inner node tests a feature and has one branch per value, a leaf has no branches.

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

    def text(self, names: Sequence[str] | None = None, indent: str = "") -> str:
        """Return the tree as lines ``feature = value: label``; *names* are the names of the features."""
        if not self.branches:
            return f"{self.label:+d}"
        name, lines = names[self.feature] if names else f"x{self.feature}", []
        for value, branch in enumerate(self.branches):
            gap = "\n" if branch.branches else " "
            lines.append(f"{indent}{name} = {value}:{gap}{branch.text(names, indent + '  ')}")
        return "\n".join(lines)


def expected_accuracy(tree: Tree, model: NaiveBayes, plus: float = -1.0, minus: float = -1.0) -> float:
    """Return the accuracy of *tree* under a naive Bayes model ([003] (2.1)).

    Parameters
    ----------
    tree : Tree
        Tree.
    model : NaiveBayes
        Model.
    plus, minus : float
        P(path, 1) and P(path, -1) at the root of *tree*; below 0 they are the class priors.
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
