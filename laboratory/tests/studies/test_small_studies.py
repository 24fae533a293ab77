"""Each study at a small scale: what must hold of its tables and figures, whatever the pages."""

from __future__ import annotations

import pandas as pd
import pytest
from psm_lab.studies import joint_setting_search, load_study
from psm_lab.studies.bsd_energy import measure_bound
from psm_lab.studies.joint_setting_search import (
    KEYS,
    LEARNED,
    STATIC,
    Score,
    Setting,
    describe_static_psm,
    run_setting,
)
from psm_lab.studies.published_claims import claim_of, published_numbers
from psm_lab.studies.published_experiment_runs import PRESETS
from psm_lab.studies.study import CHOOSING, Findings, Scale
from psm_lab.studies.tasks import run_tasks

from psm_sim.simulation import Scenario
from psm_sim.simulation.preset import Preset

PAIR = Scale(replications=2, pages=12, long_pages=20)
SINGLE = Scale(replications=1, pages=6, long_pages=6)


def found(name: str, scale: Scale) -> Findings:
    """Run a study, and hold it to what must be true of each.

    Remarks, and tables without a hole; every published number that is a claim has ours beside it.
    """
    study = load_study(name)
    findings = study.digest(run_tasks(study.tasks(scale, 1)), scale, 1)
    assert findings.study == name
    assert findings.remarks
    assert findings.tables
    assert not any(table.frame.empty or table.frame.isna().any(axis=None) for table in findings.tables)
    assert not any(frame.empty for frame in findings.figures.values())
    numbers = published_numbers(name)
    assert [claim.published for claim in findings.claims] == numbers * len(findings.presets)
    return findings


def first_number(column: pd.Series[str]) -> pd.Series[float]:
    """Return the first number of each cell: a mean without its interval or its published neighbour."""
    return column.astype(str).str.extract(r"(-?[\d.]+)")[0].astype(float)


def test_bounded_slowdown_saves_energy_and_keeps_its_bound() -> None:
    """Against no power saving: less energy for every policy; a slowdown of at most 1 + p."""
    table = found("bsd-energy", PAIR).tables[0].frame.set_index("policy")
    joules = first_number(table["J/page"])
    assert (joules.drop("always-on") < joules["always-on"]).all()
    slowdowns = first_number(table["slowdown"])
    assert slowdowns["always-on"] == 1.0
    bsd = [policy for policy in slowdowns.index.astype(str) if policy.startswith("bsd:p=")]
    assert len(bsd) >= 3
    assert all(slowdowns[policy] <= 1 + float(policy.removeprefix("bsd:p=")) for policy in bsd)


def test_the_bound_is_measured_where_replies_are_held() -> None:
    """At every p, under every preset: each page's replies at least; a share that is not 1 / (1 + p)."""
    table = found("bsd-energy", PAIR).tables[-1].frame
    for p, (_, row) in zip((1.0, 0.5, 0.2, 0.1), table.iterrows(), strict=True):
        for preset in PRESETS:
            assert row[f"buffered, {preset}"] >= PAIR.pages * PAIR.replications
            assert 1 / (1 + p) + 1e-3 < float(row[f"largest share, {preset}"]) <= 1


def test_an_exchange_that_was_not_held_is_not_measured() -> None:
    """Without server delay BSD with p = 0.1 is awake for every reply: no number, rather than 1 / 1.1."""
    (row,) = measure_bound(0.1, Scenario("ucb:server_delay_ms=none", pages=3, seed=1))
    assert (row["bound"], row["held"]) == (None, 0)


def test_every_page_is_compared_with_its_own_time_without_power_saving() -> None:
    """All policies see the same pages, none of them loads faster than without, and bands are their means."""
    findings = found("slowdown-by-page", PAIR)
    pages = findings.figures["pages"]
    by_policy = [rows for _, rows in pages.groupby("policy")]
    assert len(by_policy) == 5
    reference = by_policy[0]["always_on_time_s"].tolist()
    assert len(reference) == PAIR.long_pages
    assert all(rows["always_on_time_s"].tolist() == reference for rows in by_policy)
    assert pages["slowdown"].min() >= 1.0 - 1e-9
    bands = findings.tables[0].frame.set_index("policy").astype(float)
    means = pages.groupby("policy")["slowdown"].mean().reindex(bands.index)
    assert (bands.min(axis=1) <= means + 0.01).all()
    assert (bands.max(axis=1) >= means - 0.01).all()


def test_sleep_times_are_whole_beacons_within_the_experts_range() -> None:
    """100 to 1200 ms, and quantiles in order."""
    table = found("sleep-times", PAIR).tables[0].frame
    assert set(table["think times"]) == {"mah", "exponential", "gamma:2", "uniform", "constant"}
    quantiles = table[[column for column in table.columns.astype(str) if "%" in column]].astype(float)
    assert ((quantiles >= 100) & (quantiles <= 1200) & (quantiles % 100 == 0)).all(axis=None)
    assert (quantiles.diff(axis=1).iloc[:, 1:] >= 0).all(axis=None)


