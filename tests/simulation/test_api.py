"""The Python functions: arguments, results and representations."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import psm_sim
from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.network import Observer, Topology
from psm_sim.policies import Policy, Rest
from psm_sim.workload import Workload, load_workload
from psm_sim.workload.page_list import as_workload
from tests.page_rows import page_rows

FRAME = pd.DataFrame({"think_s": [5.0, 2.5], "main_bytes": [1000, 4000], "images": ["100;200", ""]})


class Counting(Policy):
    """Receive every third beacon, and count the decisions."""

    name = "counting"

    def __init__(self, beacons: int = 3) -> None:
        self.beacons = beacons
        self.decisions = 0

    def rest(self, now_s: float, since_uplink_s: float, poll: Any) -> Rest:
        """Count and doze."""
        self.decisions += 1
        return Rest(beacons=self.beacons)


class Demanding(Counting):
    """Policy that requires an argument."""

    def __init__(self, beacons: int) -> None:
        super().__init__(beacons)


def test_a_policy_class_is_instantiated_and_the_result_has_the_final_state_of_the_instance() -> None:
    mine = Counting()
    one, other = psm_sim.simulate(mine, pages=2), psm_sim.simulate(Counting, pages=2)
    assert page_rows(one) == page_rows(other)
    assert mine.decisions == 0
    assert one.policy_state.decisions == other.policy_state.decisions > 0


@pytest.mark.parametrize(
    "images", [FRAME["images"], [[100, 200], []], [np.array([100, 200]), []], ["100;200", None]]
)
def test_a_trace_argument_may_be_a_dataframe_or_a_list_of_pages_or_a_workload(images: Any) -> None:
    frame = FRAME.assign(images=images)
    pages = as_workload(frame).pages
    runs = [
        psm_sim.simulate("psm", trace=trace)
        for trace in (frame, pages, Workload("mine", tuple(pages), False, "mine"))
    ]
    assert [page.image_bytes for page in pages] == [(100, 200), ()]
    assert page_rows(runs[0]) == page_rows(runs[1]) == page_rows(runs[2])
    assert [run.facts["trace"] for run in runs] == ["DataFrame", "pages", "mine"]


def test_a_dataframe_column_with_at_most_one_image_per_page_may_be_numeric() -> None:
    """In pandas, integers with missing values become floating-point numbers."""
    pages = as_workload(FRAME.assign(images=[100, float("nan")])).pages
    assert [page.image_bytes for page in pages] == [(100,), ()]


def test_a_topology_argument_may_be_a_nested_or_a_dotted_dictionary() -> None:
    """The dictionary overrides three-node, or the topology that it extends; settings override it."""
    runs = [
        psm_sim.simulate("always-on", pages=1, topology={"power": {"awake_w": 1.5}}),
        psm_sim.simulate("always-on", pages=1, topology={"power.awake_w": 1.5}),
        psm_sim.simulate("always-on", pages=1, settings={"power.awake_w": 1.5}),
        psm_sim.simulate("always-on", pages=1, topology={}, settings={"power.awake_w": "1.5"}),
    ]
    assert len({run.energy_per_page_j for run in runs}) == 1
    extended = psm_sim.simulate("psm", pages=1, topology={"extends": "modern", "power.awake_w": 1.5})
    assert extended.energy_per_page_j != runs[0].energy_per_page_j


def test_the_arguments_preset_and_loss_and_seeds_act_as_on_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = (
        "--policy lpsm --loss inverse --preset thesis --pages 2 --replications 2 --workers 1 --format json"
    )
    assert main(words.split()) == 0
    (shown,) = json.loads(capsys.readouterr().out)["runs"]
    run = psm_sim.simulate("lpsm", loss="inverse", preset="thesis", pages=2, replications=2, workers=1)
    assert {**shown, "wall_s": 0} == {**run.to_dict(), "wall_s": 0}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"policy": 3}, "policy must be a name, FILE.py:CLASS, a Policy class or a Policy instance, got 3"),
        ({"policy": Demanding}, "Policy class Demanding cannot be instantiated without arguments"),
        ({"trace": 7}, "trace must be a name or file, a list of Page"),
        ({"topology": 5}, "topology must be a name, a .toml file, a dictionary of keys or a Topology, got 5"),
        ({"topology": {"power": {"awake": 1}}}, "topology: Unknown topology key 'power.awake'"),
        ({"topology": {"power": {"awake_w": {}}}}, "topology: power: awake_w must be a number >= 0"),
        (
            {"topology": Topology(), "settings": {"tcp.initial_window": 4}},
            "conflicts with a Topology instance",
        ),
        ({"settings": ["tcp.initial_window=4"]}, "settings must be a dictionary of topology keys, got ["),
        ({"observers": 5}, "observers must be a list of Observer, got 5"),
        ({"workers": 0}, "workers must be an integer >= 1"),
        (
            {"battery": "x"},
            "battery must be a capacity > 0 and at most 1e+09 mAh, e.g. 2000mAh or 2Ah, got 'x'",
        ),
        ({"replications": 2, "observers": [Observer()]}, "got an average of several runs of"),
    ],
)
def test_the_input_error_for_an_invalid_argument_names_the_argument(
    arguments: dict[str, Any], words: str
) -> None:
    """The error has no inner traceback, and the message no options of the command line."""
    with pytest.raises(InputError) as raised:
        psm_sim.simulate(**{"pages": 1, "workers": 1, **arguments})
    assert words in str(raised.value)
    assert "--" not in str(raised.value)


def test_a_file_argument_may_be_a_string_or_a_path(tmp_path: Path) -> None:
    """The files are traces, topologies, profiles and presets."""
    (tmp_path / "pages.csv").write_text("page,think_s,main_bytes,images\n1,2.0,1000,\n")
    (tmp_path / "home.toml").write_text("[power]\nawake_w = 0.6\n")
    (tmp_path / "mine.toml").write_text('description = "mine"\n[settings]\n"power.asleep_w" = 0.02\n')
    files = {name: tmp_path / f"{name}" for name in ("pages.csv", "home.toml", "mine.toml")}
    one, other = (
        psm_sim.simulate(
            "psm",
            trace=convert(files["pages.csv"]),
            topology=convert(files["home.toml"]),
            preset=convert(files["mine.toml"]),
        )
        for convert in (str, Path)
    )
    assert page_rows(one) == page_rows(other)
    assert one.facts == other.facts


def test_a_battery_adds_its_life_in_days_to_the_result() -> None:
    result = psm_sim.simulate("psm", pages=1, profile="esp32", battery="2Ah")
    values = result.to_dict()
    assert values["battery_days"] == pytest.approx(2000 / values["mean_current_ma"] / 24)


@pytest.mark.parametrize(
    ("name", "named"), [("slowdown", "one of slowdown.mean,"), ("energy_per_pag", "energy_per_page_j")]
)
def test_a_key_error_of_a_result_names_the_nearest_keys(name: str, named: str) -> None:
    with pytest.raises(KeyError, match=named):
        psm_sim.simulate("psm", pages=1)[name]


def test_every_dataframe_has_columns_for_policy_and_trace_and_seed() -> None:
    """DataFrames of several seeds can therefore be concatenated."""
    settings = {"power.awake_w": 1}
    table = psm_sim.compare(["psm", "bsd"], pages=2, seed=4, settings=settings, baselines=False).frame
    assert list(table["policy"]) == ["psm", "bsd"]
    pages = psm_sim.simulate("psm", pages=2, seed=4, settings=settings).pages
    for frame in (table, pages):
        facts = frame[["trace", "topology", "settings", "seed"]].iloc[0].tolist()
        assert facts == ["ucb", "three-node", "power.awake_w=1", 4]
    assert set(pages["policy"]) == {"psm"}


def test_a_comparison_has_baselines_and_is_printed_as_the_table() -> None:
    comparison = psm_sim.compare(["bsd"], pages=2)
    assert list(comparison.frame["policy"]) == ["always-on", "psm", "bsd"]
    assert comparison.frame["difference.energy_saved_percent"].tolist()[1] == 0.0
    assert str(comparison).splitlines()[3].startswith(" always-on *")
    assert comparison.conclusion() in " ".join(str(comparison).split())
    assert f"<p>{comparison.conclusion()}</p>" in comparison._repr_html_()
    assert list(comparison.frame)[:3] == ["policy", "energy_per_page_j", "difference.energy_saved_percent"]
    assert list(comparison.frame)[3:6] == ["page_time_s.mean", "slowdown.mean", "slowdown.max"]
    pinged = psm_sim.compare(["psm:label=mine"], "ping", pages=1, baselines=False).frame
    assert list(pinged)[:4] == ["policy", "label", "energy_per_page_j", "difference.energy_saved_percent"]
    assert [name.rpartition(".")[2] for name in list(pinged)[4:6]] == ["p50", "p99"]
    assert comparison.plot().axes[0].get_ylabel() == "energy (J per page)"


def test_representations_are_short_and_names_in_them_are_escaped() -> None:
    workload = load_workload("ucb", 2, 1)
    evil = Workload("<script>alert(1)</script>", workload.pages, True, "odd")

    class Odd(Counting):
        """Policy with markup in its name."""

        name = "<b>odd</b>"

    comparison = psm_sim.compare([Odd], trace=evil)
    run = comparison.runs[0]
    assert len(repr(run)) < 200
    assert "energy per page (J)" in str(run)
    for html in (comparison._repr_html_(), run._repr_html_()):
        assert "<table" in html
        assert "<b>" not in html
        assert "<script>" not in html
    assert "page" in run.plot().axes[0].get_title(loc="left")
    with pytest.raises(InputError, match=r"plot shows a page, and trace push has none; use psm_sim.timeline"):
        psm_sim.simulate("psm", trace="push", pages=1).plot()


def test_the_repr_of_a_comparison_is_a_single_line_with_the_main_values() -> None:
    """The values without pages are power and latency. Of many policies, the first ones are named."""
    pings = psm_sim.compare(["psm"], "ping:stretch_s=30", pages=1, baselines=False, against=None)
    text = r"<Comparison on ping:stretch_s=30, 1 page, seed 1: psm \d+\.\d+ mW, p99 0\.\d+ s>"
    assert re.fullmatch(text, repr(pings))
    policies = [f"psm:listen_interval={number}" for number in range(2, 12)]
    assert repr(psm_sim.compare(policies, "ping:stretch_s=30", pages=1)).endswith("; and 4 more>")
