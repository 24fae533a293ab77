"""Studies of published savings: laws of committed tables and of their parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from psm_lab.studies.bsd_energy import measure_bound
from psm_lab.studies.joint_setting_search import (
    KEYS,
    LEARNED,
    STATIC,
    Setting,
    describe_static_psm,
    frontier_of,
    run_setting,
    score,
)
from psm_lab.studies.published_claims import claim_of, published_numbers
from psm_lab.studies.study import CHOOSING

from psm_sim.simulation import Scenario
from psm_sim.simulation.preset import Preset

REPORT = Path(__file__).resolve().parents[3] / "reports" / "reproduction" / "numbers.json"


@pytest.fixture(scope="module")
def tables() -> dict[str, list[pd.DataFrame]]:
    """Return the tables of each study of the committed report. Another test holds them to the simulator."""
    studies: dict[str, Any] = json.loads(REPORT.read_text(encoding="utf-8"))["studies"]
    return {
        name: [pd.DataFrame(table["rows"], columns=table["columns"]) for table in study["tables"]]
        for name, study in studies.items()
    }


def first_number(column: pd.Series[str]) -> pd.Series[float]:
    """Return the first number of each cell: a mean without its interval or its published neighbour."""
    return column.astype(str).str.extract(r"(-?[\d.]+)")[0].astype(float)


def test_the_bound_of_bsd_has_no_measured_value_if_no_reply_is_buffered() -> None:
    """Without server delay, BSD with p = 0.1 is awake for every reply."""
    (row,) = measure_bound(0.1, Scenario("ucb:server_delay_ms=none", pages=3, seed=1))
    assert (row["bound"], row["held"]) == (None, 0)


def test_no_policy_needs_less_energy_than_the_offline_optimum_of_equal_delay(
    tables: dict[str, list[pd.DataFrame]],
) -> None:
    """The best schedule is a lower bound on the chain; the simulator has a lower bound of its own."""
    floors, chain, _ = tables["optimum"]
    assert (first_number(chain["J/page"]) >= first_number(chain["minimum J at that delay"])).all()
    assert (first_number(floors["J/page"]) >= first_number(floors["lower bound J"])).all()
    assert "lull" in floors["policy"].tolist()


def scores(*values: tuple[float, float]) -> pd.DataFrame:
    """Return the scores of settings with these values of static PSM's slowdown and LPSM's page time."""
    number = {
        number_.key: number_ for study in ("one-setting", "lpsm-100") for number_ in published_numbers(study)
    }
    return pd.DataFrame(
        score(
            dict.fromkeys(KEYS, "any"),
            [
                claim_of(number[key], [value], Preset())
                for key, value in zip((STATIC, LEARNED), pair, strict=True)
            ],
        )
        for pair in values
    )


def test_no_setting_on_the_frontier_is_dominated_by_another_setting() -> None:
    """The first of two settings that agree with equally many numbers represents both."""
    both, static, learned, none = (2.2, 1.19), (2.2, 1.6), (1.3, 1.19), (1.0, 1.0)
    assert list(frontier_of(scores(none, static, learned)).index) == [2, 1]
    assert list(frontier_of(scores(none, static, both, learned, both)).index) == [2]


def test_the_two_papers_contradict_each_other_unless_one_setting_agrees_with_both_papers() -> None:
    """A setting must agree on judging seeds, too."""
    apart, lucky = [(2.2, 1.61), (2.19, 1.53), (1.3, 1.19), (1.0, 1.0)], (2.2, 1.19)
    never = scores(lucky).iloc[:0]
    text = describe_static_psm(scores(*apart), never)
    assert text.startswith("No setting agrees with both papers")
    assert "slowdown (2.2) in 2 of 4 settings. LPSM with 1/log T then takes 1.53 to 1.61 times" in text
    assert text.endswith("agrees in 1 settings. The slowdown is then 1.30 to 1.30.")
    text = describe_static_psm(scores(*apart, lucky), scores((2.17, 1.26)))
    assert text.startswith("No setting agrees with both papers")
    assert text.endswith("a slowdown of 2.17 and a page time of 1.26.")
    assert describe_static_psm(scores(lucky), scores(lucky)).startswith("A setting agrees with both papers")
    assert "then takes unknown times" in describe_static_psm(scores((1.3, 1.19)), never)


def test_think_times_are_scaled_so_that_static_psm_has_its_published_energy() -> None:
    """Static PSM takes 3.62 J per page in each setting."""
    for setting in (Setting("uniform", "800", True), Setting("mah", "none", False, "300", "ns-2 TCP")):
        rows = run_setting(setting, 30, CHOOSING[0])
        psm = next(row for row in rows if row["policy"] == "psm")
        assert psm["energy_j"] == pytest.approx(3.62, rel=2e-3)
        assert len(rows) == 2 + 4 + 2 * 4
