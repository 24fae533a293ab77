"""Lists of what can be named."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from psm_sim.cli import main
from psm_sim.losses import LOSSES
from psm_sim.network.topology import topology_keys
from psm_sim.policies import POLICIES


def listed(capsys: pytest.CaptureFixture[str], kind: str) -> dict[str, dict]:
    """Return the items of a list by name."""
    assert main([kind, "--format", "json"]) == 0
    return {item["name"]: item for item in json.loads(capsys.readouterr().out)[kind]}


def test_every_policy_and_loss_is_listed_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """A new name in a registry stands here unasked."""
    for kind, registry in (("policies", POLICIES), ("losses", LOSSES)):
        items = listed(capsys, kind)
        assert list(items) == registry.names()
        assert all(item["summary"].endswith((".", ")")) for item in items.values())


def test_parameters_have_default_unit_range_and_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """As they are declared."""
    p, max_sleep = listed(capsys, "policies")["bsd"]["parameters"]
    assert (p["name"], p["default"], p["range"]) == ("p", 1.0, "a number > 0 and <= 1e+06")
    assert (max_sleep["unit"], max_sleep["range"]) == ("ms", "a number > 0 and <= 1e+12, or none")
    for kind in ("policies", "losses", "topologies"):
        for item in listed(capsys, kind).values():
            assert all(row["help"] and row["range"] for row in item["parameters"])


def test_a_topology_lists_every_key_with_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    """The keys that --set reaches, the numbers of the file."""
    rows = {row["name"]: row for row in listed(capsys, "topologies")["three-node"]["parameters"]}
    assert list(rows) == topology_keys()
    assert rows["links.wireless.rate_mbps"]["default"] == 5.0
    assert rows["power.beacon_j"]["unit"] == "J"


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("policies", "  listen_interval  1        beacons  an integer >= 1"),
        ("losses", "  gamma      0.000833333  nats/(byte ms)  a number > 0"),
        ("topologies", "  links.wired.latency_ms          20       ms        a number >= 0"),
    ],
)
def test_the_list_for_people_is_plain_text_in_a_pipe(
    capsys: pytest.CaptureFixture[str], kind: str, line: str
) -> None:
    """With how to use what is listed."""
    assert main([kind]) == 0
    text = capsys.readouterr().out
    assert line in text
    assert "Select one:    psm_sim" in text
    assert "\x1b" not in text
    assert "``" not in text


def test_without_docstrings_the_list_says_why_it_has_no_descriptions() -> None:
    """Under ``python -OO`` they are gone; names and parameters are not."""
    words = [sys.executable, "-OO", "-m", "psm_sim", "losses"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "inverse-log" in done.stdout
    assert "descriptions are missing" in done.stderr
