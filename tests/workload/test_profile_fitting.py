"""Profiles fitted to recordings."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from psm_sim.workload import load_workload
from psm_sim.workload.profile_fitting import exact_quantiles, fit_profile, fit_quantiles, write_profile
from psm_sim.workload.recordings.recording_reader import read_page_recording
from psm_sim.workload.trace_profile import berkeley_profile, read_profile
from tests.workload.recordings.ucb_files import write_sampled

RECORDS = 30_000
PUBLISHED = berkeley_profile()


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory):
    """Return a file of sampled pages, and its recording."""
    path = tmp_path_factory.mktemp("synthetic") / "s.tr.gz"
    write_sampled(path, RECORDS, clients=27)
    return path, read_page_recording(path)


def within_sampling_error(table, values, probabilities):
    """Return whether the share of values up to each quantile is its probability, to 4 standard errors."""
    for p in probabilities:
        value = float(table.at(p))
        share = (values <= value * (1 + 1e-9) + 1e-6).mean()
        if abs(share - p) > 4 * np.sqrt(p * (1 - p) / values.size) + 1e-3:
            return False
    return True


def test_a_fit_to_sampled_pages_reproduces_the_published_quantiles(synthetic) -> None:
    """The tolerance is the sampling error; a table that is 15 % off is detected."""
    fit = fit_profile(synthetic[1], "s")
    pairs = {"think_s": "think_s", "main_bytes": "reply_bytes", "image_bytes": "reply_bytes"}
    u = (np.arange(5000) + 0.5) / 5000
    middle = np.arange(2, 20) / 20
    for mine, theirs in (pairs | {"server_delay_s": "server_delay_s"}).items():
        drawn, table = fit.tables[mine].at(u), PUBLISHED.tables[theirs]
        below_cap = middle if mine != "server_delay_s" else middle[:-2]
        assert within_sampling_error(table, drawn, below_cap), mine
        assert not within_sampling_error(table, drawn * 1.15, below_cap), mine
        assert fit.tables[mine].mean == pytest.approx(table.mean, rel=0.12)
    shares = fit.tables["files_per_page"], PUBLISHED.tables["files_per_page"]
    assert [shares[0].probability(n) for n in range(1, 20)] == pytest.approx(
        [shares[1].probability(n) for n in range(1, 20)], abs=4 * np.sqrt(0.25 / synthetic[1].pages)
    )


def test_a_fit_takes_missing_quantities_from_published_tables_and_gives_a_warning(synthetic) -> None:
    """The UCB format has no request sizes."""
    fit = fit_profile(synthetic[1], "s")
    assert fit.tables["request_bytes"] is not None
    assert fit.tables["request_bytes"].mean == PUBLISHED.tables["request_bytes"].mean
    assert "request_bytes from published tables" in fit.remark
    assert fit.synthetic


def test_a_written_profile_can_be_read_again_and_used_as_a_trace(synthetic, tmp_path: Path) -> None:
    """Tables are bit-for-bit equal, and both profiles give the same pages."""
    fit = fit_profile(synthetic[1], 's "q" \\ \n')
    path = tmp_path / "my.toml"
    write_profile(path, fit)
    back = read_profile(path)
    assert dataclasses.replace(back, tables={}) == dataclasses.replace(fit, tables={})
    for name, table in fit.tables.items():
        assert back.tables[name].values.tolist() == table.values.tolist()
        assert back.tables[name].probabilities.tolist() == table.probabilities.tolist()
    assert len(load_workload(str(path), 25, 1).pages) == 25


def test_sampling_from_a_recording_uses_its_fitted_profile(synthetic, tmp_path: Path) -> None:
    """--trace FILE:workload=sample and --trace my.toml give the same pages."""
    path = synthetic[0]
    sampled = load_workload(f"{path}:workload=sample", 40, 5)
    write_profile(tmp_path / "my.toml", fit_profile(synthetic[1], path.name))
    assert sampled.pages == load_workload(str(tmp_path / "my.toml"), 40, 5).pages
    assert sampled.synthetic
    assert "fitted to" in sampled.remark
    assert max(page.think_s for page in sampled.pages) <= 1000


def test_fitted_tables_and_exact_tables_agree_with_hand_computed_tables() -> None:
    """Integers have their exact shares; the fit selects the interpolation that conserves the mean."""
    table = exact_quantiles(np.array([1, 1, 2, 5]))
    assert (table.probabilities.tolist(), table.values.tolist()) == ([0.5, 0.75, 1.0], [1, 2, 5])
    assert fit_quantiles(np.arange(1, 10_001)).interpolation == "linear"
    assert fit_quantiles(np.exp(np.arange(1, 10_001) / 1000)).interpolation == "log"
    assert fit_quantiles(np.array([0.0, 1.0])).interpolation == "linear"