def test_no_policy_needs_less_than_hindsight_at_its_own_delay() -> None:
    """On the chain the best schedule is a lower bound; in the simulator the floor is."""
    findings = found("optimum", PAIR)
    floors, chain, _ = (table.frame for table in findings.tables)
    assert (first_number(chain["J/page"]) >= first_number(chain["minimum J at that delay"])).all()
    assert (first_number(floors["J/page"]) >= first_number(floors["lower bound J"])).all()
    assert "lull" in floors["policy"].tolist()
    assert set(findings.figures["frontier"]["kind"]) == {"frontier", "policy", "simulated", "floor"}


def test_the_slowdown_of_a_round_trip_is_bounded_at_every_distance() -> None:
    """Thirteen round trips, growing; BSD keeps 1 + p on each of them, and static PSM is slower than BSD."""
    table = found("bsd-rtt", SINGLE).tables[0].frame
    assert table["RTT ms"].is_monotonic_increasing
    assert len(table) == 13
    for p in (1.0, 0.5, 0.2, 0.1):
        assert (first_number(table[f"bsd:p={p:g}"]) <= 1 + p + 0.005).all()
    assert first_number(table["psm"])[0] > first_number(table["bsd:p=1"])[0]


def test_each_variant_is_judged_by_the_same_published_numbers() -> None:
    """The preset comes first; what differs is marked, so the marks and the numbers that agree are all."""
    table = found("sensitivity", SINGLE).tables[0].frame
    assert table["choice"][0] == "preset without changes"
    assert table["choice"].is_unique
    for _, row in table.iterrows():
        agree, judged = map(int, row["agree"].split("/"))
        assert agree + sum(str(cell).endswith(("!", "?")) for cell in row) == judged == 12


def test_the_frontier_of_settings_is_beaten_by_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two settings searched; each is scored with every choice after an uplink packet."""
    dynamic, small_segments = (
        Setting("uniform", "none", True, "650"),
        Setting("mah", "none", False, "none", "ns-2 TCP"),
    )
    monkeypatch.setattr(joint_setting_search, "CANDIDATES", (dynamic,))
    monkeypatch.setattr(joint_setting_search, "GRID", (small_segments,))
    findings = found("one-setting", SINGLE)
    best, judged, choices, delays = (table.frame for table in findings.tables)
    points = findings.figures["settings"]
    assert len(points) == 2 * 4
    for _, point in points[points["frontier"]].iterrows():
        beaten = (points["lpsm"] >= point["lpsm"]) & (points["bsd"] >= point["bsd"])
        equal = (points["lpsm"] == point["lpsm"]) & (points["bsd"] == point["bsd"])
        assert not (beaten & ~equal).any()
    assert len(best) == int(points["frontier"].sum())
    assert set(judged["uplink"]) <= {"one", "restart", "keep"}
    assert len(delays) == 2
    assert set(choices["choice"]) == set(KEYS)


def score(slowdown: float, page_ratio: float) -> Score:
    """Return the score of a setting with these values of static PSM's slowdown and LPSM's page time."""
    number = {each.key: each for study in ("bsd-energy", "lpsm-100") for each in published_numbers(study)}
    static, learned = (
        claim_of(number[key], [value], Preset()) for key, value in ((STATIC, slowdown), (LEARNED, page_ratio))
    )
    return Score(dict.fromkeys(KEYS, "any"), {LEARNED: learned}, {STATIC: static})


def test_the_papers_contradict_each_other_unless_a_setting_agrees_with_both() -> None:
    """With the values of the other number where one agrees; a setting must agree on judging seeds too."""
    apart, lucky = [score(2.2, 1.61), score(2.19, 1.53), score(1.3, 1.19), score(1.0, 1.0)], score(2.2, 1.19)
    text = describe_static_psm(apart, [])
    assert text.startswith("No setting agrees with both papers")
    assert "slowdown (2.2) in 2 of 4 settings. LPSM with 1/log T then takes 1.53 to 1.61 times" in text
    assert text.endswith("agrees in 1 settings. The slowdown is then 1.30 to 1.30.")
    text = describe_static_psm([*apart, lucky], [score(2.17, 1.26)])
    assert text.startswith("No setting agrees with both papers")
    assert text.endswith("a slowdown of 2.17 and a page time of 1.26.")
    assert describe_static_psm([lucky], [lucky]).startswith("A setting agrees with both papers")
    assert "then takes unknown times" in describe_static_psm([score(1.3, 1.19)], [])


def test_think_times_are_scaled_to_static_psms_published_energy() -> None:
    """In whatever setting: static PSM then takes 3.62 J per page."""
    for setting in (Setting("uniform", "800", True), Setting("mah", "none", False, "300", "ns-2 TCP")):
        rows = run_setting(setting, 30, CHOOSING[0])
        psm = next(row for row in rows if row["policy"] == "psm")
        assert psm["energy_j"] == pytest.approx(3.62, rel=2e-3)
        assert len(rows) == 2 + 4 + 2 * 4
