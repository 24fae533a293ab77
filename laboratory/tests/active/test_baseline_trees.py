"""Baseline trees, and the tables for their comparison."""

import numpy as np
import pytest
from psm_lab.active.data.uci_tables import UciTable, load_table
from psm_lab.active.decision_trees import EntropyTree, ExhaustiveTree, Tree


def brute_force(x, y, path, levels):
    """Return the maximum number of instances that a tree of *levels* levels classifies correctly."""
    if levels == 0:
        return max((y > 0).sum(), (y < 0).sum())
    return max(
        sum(brute_force(x[x[:, f] == v], y[x[:, f] == v], path | {f}, levels - 1) for v in np.unique(x[:, f]))
        for f in range(x.shape[1])
        if f not in path
    )


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_exhaustive_tree_classifies_as_many_instances_correctly_as_brute_force(depth):
    """The tables are small and random, with noise."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(0, 3, (40, 4)), rng.choice([-1, 1], 40)
        right = (ExhaustiveTree(depth).fit(x, y).predict(x) == y).sum()
        assert right == brute_force(x, y, frozenset(), depth)


def test_id3_stops_at_pure_nodes_and_breaks_ties_by_the_lower_index():
    """Feature 1 decides the label, and feature 2 is its copy."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]])
    tree = EntropyTree(3).fit(x, [1, 1, -1, -1]).tree
    assert tree == Tree(1, 1, (Tree(1), Tree(-1)))


def test_empty_and_tied_branches_predict_the_label_of_their_parent():
    """Value 2 never occurs, and value 1 has one instance of each label."""
    x = [[0], [0], [0], [1], [1]]
    for learner in (ExhaustiveTree(1), EntropyTree(1)):
        fitted = learner.fit(x, [-1, -1, -1, 1, -1], [3])
        assert fitted.predict([[0], [1], [2]]).tolist() == [-1, -1, -1]


def test_a_value_without_a_branch_gets_the_label_of_the_node():
    """The tree tests feature 1, then feature 0."""
    tree = Tree(1, 1, (Tree(1), Tree(-1, 0, (Tree(-1), Tree(1)))))
    assert tree.predict([[0, 0], [1, 1], [1, 7]]).tolist() == [1, 1, 1]


def test_in_tic_tac_toe_player_x_wins_626_of_the_958_final_boards():
    """On each board, x has as many marks as o or one more, and at most one player has won."""
    table = load_table("tic-tac-toe")
    x, y = table.x, table.y
    assert x.shape == (958, 9)
    assert (y == 1).sum() == 626
    crosses, noughts = (x == 1).sum(axis=1), (x == 2).sum(axis=1)
    assert set((crosses - noughts).tolist()) == {0, 1}
    assert len(np.unique(x, axis=0)) == 958
    assert (crosses[y == 1] == noughts[y == 1] + 1).all()


@pytest.mark.parametrize(
    ("name", "rows", "features", "values"),
    [
        ("votes", 232, 16, 32),
        ("crx", 653, 15, None),
        ("chess", 3196, 36, 73),
        ("breast", 277, 9, 41),
        ("german", 1000, 20, None),
        ("vehicle", 846, 18, None),
    ],
)
def test_bundled_tables_have_the_specified_sizes(name, rows, features, values):
    """The sizes are the numbers of rows, of features, and of values of the nominal features."""
    table = load_table(name)
    assert table.x.shape == (rows, features)
    assert set(table.y.tolist()) == {-1, 1}
    if values is not None:
        assert sum(len(np.unique(column)) for column in table.x.T) == values


def test_numeric_features_are_split_at_the_quartiles_of_the_training_rows():
    """Rows outside the training part do not change the quartiles, and nominal features are unchanged."""
    x = np.array([[0.0, 5], [1, 5], [2, 6], [3, 6], [100, 7]])
    table = UciTable("synthetic", x, np.array([True, False]), np.ones(5, dtype=np.intp))
    assert table.coded(np.arange(4))[:, 0].tolist() == [0, 1, 2, 3, 3]
    assert table.coded(np.arange(4))[:, 1].tolist() == [5, 5, 6, 6, 7]
