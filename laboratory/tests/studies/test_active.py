"""Studies of the learners that query labels: rows, verdicts and reports, at the quick scale."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from psm_lab.cli import main
from psm_lab.studies import ACTIVE_STUDIES, load_study
from psm_lab.studies.active import (
    digit_ocr,
    drift,
    perceptrons_on_sphere,
    text_classes,
)
from psm_lab.studies.active.learner_trials import (
    direction,
    judge_claim,
    no_difference,
    resampled_interval,
)
from psm_lab.studies.published_claims import OPEN_AGREEMENT
from psm_lab.studies.study import Scale
from psm_lab.studies.study_runner import reproduce

from psm_sim.common.summary_stats import Interval, confidence_interval

COMMITTED = Path(__file__).resolve().parents[3] / "reports" / "learners" / "numbers.json"
TINY = Scale(replications=2, pages=1, long_pages=1)


def findings_of(name):
    """Return the findings of a study at a tiny scale, run in this process."""
    study = load_study(name)
    (findings,) = reproduce({name: study}, TINY, workers=1)
    return findings


class EasyDigits:
    """Easy digits: ten clouds with 60 images each, of 28 x 28 pixels."""

    def __init__(self):
        rng = np.random.default_rng(1)
        self.digits = np.arange(600) % 10
        centres = rng.random((10, 28 * 28))
        self.images = np.clip(centres[self.digits] + rng.normal(0, 0.05, (600, 28 * 28)), 0, 1)

    def __call__(self):
        """Return images and digits, as the reader of MNIST-5k does."""
        return self.images, self.digits


@pytest.fixture
def easy_images(monkeypatch):
    """Replace MNIST-5k by easy images."""
    digits = EasyDigits()
    for module in (drift, digit_ocr, text_classes):
        monkeypatch.setattr(module, "mnist_file", lambda: "synthetic")
        monkeypatch.setattr(module, "mnist_5k", digits)
    monkeypatch.setattr(text_classes, "LAST", 200)
    caches = (digit_ocr._examples, drift._images)
    for cache in caches:
        cache.cache_clear()
    yield digits
    for cache in caches:
        cache.cache_clear()


@pytest.fixture
def no_images(monkeypatch):
    """Pretend that the images of MNIST-5k are not installed."""
    for module in (drift, digit_ocr, text_classes):
        monkeypatch.setattr(module, "mnist_file", lambda: None)


@pytest.mark.parametrize(
    ("mean", "half", "side", "verdict"),
    [(0.3, 0.2, 1, "agrees"), (0.1, 0.2, 1, "open"), (-0.3, 0.2, 1, "differs"), (-0.3, 0.2, -1, "agrees")],
)
def test_the_verdict_on_a_direction_follows_from_its_interval(mean, half, side, verdict):
    """A claim agrees if the whole interval is on its side of 0, is open around 0, and otherwise differs."""
    claim = direction("s", "a - b", "labels", "here", side=side)
    assert claim.verdict(Interval(mean, half, 5), mean, words=OPEN_AGREEMENT) == verdict
    assert str(claim) == ("above 0" if side > 0 else "below 0")


@pytest.mark.parametrize(("mean", "verdict"), [(0.1, "open"), (0.3, "differs"), (-0.3, "differs")])
def test_the_verdict_on_a_claim_of_no_difference_can_only_be_open_or_differs(mean, verdict):
    """Without a published margin, an interval around 0 decides nothing."""
    claim = no_difference("s", "a - b", "labels", "here")
    assert claim.verdict(Interval(mean, 0.2, 5), mean, words=OPEN_AGREEMENT) == verdict
    assert str(claim) == "no difference"


def test_the_interval_over_folds_is_widened_because_folds_are_dependent():
    """For 20 folds of 5-fold cross validation the factor is the root of 1 + 20 / 4."""
    values = np.arange(20.0)
    plain, corrected = (resampled_interval(values, share) for share in (0.0, 0.2))
    assert plain == confidence_interval(values)
    assert corrected.mean == plain.mean
    assert corrected.half_width == pytest.approx(plain.half_width * 6**0.5)


def test_runs_without_a_value_are_excluded_from_a_claim():
    """A run that never reaches the error has no value."""
    claim = judge_claim(direction("s", "a", "b", "c"), [1.0, np.nan, 1.2])
    assert (claim.ours.replications, claim.verdict) == (2, "open" if claim.ours.low <= 0 else "agrees")
    assert claim.largest == 1.2


def test_the_sphere_study_agrees_with_the_theorems(monkeypatch):
    """Every claim at a tiny scale, the labels of the reference, and the numbers of a figure are present."""
    few = [setting for setting in perceptrons_on_sphere.SETTINGS if setting.features <= 10]
    monkeypatch.setattr(perceptrons_on_sphere, "SETTINGS", few)
    findings = findings_of("sphere")
    assert {claim.verdict for claim in findings.claims} <= {"agrees", "open"}
    assert [claim.verdict for claim in findings.claims].count("agrees") >= 4
    table = findings.tables[0].frame
    dkm = table[table["setting"] == "DKM R = 16, d = 10"]
    assert dkm["labels"].is_monotonic_increasing
    assert set(findings.figures["labels"].columns) == {"setting", "error", "labels"}


def test_the_error_for_missing_images_names_the_package(no_images, capsys):
    """Other studies run."""
    assert main(["text-like", "ocr", "--quick", "--workers", "1"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert output.count("pip install 'psm_lab[digits]'") == 2
    tasks = drift.tasks(TINY, 1)
    assert not any(task.arguments["what"] == "digits" for task in tasks)


def test_every_combination_needs_fewer_than_100_labels_of_easy_images(easy_images):
    """Each combination is tuned to one spec per problem."""
    findings = findings_of("ocr")
    table = findings.tables[0].frame
    assert len(table) == 3 * len(digit_ocr.COMBINATIONS)
    assert table["share that reaches the error"].between(0, 1).all()
    assert table["mean"].min() > 0
    assert (table["median"] < 100).all()
    assert table.loc[0, "published mean"] == 28.02
    assert len(findings.claims) == len(digit_ocr.PAIRS) + 3
    assert {claim.ours.replications for claim in findings.claims} == {1, 3}
    assert sum("Wilcoxon" in remark for remark in findings.remarks) == len(digit_ocr.PAIRS)


def test_a_fold_that_never_reaches_the_target_error_has_no_number_of_labels():
    """The labels contradict each other, so the test error is never small enough."""
    ones, y = np.ones((20, 3)), np.array([1.0, -1.0] * 10)
    assert np.isnan(digit_ocr.labels_until("perceptron", (ones, y, ones, y), 0.1, 2, 1))


def test_the_text_study_has_f_measures_and_rates_that_grow_with_b(easy_images):
    """With all labels of easy images, F is near 1. Rates grow with b, and baselines query at random."""
    findings = findings_of("text-like")
    table = findings.tables[0].frame.set_index(["learner", "queries"])
    assert table.loc[("second order", "every label"), "F"] > 0.9
    rates = table.loc["second order", "rate"].tolist()[1:]
    assert rates == sorted(rates)
    assert table["F of the control"].dropna().between(0, 1).all()
    assert len(findings.claims) == 8
    assert list(findings.figures["f-measure"].columns) == ["learner", "rate", "F"]


def test_the_drift_study_has_every_stream_and_each_learner_with_its_setting(easy_images, monkeypatch):
    """Streams have 600 rounds. Claims compare with the best rival and with random queries."""
    for name in (*drift.STREAM_KINDS, drift.SYNTHETIC):
        monkeypatch.setitem(drift.STREAMS, name, lambda rng: drift.shifting_stream(rng, 600, 10, every=200))
    monkeypatch.setitem(
        drift.STREAMS,
        "digits",
        lambda rng: drift.shifting_digits(rng, drift._images(), easy_images.digits, 300, 100),
    )
    findings = findings_of("drift")
    table = findings.tables[0].frame
    assert set(table["stream"]) == set(drift.STREAMS)
    assert table["accuracy"].between(0.3, 1).all()
    claims = [(claim.published.policy, claim.published.quantity) for claim in findings.claims]
    assert len(set(claims)) == len(claims)
    controls = [claim for claim in findings.claims if claim.published.source == "control, not published"]
    assert [claim for claim in findings.claims if claim.role == "control"] == controls
    assert {claim.published.policy for claim in controls} == {"LASEC-SS - LASEC coin"}
    assert len(controls) == len(drift.STREAM_KINDS) + 2 * len(drift.RATES)
    settings = table.set_index(["stream", "learner"])["setting"]
    assert settings["digits", "shifting"] == "shifting-perceptron:lam=0.0001"
    assert settings["digits", "budget"] == "budget-perceptron:B=1000"
    assert settings["switch 500", "shifting"] == "shifting-perceptron:lam=0.01"
    assert settings["switch 500", "budget"] == "budget-perceptron:B=500"


def test_the_published_wilcoxon_tests_can_be_reproduced_from_table_4_1():
    """The two-sided exact p-values over the seven problems are .0156, .0313, .0156 and .0469."""
    names = list(digit_ocr.COMBINATIONS)
    columns = dict(zip(names, zip(*digit_ocr.PUBLISHED.values(), strict=True), strict=True))
    for first, second, p in (
        ("CBGZperc", "randPerc", 0.0156),
        ("DKMperc", "randPerc", 0.0313),
        ("DKM^2", "randDKM", 0.0156),
        ("DKM^2", "CBGZ_DKM", 0.0469),
    ):
        assert digit_ocr.compare(columns[first], columns[second]).p == pytest.approx(p, abs=6e-5)
    assert digit_ocr.compare([1.0, 2.0], [1.0, 2.0]).p == 1.0


def test_the_committed_numbers_have_every_study():
    """The report has each study once, in the order of the list."""
    studies = json.loads(COMMITTED.read_text(encoding="utf-8"))["studies"]
    assert list(studies) == list(ACTIVE_STUDIES)
    assert all(study["claims"] for study in studies.values())
