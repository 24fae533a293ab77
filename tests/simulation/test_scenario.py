"""Scenarios: pages, topology, and the key of all inputs that determine the results."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import psm_sim
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.network import Topology
from psm_sim.simulation import Scenario
from psm_sim.workload import load_workload

LIST = "page,think_s,main_bytes,images\n1,5,1000,100;200\n2,2.5,4000,\n"
SETTINGS = {"links.wired.latency_ms": 80, "tcp.initial_window": 4, "power.awake_w": 1.5}
LOSS = """
from psm_sim.losses import InverseLoss

class Mine(InverseLoss):
    name = "mine"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a page list, a topology and a loss of a user."""
    (tmp_path / "pages.csv").write_text(LIST)
    (tmp_path / "phone.toml").write_text("[power]\nawake_w = 0.65\n")
    (tmp_path / "my.py").write_text(LOSS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_scenario_has_the_pages_of_its_trace() -> None:
    expected = load_workload("ucb:mean_think_s=20", 7, 3)
    spec = Spec.parse("ucb:mean_think_s=20", "trace")
    for trace in (str(spec), spec, expected):
        assert Scenario(trace, pages=7, seed=3).workload() == expected
        assert Scenario(trace, pages=7, seed=3).workloads() == (expected,)


def test_a_scenario_has_its_topology_with_the_settings() -> None:
    assert Scenario(settings={"power.awake_w": "1.5"}).resolve_topology().power.awake_w == 1.5
    assert Scenario(topology="phone.toml").resolve_topology().power.awake_w == 0.65
    topology = Topology(name="mine")
    assert Scenario(topology=topology, seed=3).resolve_topology() == replace(topology, seed=3)
    assert (Scenario(topology=topology).topology_name, Scenario().topology_name) == ("mine", "three-node")


def test_the_key_of_a_scenario_does_not_depend_on_the_order_or_type_of_settings() -> None:
    """The key has 64 hexadecimal digits."""
    reverse = dict(reversed(SETTINGS.items()))
    key = Scenario(settings=SETTINGS).key()
    assert len(key) == 64
    assert int(key, 16) >= 0
    assert Scenario(settings=reverse).key() == key
    assert Scenario(settings={name: str(value) for name, value in SETTINGS.items()}).key() == key
    assert pickle.loads(pickle.dumps(Scenario(settings=SETTINGS))).key() == key  # noqa: S301


def test_the_key_of_a_scenario_depends_on_every_input_that_determines_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The inputs are trace, topology, pages, seed, settings, policies and version."""
    base = Scenario()
    others = [
        Scenario("ucb:wander=0.02"),
        Scenario(topology="phone.toml"),
        Scenario(topology=Topology(name="mine")),
        Scenario(pages=99),
        Scenario(seed=2),
        Scenario(settings={"beacon.interval_ms": 50}),
        Scenario(load_workload("ucb", 5, 1)),
        Scenario(load_workload("ucb", 5, 2)),
    ]
    keys = [scenario.key() for scenario in (base, *others)]
    keys += [base.key(["psm"]), base.key(["psm", "bsd"]), base.key([Spec.parse("bsd:p=1", "policy")])]
    monkeypatch.setattr("psm_sim.simulation.scenario.__version__", psm_sim.__version__ + ".1")
    keys.append(base.key())
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("file", "scenario", "policies"),
    [
        ("pages.csv", Scenario("pages.csv"), ()),
        ("phone.toml", Scenario(topology="phone.toml"), ()),
        ("my.py", Scenario(), ("lpsm:loss=my.py:Mine",)),
        ("my.py", Scenario(), ("lpsm:loss=(my.py:Mine:gamma=1)",)),
    ],
)
def test_the_key_of_a_scenario_depends_on_the_contents_of_user_files(
    folder: Path, file: str, scenario: Scenario, policies: tuple[str, ...]
) -> None:
    """A changed letter or a new file gives another key, and restored content the old one."""
    path = folder / file
    before = path.read_bytes() if path.exists() else None
    key = scenario.key(policies)
    (folder / "other.csv").write_text("other")
    assert scenario.key(policies) == key
    path.write_bytes((before or b"") + b"\n")
    assert scenario.key(policies) != key
    path.unlink() if before is None else path.write_bytes(before)
    assert scenario.key(policies) == key


def test_numpy_integers_are_valid_numbers_of_pages_and_valid_seeds() -> None:
    scenario = Scenario(pages=np.int64(2), seed=np.uint8(3))  # type: ignore[arg-type]
    assert json.dumps([scenario.pages, scenario.seed]) == "[2, 3]"


@given(st.sampled_from([0, -1, 2.5, True, "3", None]))
def test_the_number_of_pages_must_be_an_integer_of_at_least_1_and_the_seed_of_at_least_0(value: Any) -> None:
    """The constructor raises the error."""
    with pytest.raises(InputError, match=r"pages must be an integer >= 1, got .*"):
        Scenario(pages=value)
    if value != 0 or value is True:
        with pytest.raises(InputError, match=r"seed must be an integer >= 0, got .*"):
            Scenario(seed=value)
