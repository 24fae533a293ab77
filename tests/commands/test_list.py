"""``psm_sim list``: the kinds, the entries of a kind, and one entry."""

from __future__ import annotations

import json

import pytest

from psm_sim.cli import main
from psm_sim.commands.list import KINDS
from psm_sim.common.input_files import bundled_dir, bundled_names
from psm_sim.policies import POLICIES


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict]:
    """Return the entries of a kind by name."""
    assert main(["list", *words, "--format", "json"]) == 0
    return {item["name"]: item for item in json.loads(capsys.readouterr().out)[words[0]]}


def test_every_kind_of_component_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--format", "json"]) == 0
    names = json.loads(capsys.readouterr().out)
    assert list(names) == list(KINDS)
    assert names["policies"] == [*POLICIES.names(), *POLICIES.installed()]
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[: len(KINDS)]] == [
        [kind, str(len(entries))] for kind, entries in names.items()
    ]


def test_listed_parameters_have_their_default_and_unit_and_range_and_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    p, max_sleep = listed(capsys, "policies")["bsd"]["parameters"]
    assert (p["name"], p["default"], p["range"]) == ("p", 1.0, "a number > 0 and <= 1e+06")
    assert (max_sleep["unit"], max_sleep["range"]) == ("ms", "a number > 0 and <= 1e+12, or none")
    for kind in ("policies", "losses", "topologies", "traces"):
        for item in listed(capsys, kind).values():
            rows = [row for row in item["parameters"] if row["name"] != "schedule"]  # a result, not an input
            assert all(row["help"] and row["range"] for row in rows)


def test_the_condition_of_a_parameter_is_listed_with_the_parameter(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The table has the full topology keys of the condition after the meaning."""
    for kind, name, key, condition in [
        ("topologies", "three-node", "mac.fetch", "mac.model=dcf"),
        ("topologies", "three-node", "beacon.loss_run", "beacon.loss"),
        ("policies", "lpsm", "horizon_s", "alpha=none"),
        ("traces", "mqtt", "command.busy_s", "timing=bursts"),
    ]:
        rows = {row["name"]: row for row in listed(capsys, kind, name)[name]["parameters"]}
        assert rows[key]["requires"] == condition
    for words, text in [
        (["policies", "lpsm"], "(requires alpha=none)"),
        (["topologies", "three-node"], "(requires mac.model=dcf)"),
    ]:
        assert main(["list", *words, "--all"]) == 0
        assert text in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("policies", "listen_interval 1 beacons an integer >= 1"),
        ("losses", "gamma 0.000833333 nats/(byte ms) a number > 0"),
        ("topologies", "links.wired.latency_ms 20 ms a number >= 0"),
    ],
)
def test_a_list_in_a_pipe_is_plain_text(capsys: pytest.CaptureFixture[str], kind: str, line: str) -> None:
    assert main(["list", kind]) == 0
    text = capsys.readouterr().out
    assert line in " ".join(text.split())
    assert "Select one:    psm_sim" in text
    assert "\x1b" not in text
    assert "``" not in text


@pytest.mark.parametrize(
    ("kind", "name"), [("policies", "acks"), ("topologies", "tcp.growth"), ("traces", "wander")]
)
def test_expert_parameters_are_listed_on_request(
    kind: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON always has expert parameters. A list without them states their number."""
    tables = []
    for words in ([], ["--all"]):
        assert main(["list", kind, *words]) == 0
        tables.append(capsys.readouterr().out)
    assert [f" {name} " in table for table in tables] == [False, True]
    rows = [row for item in listed(capsys, kind).values() for row in item["parameters"]]
    assert f"{sum(row['expert'] for row in rows)} expert parameters are hidden" in tables[0]
    assert "hidden" not in tables[1]


@pytest.mark.parametrize("kind", ["topologies", "traces", "profiles", "presets"])
def test_a_bundled_entry_is_shown_as_its_file(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = KINDS[kind].folder
    for name in bundled_names(folder):
        assert main(["list", kind, name]) == 0
        assert capsys.readouterr().out == (bundled_dir(folder) / f"{name}.toml").read_text(encoding="utf-8")
    assert list(listed(capsys, kind)) == bundled_names(folder)
