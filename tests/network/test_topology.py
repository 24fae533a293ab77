"""Topology files and their keys."""

from __future__ import annotations

from typing import Any, cast

import pytest

from psm_sim.common.errors import InputError
from psm_sim.network import Topology, load_topology, topology_differences, topology_keys
from psm_sim.network.topology import SECTIONS
from psm_sim.network.topology_sections import (
    AccessPointParameters,
    BrowserParameters,
    PowerParameters,
)

PUBLISHED = {
    "links.wireless.rate_mbps": 5.0,
    "links.wireless.latency_ms": 0.1,
    "links.wired.rate_mbps": 10.0,
    "links.wired.latency_ms": 20.0,
    "beacon.interval_ms": 100.0,
    "power.awake_w": 0.75,
    "power.asleep_w": 0.05,
    "power.beacon_j": 0.0015,
    "tcp.initial_window": 2,
    "tcp.segment_bytes": 1460,
    "tcp.max_window": 20,
    "tcp.stack": "rfc",
    "tcp.delayed_ack_ms": None,
    "browser.connections": 4,
    "browser.persistent": False,
    "access_point.buffer_frames": 256,
}


def test_the_three_node_topology_has_the_numbers_of_the_published_scenario():
    """The numbers are of section 2.5.4 of the thesis. Defaults in code are equal."""
    config = load_topology("three-node").config()
    assert config | PUBLISHED == config
    assert Topology().config() == config


def test_the_round_trip_omits_the_propagation_delay_of_a_shared_channel():
    """A shared channel has no propagation delay of its own."""
    assert load_topology().round_trip_s == pytest.approx(0.0402)
    assert load_topology("three-node", {"mac.model": "dcf"}).round_trip_s == pytest.approx(0.04)


@pytest.mark.parametrize("key", topology_keys())
def test_every_key_can_be_set_from_text(key):
    """``--set`` accepts all keys."""
    defaults = load_topology().config()
    default = defaults[key]
    others = {"timer": "heartbeat", "ns2": "rfc5681", "join": "wait", "True": "false", "False": "true"}
    others |= {"None": "2", "server": "client"}
    others |= {"next": "rest", "long": "short"}
    others |= {
        "doze": "stay-awake",
        "link": "dcf",
        "802.11b": "802.11g",
        "ps-poll": "null",
    }
    others |= {"rfc": "linux", "65535": "8000", "5.484": "2", "64": "32"}
    text = "100" if key == "mac.beacon_bytes" else others.get(str(default)) or str(default * 2 or 0.5)
    changed = load_topology("three-node", {key: text}).config()
    assert changed[key] != default
    assert {name for name, value in changed.items() if value != defaults[name]} == {key}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"links.wired.latency": "80"},
            "Unknown topology key 'links.wired.latency'.*Did you mean 'links.wired.latency_ms'",
        ),
        (
            {"links.wired.rate_mbps": "0"},
            "rate_mbps must be a number >= 0.01 and <= 100000, got '0'",
        ),
        ({"links.wired.rate_mbps": "fast"}, "'fast'"),
        ({"tcp.initial_window": "2.5"}, "must be an integer .*'2.5'"),
        ({"browser.persistent": "perhaps"}, "must be true or false, got 'perhaps'"),
        ({"power.awake_w": "-1"}, "must be a number >= 0"),
    ],
)
def test_a_wrong_setting_is_an_error_of_one_sentence(settings, message):
    """The message has the key, the value and the expected values."""
    with pytest.raises(InputError, match=message) as error:
        load_topology("three-node", settings)
    assert "\n" not in str(error.value)


def written(folder, **files):
    """Write topology files, and return their paths as texts."""
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
    return [str(folder / f"{name}.toml") for name in files]


def changed(topology):
    """Return the keys that differ from three-node's, with their values."""
    base = load_topology().config()
    return {key: value for key, value in topology.config().items() if value != base[key]}


@pytest.mark.parametrize("section", SECTIONS)
def test_an_omitted_key_keeps_its_value_from_the_three_node_topology(tmp_path, section):
    """An empty file and an empty section change nothing; the wireless hop does not get wired defaults."""
    (file,) = written(tmp_path, mine=f"[{section}]\n")
    assert changed(load_topology(file)) == {}
    assert load_topology(file).name == "mine"


