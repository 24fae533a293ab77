"""Studies of the learners that select instances from pools, at tiny sizes."""

import pandas as pd
import pytest
from psm_lab.active.data.uci_tables import UciTable, load_table
from psm_lab.reporting.figures.figure_registry import draw
from psm_lab.studies import ACTIVE_STUDIES, load_study
from psm_lab.studies.active import (
    decision_trees,
    isal_1d,
    isal_planes,
    isalp_and_pool_rules,
    lmu_image_selection,
)
from psm_lab.studies.active.reference_results import curves, paired_differences, reference_table
from psm_lab.studies.study import Scale
from psm_lab.studies.study_runner import reproduce

MINE = ("isal-1d", "isal-planes", "isal-pool", "trees", "lmu")
TINY = Scale(replications=2, pages=1, long_pages=1)


def few_columns(name):
    """Return a table with every sixth row and eight columns."""
    whole = load_table(name)
    return UciTable(name, whole.x[::6, :8], whole.numeric[:8], whole.y[::6])


@pytest.fixture
def small(monkeypatch):
    """Make every trial small; the columns keep their names."""
    monkeypatch.setattr(isal_1d, "THRESHOLDS", 4)
    monkeypatch.setattr(isal_planes, "LABELS", (5, 6, 7, 8))
    monkeypatch.setattr(isalp_and_pool_rules, "LABELS", (5, 6, 7, 8))
    monkeypatch.setattr(lmu_image_selection, "POOL", 8)
    monkeypatch.setattr(lmu_image_selection, "TEST", 3)
    monkeypatch.setattr(decision_trees, "load_table", few_columns)
    monkeypatch.setattr(
        decision_trees, "TREES", {name: decision_trees.TREES[name] for name in ("votes", "crx", "chess")}
    )


@pytest.mark.parametrize("name", ACTIVE_STUDIES)
def test_trials_of_a_study_have_distinct_keys_that_depend_on_the_seed(name):
    """Equal seeds give equal keys, at full and at quick scale."""
    for scale in (TINY, Scale(10, 1, 1)):
        keys, again, other = (
            [task.key() for task in load_study(name).tasks(scale, seed)] for seed in (3, 3, 90)
        )
        assert len(set(keys)) == len(keys)
        assert keys == again
        assert set(keys) != set(other) or not keys  # without the images of digits there are none


@pytest.mark.parametrize("name", MINE)
def test_every_study_has_claims_and_tables_and_a_figure(name, small):
    """Claims have verdicts, and tables have reference values."""
    (findings,) = reproduce({name: load_study(name)}, TINY, workers=1)
    assert findings.study == name
    assert {claim.verdict for claim in findings.claims} <= {"agrees", "open", "differs"}
    assert len(findings.claims) >= 6
    assert all(len(table.frame) for table in findings.tables)
    for key, frame in findings.figures.items():
        figure, caption = draw(key, frame)
        assert len(figure.axes[0].lines) == frame.iloc[:, 0].nunique()
        assert caption.startswith("Mean")


def test_a_table_has_each_mean_and_its_reference_in_brackets():
    """A missing run leaves an empty cell."""
    frame = pd.DataFrame({"who": ["a", "a", "b"], "x": [0.1, 0.3, None], "y": [1.0, 1.0, 2.0]})
    table_ = reference_table(frame, "who", ["x", "y"], {"a": (0.25, None)})
    assert table_.to_numpy().tolist() == [["a", "0.200 ± 1.271 (0.250)", "1.000 ± 0.000"], ["b", "", "2.000"]]


def test_differences_are_paired_by_seed():
    """The order of the rows does not matter."""
    frame = pd.DataFrame({"seed": [1, 2, 2, 1], "who": ["a", "a", "b", "b"], "x": [5.0, 7.0, 1.0, 2.0]})
    assert paired_differences(frame, "who", "x", ("a", "b")).tolist() == [3, 6]


def test_columns_whose_names_are_numbers_are_drawn_as_a_curve():
    """The curve has a point per column, at its number."""
    frame = pd.DataFrame({"who": ["a", "a"], "1 image": [0.2, 0.4], "10 images": [0.5, 0.7]})
    curve = curves(frame, "who", ["1 image", "10 images"], "F")
    assert curve["bought"].tolist() == [1, 10]
    assert curve["F"].tolist() == pytest.approx([0.3, 0.6])
