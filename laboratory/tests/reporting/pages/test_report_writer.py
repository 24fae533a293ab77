"""The report on published claims: tables, verdicts and figures; atomic and reproducible."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from psm_lab.reporting import claim_tables
from psm_lab.reporting import terminal_findings as terminal
from psm_lab.reporting.figures import figure_registry as study_figures
from psm_lab.reporting.pages import report_writer
from psm_lab.reporting.study_numbers import numbers_of, to_plain
from psm_lab.studies.published_claims import Claim, PublishedNumber
from psm_lab.studies.study import Findings, Table

from psm_sim.common.errors import InputError
from psm_sim.common.summary_stats import Interval

POLICIES = ["always-on", "psm", "bsd:p=1", "lpsm:loss=inverse-log"]
FRAMES = {
    "energy": pd.DataFrame(
        {
            "policy": POLICIES,
            "awake_j": [41, 0.1, 0.3, 0.1],
            "asleep_j": [0, 2.7, 2.7, 2.7],
            "beacons_j": 0.5,
            "hindsight_j": 2.9,
            "published_j": [np.nan, 3.62, np.nan, 2.95],
            "published_beacons_j": [np.nan, 0.92, np.nan, 0.25],
        }
    ),
    "slowdown": pd.DataFrame(
        {
            "policy": POLICIES,
            "slowdown": [1, 1.2, 1.1, 1.4],
            "slowdown_half_width": [0, 0.1, 0.02, 0.05],
            "over_psm": [0.8, 1, 0.9, 1.2],
            "over_psm_half_width": 0.02,
            "published": [np.nan, np.nan, np.nan, 1.19],
        }
    ),
    "round-trips": pd.DataFrame(
        [
            {"rtt_ms": rtt, "policy": policy, "time_ratio": 1 + 10 / rtt, "energy_j": 3.0, "reference": known}
            for policy, known in (("psm", 1.5), ("bsd:p=0.1", None))
            for rtt in (10, 40, 600)
        ]
    ),
    "pages": pd.DataFrame(
        {"policy": ["psm", "psm", "bsd:p=1"], "always_on_time_s": [0.2, 3, 1], "slowdown": [2, 1.1, 1.5]}
    ),
    "sleep-times": pd.DataFrame(
        {"loss": ["inverse", "inverse", "inverse-log"], "time_s": [0, 5, 1], "sleep_ms": [100, 200, 1200]}
    ),
    "frontier": pd.DataFrame(
        {
            "kind": ["frontier", "frontier", "policy", "policy"],
            "label": ["", "", "psm", "always-on"],
            "delay_s": [0, 0.2, 0.1, 0],
            "energy_j": [2.9, 2.8, 3.6, 41],
        }
    ),
    "settings": pd.DataFrame(
        {
            "lpsm": [8, 6, 6, 2],
            "bsd": [3, 4, 2, 6],
            "frontier": [True, True, False, True],
            "setting": ["think uniform, server 800 ms, x"] * 4,
        }
    ),
    "trade-off": pd.DataFrame(
        {
            "group": ["BSD", "Fixed-share", "Fixed-share", "Learn-alpha"],
            "policy": ["bsd:p=1", "Static-expert", "Fixed-share 0.1", "Learn-alpha"],
            "slowdown": [1.2, 1.3, 1.6, 1.4],
            "slowdown_ci95": 0.01,
            "energy_mj": [600, 480, 420, 430],
            "energy_mj_ci95": 1.0,
        }
    ),
    "regret": pd.DataFrame(
        {
            "gamma": ["published"] * 3 + ["1e-05"] * 3,
            "alpha": [0, 1e-3, 0.1] * 2,
            "fixed_share": [2.0, -10.0, 500.0] * 2,
            "fixed_share_ci95": 1.0,
            "learn_alpha": -5.0,
            "learn_alpha_ci95": 1.0,
        }
    ),
    "polling": pd.DataFrame(
        {
            "learner": ["Learn-alpha"] * 3 + ["Static-expert"] * 3,
            "minutes": [0, 1, 2] * 2,
            "polling_ms": [100, 600, 200] * 2,
            "regime": ["quiet", "quiet", "busy"] * 2,
        }
    ),
}


def a_claim(verdict: str = "agrees", **number: object) -> Claim:
    """Return a claim of static PSM's energy; the simulated value is 3.60 J."""
    facts = {"value": 3.62, "unit": 0.01, **number}
    published = PublishedNumber("synthetic", "psm", "energy_j", "a book, page 3", **facts)  # type: ignore[arg-type]
    return Claim(published, Interval(3.6, 0.05, 10), 3.75, verdict)


