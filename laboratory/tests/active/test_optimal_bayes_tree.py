"""OPTNBDT, the optimal tree of a naive Bayes model, compared with exhaustive search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psm_lab.active.decision_trees import EntropyTree, ExhaustiveTree, Tree, expected_accuracy
from psm_lab.active.naive_bayes import NaiveBayes
from psm_lab.active.optimal_bayes_tree import OptNbdt, best_tree, opt_feature_list
from psm_lab.studies.active.decision_trees import brute_force

from psm_sim.common.errors import InputError


def random_model(seed, least=3, most=6):
    """Return a naive Bayes model of a few features of 2 to 4 values."""
    rng = np.random.default_rng(seed)
    plus = rng.uniform(0.05, 0.95)
    sizes = rng.integers(2, 5, rng.integers(least, most + 1))
    return NaiveBayes(np.array([1 - plus, plus]), tuple(rng.dirichlet(np.ones(r), 2) for r in sizes))


def accuracy(table, x):
    """Return Acc(F, x) as (2.4) defines it."""
    return np.maximum(x * table[1], (1 - x) * table[0]).sum()


def test_the_tree_is_optimal_on_60_random_models():
    """At depths 1 to 3 the list value and the accuracy of the tree equal exhaustive search to 1e-12."""
    for seed in range(60):
        model = random_model(seed)
        tables = [table.tolist() for table in model.tables]
        for depth in (1, 2, 3):
            tree, value = best_tree(model, depth)
            best = brute_force(tables, frozenset(), depth, model.prior[1], model.prior[0])
            assert abs(value - best) < 1e-12
            assert abs(expected_accuracy(tree, model) - best) < 1e-12
            assert tree.depth == depth


def test_a_tree_of_depth_four_is_optimal():
    """The recursion covers the levels above the last two, on small models."""
    for seed in range(4):
        model = random_model(seed, 4, 4)
        tables = [table.tolist() for table in model.tables]
        best = brute_force(tables, frozenset(), 4, model.prior[1], model.prior[0])
        assert abs(best_tree(model, 4)[1] - best) < 1e-12


@given(st.integers(0, 10_000), st.floats(0, 1), st.integers(1, 3))
def test_the_list_has_the_features_of_largest_accuracy_in_order(seed, x, depth):
    """The order is right at any posterior."""
    model = random_model(seed)
    heights = np.array([accuracy(table, x) for table in model.tables])
    listed = opt_feature_list(model, depth).at(np.array(x))
    assert len(set(listed.tolist())) == depth
    assert heights[listed] == pytest.approx(np.sort(heights)[::-1][:depth], abs=1e-12)


def test_the_list_has_at_most_one_cell_per_level_feature_and_value():
    """The bound is D r n_f cells, for 12 to 96 features of 4 values."""
    for features in (12, 24, 48, 96):
        rng = np.random.default_rng(features)
        tables = tuple(rng.dirichlet(np.ones(4), 2) for _ in range(features))
        listed = opt_feature_list(NaiveBayes(np.array([0.5, 0.5]), tables), 2)
        assert listed.features.shape[0] <= 2 * 4 * features
        assert listed.edges[0] == 0
        assert listed.edges[-1] == 1
        assert (np.diff(listed.edges) > 0).all()


def test_features_of_equal_value_are_tested_in_the_order_of_their_index():
    """Of three copies of one feature, the tree tests 0 first, then 1."""
    table = np.array([[0.7, 0.3], [0.2, 0.8]])
    model = NaiveBayes(np.array([0.5, 0.5]), (table, table, table))
    tree = best_tree(model, 2)[0]
    assert tree.feature == 0
    assert {branch.feature for branch in tree.branches} == {1}
    assert (opt_feature_list(model, 3).features == [0, 1, 2]).all()


def test_naive_bayes_adds_one_to_every_count():
    """The probabilities of four instances of one feature with three values are computed by hand."""
    model = NaiveBayes.fit([[0], [0], [1], [2]], [1, 1, 1, -1], [3])
    assert model.prior == pytest.approx([2 / 6, 4 / 6])
    assert model.tables[0] == pytest.approx(np.array([[1 / 4, 1 / 4, 2 / 4], [3 / 6, 2 / 6, 1 / 6]]))
    assert model.predict([[0], [2]]).tolist() == [1, -1]
    assert model.decision_function([[2]])[0] == pytest.approx(np.log((4 / 6 * 1 / 6) / (2 / 6 * 2 / 4)))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_no_tree_of_id3_or_exhaustive_search_has_a_higher_expected_accuracy(depth):
    """The expectation is under the model fitted to the data."""
    rng = np.random.default_rng(depth)
    x = rng.integers(0, 3, (200, 6))
    y = np.where((x[:, 0] == 1) ^ (x[:, 1] == 2) ^ (rng.random(200) < 0.2), 1, -1)
    model, ours = NaiveBayes.fit(x, y), OptNbdt(depth).fit(x, y).tree
    for rival in (ExhaustiveTree(depth).fit(x, y).tree, EntropyTree(depth).fit(x, y).tree):
        assert expected_accuracy(ours, model) >= expected_accuracy(rival, model) - 1e-12


def test_an_expected_accuracy_agrees_with_the_hand_computed_accuracy():
    """One feature gives max{.5 * .7, .5 * .2} + max{.5 * .3, .5 * .8}."""
    model = NaiveBayes(np.array([0.5, 0.5]), (np.array([[0.7, 0.3], [0.2, 0.8]]),))
    assert expected_accuracy(Tree(1, 0, (Tree(-1), Tree(1))), model) == pytest.approx(0.75)
    assert best_tree(model, 1)[1] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"x": [[0, -1]]}, "codes"),
        ({"y": [2]}, r"-1 or \+1"),
        ({"values": [1, 0]}, "at least"),
        ({"depth": 3}, "features"),
    ],
)
def test_invalid_data_are_an_error(changes, fault):
    """Wrong codes, labels, numbers of values and depths are invalid."""
    arguments = {"x": [[0, 1]], "y": [1], "values": None, "depth": 1, **changes}
    with pytest.raises(InputError, match=fault):
        OptNbdt(arguments["depth"]).fit(arguments["x"], arguments["y"], arguments["values"])
