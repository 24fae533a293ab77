"""Trials of the trees, with repeated 5-fold cross-validation and the distance from brute force."""

from __future__ import annotations

from typing import Any

import numpy as np

from psm_sim.common.random_streams import random_stream
from psm_sim.lab.active.baseline_trees import EntropyTree, ExhaustiveTree
from psm_sim.lab.active.data.tictactoe import tictactoe_endgames
from psm_sim.lab.active.data.uci_tables import UciTable, load_table
from psm_sim.lab.active.decision_trees import expected_accuracy
from psm_sim.lab.active.naive_bayes import NaiveBayes
from psm_sim.lab.active.optimal_bayes_tree import OptNbdt, best_tree

LEARNERS = ("NB", "3-ID3", "1-OPT", "2-OPT", "3-OPT", "2-NBDT", "3-NBDT", "4-NBDT")
LARGE = ("chess", "german")
"""Tables with a single repeat of the cross-validation and without trees of depth 4."""


def folds_of(name: str, seed: int) -> list[dict[str, Any]]:
    """Return the errors of all learners, one row per fold.

    Parameters
    ----------
    name : str
        ``"tic-tac-toe"`` or a bundled table.
    seed : int
        Seed of the folds.
    """
    table = _data(name)
    fold = random_stream(seed, "folds").permutation(len(table.y)) % 5
    return [
        {"table": name, "seed": seed, "fold": number, **_errors(table, fold == number)} for number in range(5)
    ]


def _errors(table: UciTable, test: Any) -> dict[str, float]:
    """Return the error of each learner on the rows *test*, fitted to the other rows."""
    train, errors = np.flatnonzero(~test), {}
    codes = table.coded(train)
    values = (codes.max(axis=0) + 1).tolist()
    for learner in LEARNERS[:-1] if table.name in LARGE else LEARNERS:
        fitted = _make_learner(learner).fit(codes[train], table.y[train], values)
        errors[learner] = float(np.mean(fitted.predict(codes[test]) != table.y[test]))
    return errors


def _data(name: str) -> UciTable:
    if name != "tic-tac-toe":
        return load_table(name)
    boards, y = tictactoe_endgames()
    return UciTable(name, boards.astype(np.float64), np.zeros(9, dtype=np.bool_), y)


def _make_learner(learner: str) -> Any:
    """Return an unfitted learner by a name such as ``3-NBDT``."""
    depth, _, kind = learner.partition("-")
    kinds: dict[str, Any] = {"ID3": EntropyTree, "OPT": ExhaustiveTree, "NBDT": OptNbdt}
    return kinds[kind](int(depth)) if kind else NaiveBayes


def models_of(models: int, seed: int) -> list[dict[str, Any]]:
    """Return the largest distance of the trees of depth 1 to 3 from brute force, one row per random model.

    Parameters
    ----------
    models : int
        Number of models.
    seed : int
        Seed of the models.
    """
    return [{"distance": _distance(random_stream(seed, "models", number))} for number in range(models)]


def _distance(rng: np.random.Generator) -> float:
    plus, sizes = rng.uniform(0.05, 0.95), rng.integers(2, 5, rng.integers(3, 7))
    model = NaiveBayes(np.array([1 - plus, plus]), tuple(rng.dirichlet(np.ones(r), 2) for r in sizes))
    tables, distances = [table.tolist() for table in model.tables], []
    for depth in (1, 2, 3):
        best = brute_force(tables, frozenset(), depth, plus, 1 - plus)
        tree, value = best_tree(model, depth)
        distances += [abs(value - best), abs(expected_accuracy(tree, model) - best)]
    return max(distances)


def brute_force(tables: list[Any], path: frozenset[int], levels: int, plus: float, minus: float) -> float:
    """Return the highest accuracy of any tree below a path, by exhaustive search.

    Parameters
    ----------
    tables : list of ndarray, shape (2, values)
        P(value | class) of each feature, the negative class first.
    path : frozenset of int
        Features that are tested above.
    levels : int
        Number of remaining tests.
    plus, minus : float
        Joint probability of the path and the positive class, and of the path and the negative class.
    """
    if levels == 0:
        return max(plus, minus)
    return max(
        sum(
            brute_force(tables, path | {feature}, levels - 1, plus * up, minus * down)
            for down, up in zip(*tables[feature], strict=True)
        )
        for feature in range(len(tables))
        if feature not in path
    )
