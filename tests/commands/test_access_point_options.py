"""``--dtim``, ``--beacon-interval`` and ``--latency``."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from typing import Any

import pytest

from psm_sim.cli import main
from psm_sim.commands.shared_options import access_point_settings, positive_time
from psm_sim.common.errors import InputError

RUN = (
    "--policy",
    "dynamic:stack=esp-idf",
    "--trace",
    "push:stretch_s=600",
    "--pages",
    "1",
    "--format",
    "json",
)


def result(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """Return the JSON output of a short run of a device."""
    assert main([*RUN, *words]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_the_option_dtim_sets_the_dtim_period_and_the_baseline_wakes_at_dtim_beacons(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Savings are relative to the baseline, unless another reference is set."""
    document = result(capsys, "--dtim", "3", "--beacon-interval", "100")
    same = result(capsys, "--set", "beacon.dtim_period=3", "--set", "beacon.interval_ms=102.4")
    assert document["scenario"] == same["scenario"]
    assert document["runs"][0]["energy_per_page_j"] == same["runs"][0]["energy_per_page_j"]
    assert [run["policy"] for run in document["baselines"]] == ["always-on", "psm:listen_interval=3"]
    assert {difference["against"] for difference in document["differences"]} == {"psm:listen_interval=3"}
    assert document["baselines"][1]["beacons_per_page"] == pytest.approx(
        same["baselines"][1]["beacons_per_page"] / 3, rel=0.01
    )


def test_the_option_latency_sets_the_delay_limit_of_the_conclusion(
    capsys: pytest.CaptureFixture[str],
) -> None:
    limited, free = result(capsys, "--latency", "90ms"), result(capsys)
    for document in (limited, free):
        for run in (*document["runs"], *document["baselines"]):
            del run["wall_s"]
    assert limited.pop("conclusion") != free.pop("conclusion")
    assert limited == free


@pytest.mark.parametrize(
    ("dtim", "interval", "expected"),
    [
        (None, None, {}),
        (3, None, {"beacon.dtim_period": 3}),
        (None, "100", {"beacon.interval_ms": 102.4}),
        (None, "102.4 ms", {"beacon.interval_ms": 102.4}),
        (2, "300tu", {"beacon.dtim_period": 2, "beacon.interval_ms": 307.2}),
    ],
)
def test_a_beacon_interval_without_a_unit_is_read_in_time_units(
    dtim: int | None, interval: str | None, expected: dict[str, float]
) -> None:
    """Access points are configured in time units."""
    assert access_point_settings(dtim, interval, {}) == expected


@pytest.mark.parametrize(
    "interval", ["102.4", "100s", "0", "-1ms", "nan", "infms", "TU", "", "99999", "1e9ms"]
)
def test_a_beacon_interval_out_of_range_is_an_error(interval: str) -> None:
    with pytest.raises(InputError, match="--beacon-interval"):
        access_point_settings(None, interval, {})


@pytest.mark.parametrize(
    ("dtim", "interval", "key", "option"),
    [
        (3, None, "beacon.dtim_period", "--dtim"),
        (None, "100", "beacon.interval_ms", "--beacon-interval"),
    ],
)
def test_an_option_conflicts_with_a_setting_of_the_same_key(
    dtim: int | None, interval: str | None, key: str, option: str
) -> None:
    with pytest.raises(InputError, match=f"{option} conflicts with --set {key}=3; remove one of them[.]"):
        access_point_settings(dtim, interval, {key: "3"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("300", "requires a unit, got '300'; use ms, s, min, h"),
        ("0", "must be a time in ms, s, min, h, > 0 and at most 1e[+]06s, got '0'"),
        ("30d", "must be a time in ms, s, min, h, .*got '30d'"),
        ("1e300s", "at most"),
        ("nanms", "must be a time"),
    ],
)
def test_a_latency_without_a_unit_or_a_value_is_an_error(text: str, message: str) -> None:
    """A bare number could mean seconds or milliseconds."""
    with pytest.raises(ArgumentTypeError, match=message):
        positive_time(text)
