"""Effects of topology keys: a key without an effect is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from psm_sim import simulate
from psm_sim.common.errors import InputError
from psm_sim.common.input_files import bundled_names
from psm_sim.common.parameters import Condition
from psm_sim.network import load_topology
from psm_sim.network.topology import check_effects, conditions_of, parameter_of, topology_keys
from psm_sim.simulation import Scenario, run_comparison
from tests.page_rows import page_rows

DEPENDENT = [key for key in topology_keys() if conditions_of(key)]
ON = {
    "beacon.loss": "0.1",
    "beacon.busy_air": "0.5",
    "access_point.group_per_s": "1",
    "access_point.idle_limit_s": "10",
    "faults.restart_every_s": "100",
    "faults.wireless.loss": "0.01",
    "faults.wired.loss": "0.01",
    "mac.frame_error_rate": "0.01",
    "browser.persistent": "true",
}
"""A value that enables each switch, unless its condition has ``=`` and a value."""
OFF = {
    "mac.model": "dcf",
    "mac.fetch": "null",
    "mac.standard": "802.11g",
}
"""A value that disables each switch of the defaults."""


def other_value(key: str) -> str:
    """Return a valid value of *key* that is not its default."""
    declared = parameter_of(key)
    if declared.choices:
        return next(choice for choice in declared.choices if choice != declared.default)
    if isinstance(declared.default, bool):
        return str(not declared.default).lower()
    value = declared.at_least or 1 if declared.default is None else declared.default + 1
    return str(value) if declared.at_most is None or value <= declared.at_most else str(declared.at_least)


def enabled(condition: Condition) -> dict[str, str]:
    """Return settings that meet the first alternative of a condition."""
    key, value = condition.alternatives[0]
    return {key: value or ON[key]}


def disabled(condition: Condition) -> dict[str, str]:
    """Return settings that do not meet a condition."""
    return {key: OFF[key] for key, value in condition.alternatives if OFF.get(key, value) != value}


@pytest.mark.parametrize("key", DEPENDENT)
def test_setting_a_key_whose_condition_is_not_met_is_an_error_and_would_have_no_effect(key: str) -> None:
    """The message has the key and the condition. Equal results show that the key has no effect."""
    conditions = conditions_of(key)
    for number, condition in enumerate(conditions):
        others = [enabled(other) for other in (*conditions[:number], *conditions[number + 1 :])]
        settings = disabled(condition)
        for other in others:
            settings |= other
        changed = {**settings, key: other_value(key)}
        with pytest.raises(InputError, match=rf"^--set: {key} has no effect without {condition}; add it or"):
            check_effects(load_topology(settings=changed), [key], "--set")
        first, second = (
            run_comparison(["psm"], Scenario(pages=2, settings=keys)).runs[0] for keys in (settings, changed)
        )
        assert page_rows(first) == page_rows(second)


@pytest.mark.parametrize("key", DEPENDENT)
def test_setting_a_key_whose_condition_is_met_is_accepted(key: str) -> None:
    settings = {key: other_value(key) if key != "mac.preamble" else "short"}
    for condition in conditions_of(key):
        settings |= enabled(condition)
    check_effects(load_topology(settings=settings), [key], "--set")


@pytest.mark.parametrize("name", bundled_names("topologies"))
def test_a_topology_file_may_have_keys_without_effect(name: str) -> None:
    """Only keys that the user sets are checked."""
    check_effects(load_topology(name), [], "--set")


def test_a_setting_may_meet_the_condition_of_a_key_in_a_topology_file() -> None:
    """Stations are checked after all settings, also those of a dictionary."""
    stations = [{"name": "phone", "count": 2}]
    with pytest.raises(InputError, match="2 stations require a shared channel"):
        simulate("psm", topology={"stations": stations}, pages=1)
    shared = simulate("psm", topology={"mac.model": "dcf", "stations": stations}, pages=1)
    set_later = simulate("psm", topology={"stations": stations}, settings={"mac.model": "dcf"}, pages=1)
    assert page_rows(shared) == page_rows(set_later)


def test_a_key_without_effect_is_an_error_in_python() -> None:
    """A dictionary of keys and the settings are checked together."""
    with pytest.raises(InputError, match=r"mac\.beacon_mbps has no effect without mac.model=dcf"):
        simulate("psm", topology={"mac": {"beacon_mbps": 2.0}}, pages=1)
    simulate("psm", topology={"mac": {"beacon_mbps": 2.0}}, settings={"mac.model": "dcf"}, pages=1)


@pytest.mark.parametrize(
    ("policy", "trace", "message"),
    [
        ("lpsm:alpha=0.1,horizon_s=5", "ucb", "policy lpsm: horizon_s has no effect without alpha=none"),
        ("listen:learner=cbgz,R=5", "ucb", "policy listen: R has no effect without learner=dkm"),
        ("psm", "push:push.quiet_for_s=5", "trace push: push: quiet_for_s .* without timing=bursts"),
        ("psm", "mqtt:busy_s=5", "trace mqtt: busy_s has no effect without timing=bursts"),
    ],
)
def test_a_parameter_whose_condition_is_not_met_is_an_error(policy: str, trace: str, message: str) -> None:
    """Policies and traces are as strict as topologies."""
    with pytest.raises(InputError, match=message):
        simulate(policy, trace, pages=1)


def test_a_preset_may_set_parameters_that_a_policy_lacks(tmp_path: Path) -> None:
    """A preset has defaults; only values of the user are checked."""
    preset = tmp_path / "mine.toml"
    preset.write_text(
        '[policies.lpsm]\nhorizon_s = 300\nuplink = "keep"\n[settings]\n"mac.beacon_mbps" = 2.0\n'
    )
    fixed = simulate("lpsm:alpha=0.1", preset=str(preset), pages=2)
    assert fixed.parameters["horizon_s"] == simulate("lpsm:alpha=0.1", pages=2).parameters["horizon_s"]
    assert fixed.parameters["uplink"] == "keep"
    assert simulate("lpsm", preset=str(preset), pages=2).parameters["horizon_s"] == 300