def test_a_topology_file_has_a_name_and_a_description_of_its_own(tmp_path):
    """The extended topology does not provide them."""
    plain, described = written(
        tmp_path, plain='extends = "modern"\n', described='description = "Mine"\nextends = "plain.toml"\n'
    )
    topologies = [load_topology(plain), load_topology(described)]
    assert [(topology.name, topology.description) for topology in topologies] == [
        ("plain", ""),
        ("described", "Mine"),
    ]


def test_a_topology_file_may_extend_a_bundled_topology_or_a_file_in_its_own_folder(tmp_path):
    """Keys of the extending file win; the others come from the extended files."""
    near, far = written(
        tmp_path,
        near='extends = "far.toml"\n[power]\nawake_w = 0.6\n',
        far='extends = "modern"\n[power]\nawake_w = 0.5\nasleep_w = 0.1\n',
    )
    modern = load_topology("modern")
    expected = modern.config() | {"power.awake_w": 0.6, "power.asleep_w": 0.1}
    assert load_topology(near).config() == expected
    assert load_topology(far).base == load_topology(near).base == modern.base == "modern"
    assert topology_differences(load_topology(near)) == {"power.awake_w": 0.6, "power.asleep_w": 0.1}
    assert topology_differences(modern) == {}


def test_topology_files_that_extend_each_other_in_a_circle_are_an_error(tmp_path):
    """The message names each file."""
    one, _ = written(tmp_path, one='extends = "two.toml"\n', two='extends = "one.toml"\n')
    with pytest.raises(InputError, match=r"circular 'extends': one.toml extends two.toml extends one.toml"):
        load_topology(one)


@pytest.mark.parametrize(
    ("extends", "message"),
    [
        ("5", "mine.toml: extends must be the name of a bundled topology or a TOML file, got 5"),
        ('"moden"', "mine.toml: extends: Unknown topology 'moden'.*Did you mean 'modern'"),
        ('"gone.toml"', "mine.toml: extends: Topology file not found: 'gone.toml'"),
    ],
)
def test_an_invalid_extends_key_is_an_error(tmp_path, extends, message):
    """The message names the extending file."""
    (file,) = written(tmp_path, mine=f"extends = {extends}\n")
    with pytest.raises(InputError, match=message):
        load_topology(file)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: PowerParameters(asleep_w=5.0),
            "power: asleep_w must not exceed awake_w = 0.75, got 5",
        ),
        (
            lambda: AccessPointParameters(group_per_s=1e-320),
            "group_per_s must be 0 or at least 1e-09, got 1e-3",
        ),
        (lambda: AccessPointParameters(buffer_frames=0), "^access_point: buffer_frames must be .* got 0"),
        (lambda: BrowserParameters(connections=cast(Any, 2.5)), "browser: connections must be .* got 2.5"),
        (
            lambda: Topology(power=cast(Any, {"awake_w": 1.0})),
            r"power must be PowerParameters\(...\), got \{'awake_w': 1.0\}",
        ),
    ],
)
def test_parameter_classes_reject_values_out_of_range(make, message):
    """The constructor raises the error, before any run."""
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[links.wired]\nrate = 5\n", "Unknown topology key 'links.wired.rate'"),
        ("[links.wired]\nrate_mbps = true\n", "rate_mbps must be .* got True"),
        ("[links\n", "is not a valid topology: .*; expected a TOML file"),
        ("[beacon]\ninterval_ms = inf\n", "interval_ms must be .* got inf"),
        ("[links.wired]\nlatency_ms = 1" + "0" * 400 + "\n", "latency_ms must be .* got 1000"),
        ("[links.wired.latency_ms.a]\nb = 1\n", "latency_ms must be .* got {'a'"),
        ("[power]\nawake_w = {}\n", "awake_w must be .* got {}"),
    ],
)
def test_the_error_for_a_broken_topology_file_has_the_file_name(tmp_path, text, message):
    """The message names the file and the key."""
    file = tmp_path / "broken.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        load_topology(str(file))
    assert "broken.toml" in str(error.value)


def test_the_error_for_an_unknown_topology_lists_the_bundled_topologies():
    """The message suggests the nearest name."""
    with pytest.raises(
        InputError, match=r"Unknown topology 'three-nodes'.*three-node.*Did you mean 'three-node'"
    ):
        load_topology("three-nodes")
    with pytest.raises(InputError, match=r"Topology file not found: 'missing.toml'"):
        load_topology("missing.toml")
