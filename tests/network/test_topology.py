"""The scenario file and its keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from psm_sim.errors import InputError
from psm_sim.network import Topology, load_topology, topology_keys

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
    "tcp.delayed_ack_ms": 100.0,
    "tcp.min_rto_ms": 1000.0,
    "browser.connections": 4,
    "browser.persistent": False,
    "access_point.buffer_frames": 256,
}


def test_three_node_has_every_number_of_the_published_scenario():
    """Thesis, section 2.5.4; and the defaults in code are the same."""
    config = load_topology("three-node").config()
    assert config | PUBLISHED == config
    assert Topology().config() == config


@pytest.mark.parametrize("key", topology_keys())
def test_every_key_can_be_set_from_text(key):
    """``--set`` reaches all of them."""
    default = load_topology().config()[key]
    text = str(not default) if isinstance(default, bool) else str(default * 2 if default else 1)
    changed = load_topology("three-node", {key: text}).config()
    assert changed[key] != default
    assert {name for name, value in changed.items() if value != load_topology().config()[name]} == {key}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"links.wired.latency": "80"}, "no topology key 'links.wired.latency'.*Did you mean"),
        ({"links.wired.rate_mbps": "0"}, "rate_mbps is '0'; expected a number above 0"),
        ({"links.wired.rate_mbps": 0}, "rate_mbps is 0.*expected a number above 0"),
        ({"links.wired.rate_mbps": "fast"}, "'fast'"),
        ({"links.wired.rate_mbps": "nan"}, "'nan'"),
        ({"tcp.initial_window": "2.5"}, "'2.5'; expected a whole number"),
        ({"browser.persistent": "perhaps"}, "'perhaps'; expected true or false"),
        ({"power.awake_w": "-1"}, "at least 0"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_sentence(settings, message):
    """What, the value, what is expected."""
    with pytest.raises(InputError, match=message) as error:
        load_topology("three-node", settings)
    assert "\n" not in str(error.value)


def test_a_file_is_read_and_keys_left_out_keep_their_defaults(tmp_path):
    """A user's own scenario need not say everything."""
    file = tmp_path / "slow.toml"
    file.write_text("[links.wireless]\nrate_mbps = 1\n")
    topology = load_topology(str(file))
    assert (topology.name, topology.wireless.rate_mbps, topology.wired.rate_mbps) == ("slow", 1.0, 10.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[links.wired]\nrate_mbps = 0\n", "rate_mbps is 0"),
        ("[links.wired]\nrate = 5\n", "no topology key 'links.wired.rate'"),
        ("[links.wired]\nrate_mbps = true\n", "rate_mbps is True"),
        ("[links\n", "no TOML"),
        ("[beacon]\ninterval_ms = inf\n", "interval_ms is inf"),
    ],
)
def test_a_broken_file_is_refused_with_its_name(tmp_path, text, message):
    """The file and the key are named."""
    file = tmp_path / "broken.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        load_topology(str(file))
    assert "broken.toml" in str(error.value)


def test_an_unknown_topology_lists_the_known_ones():
    """With the nearest name."""
    with pytest.raises(InputError, match=r"no topology 'three-nodes'.*three-node.*Did you mean 'three-node'"):
        load_topology("three-nodes")
    with pytest.raises(InputError, match=r"no topology file 'missing.toml'"):
        load_topology("missing.toml")


def test_a_topology_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    """The reason is the system's own."""

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "mine.toml").touch()
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(InputError, match=r"The topology .*mine\.toml cannot be read: Permission denied"):
        load_topology(str(tmp_path / "mine.toml"))