@pytest.fixture
def findings() -> list[Findings]:
    """Return a study with all elements of a report."""
    table = pd.DataFrame({"policy": ["psm", "a|b"], "J": [3.6, np.nan], "n": [1, 2]})
    claims = [
        a_claim(),
        a_claim("differs"),
        a_claim("not comparable", not_comparable="another trace"),
        a_claim(value=None, at_most=4.0),
    ]
    return [
        Findings(
            "synthetic",
            "Synthetic",
            "two of *these*",
            ["A remark."],
            ["A thought."],
            [Table("Means", table)],
            claims,
            figures=FRAMES,
        ),
        Findings("bare", "Nothing", "nothing"),
    ]


def with_figures(findings: list[Findings], *names: str) -> list[Findings]:
    """Return the findings with these figures alone."""
    return [replace(findings[0], figures={name: FRAMES[name] for name in names}), *findings[1:]]


def test_the_page_states_the_rule_and_the_command_and_the_seed_and_every_claim(
    tmp_path: Path, findings: list[Findings]
) -> None:
    """A claim has its values, interval, difference, verdict and source. Links lead to existing files."""
    keys = ("energy", "frontier")
    report_writer.write_report(
        tmp_path, with_figures(findings, *keys), 7, "python -m psm_lab synthetic --seed 7"
    )
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert claim_tables.RULE in page
    assert "python -m psm_lab synthetic --seed 7" in page
    assert "psm_sim 0.1.0 wrote this report with first seed 7" in page
    row = "psm | energy, J per page | 3.62 | 3.600 ± 0.050 | -0.020 (-0.6 %) | agrees | a book, page 3 |"
    assert row in page
    assert "| not comparable: another trace |" in page
    assert "| \\<= 4 | 3.750 (largest) |" in page
    assert "2 agree, 1 differ, 1 not comparable" in page
    assert "* A remark." in page
    assert "Commentary:\n\n* A thought.\n" in page
    assert "two of \\*these\\*" in page
    assert r"| a\|b |  | 2 |" in page
    for key in keys:
        assert f"](figures/synthetic-{key}.svg)" in page
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        f"synthetic-{key}.svg" for key in keys
    }


def test_the_same_findings_give_the_same_bytes(tmp_path: Path, findings: list[Findings]) -> None:
    """Figures are compared, too; the folder has no other files."""
    for name in ("one", "two"):
        report_writer.write_report(
            tmp_path / name, with_figures(findings, "energy", "frontier"), 1, "command"
        )
    files = {name: sorted((tmp_path / name).rglob("*")) for name in ("one", "two")}
    assert [path.name for path in files["one"]] == [path.name for path in files["two"]]
    assert len(files["one"]) == 3 + 2
    for one, two in zip(files["one"], files["two"], strict=True):
        assert one.is_dir() or one.read_bytes() == two.read_bytes(), one.name


def test_a_report_that_fails_does_not_change_the_earlier_report(
    tmp_path: Path, findings: list[Findings], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All bytes are equal, and no temporary file remains."""
    report_writer.write_report(tmp_path, with_figures(findings, "energy"), 1, "before")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full_disk(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report_writer, "page_of", full_disk)
    with pytest.raises(InputError, match="No space"):
        report_writer.write_report(tmp_path, findings[1:], 1, "after")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("key", FRAMES)
def test_every_axis_has_a_unit_or_is_a_pure_number(key: str) -> None:
    """Legends are outside the axes, so they cover no data."""
    figure, caption = study_figures.draw(key, FRAMES[key])
    assert caption.endswith(".")
    labels = [axes.get_ylabel() for axes in figure.axes if axes.get_visible()]
    labels += [text.get_text() for text in (figure._supylabel, figure._supxlabel) if text is not None]
    assert any(labels)
    assert all("(" in label or "slowdown" in label or "over" in label for label in labels if label)
    assert all(axes.get_legend() is None for axes in figure.axes)


def test_the_numbers_of_findings_are_valid_json(findings: list[Findings]) -> None:
    """A missing number is null."""
    numbers = numbers_of(findings, 3)
    read = json.loads(json.dumps(numbers, allow_nan=False))
    assert read == numbers
    assert list(read["studies"]) == ["synthetic", "bare"]
    study = read["studies"]["synthetic"]
    assert study["tables"][0]["rows"] == [["psm", 3.6, 1], ["a|b", None, 2]]
    claim = study["claims"][0]
    assert (claim["mean"], claim["half_width"], claim["difference"]) == (3.6, 0.05, -0.02)
    assert to_plain(np.float64(1 / 3)) == 0.3333333333


def test_standard_output_has_the_claims_and_tables_and_remarks_and_rule_of_the_page(
    findings: list[Findings],
) -> None:
    stream = io.StringIO()
    terminal.write_findings(findings, stream)
    text = stream.getvalue()
    assert "synthetic: Synthetic" in text
    assert "3.600 ± 0.050" in text
    assert "4 claims: 2 agree, 1 differ, 1 not comparable." in text
    assert "* A remark.\nCommentary:\n* A thought.\n" in text
