"""The advice agrees with the measured answers of docs/devices.md, which are computed again here.

The commands are those marked as advice on the page, with fewer seeds and half of the time if they suffice.
"""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from psm_sim.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "devices.md"
Values = dict[str, Any]
HALF_S = {"bulk": 300, "cbr": 15, "ping": 300, "push": 1800}
"""Half of the stretch of each trace, in seconds."""


def commands(section: int) -> tuple[list[str], list[list[str]]]:
    """Return the arguments of the advice command of a section, and those of its comparisons."""
    text = re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[section]
    blocks = [
        shlex.split(block.replace("\\\n", " "))[3:]
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    ]
    (advice,) = [words for words in blocks if words[0] == "advise"]
    assert text.count("<!-- the advice -->\n```sh\npython -m psm_sim advise") == 1
    return advice, [words for words in blocks if words[0] != "advise"]


@cache
def output(words: tuple[str, ...]) -> Values:
    """Return the JSON output of a command."""
    with pytest.MonkeyPatch.context() as patch:
        written: list[str] = []
        patch.setattr("sys.stdout.write", written.append)
        assert main([*words, "--format", "json"]) == 0
    document: Values = json.loads("".join(written))
    return document


def half_as_long(word: str) -> str:
    """Return a trace with half of its time, or another word."""
    name, *parameters = word.split(":")
    if name not in HALF_S:
        return word
    return f"{name}:{','.join([f'stretch_s={HALF_S[name]}', *parameters])}"


def advised(section: int, *words: str) -> Values:
    """Return the advice of a section, with fewer seeds and half of the time if they suffice."""
    seeds = 3 if section in (3, 9) else 1
    advice = commands(section)[0]
    if section != 3:  # the 99th percentile of few messages varies
        advice = [half_as_long(word) for word in advice]
    return output((*advice, *words, "--replications", str(seeds), "--workers", "1"))


def best(section: int) -> Values:
    """Return the recommended setting of a section."""
    advice = advised(section)
    row: Values = next(row for row in advice["rows"] if row["setting"] == advice["best"])
    return row


def cheapest_setting(section: int) -> Values:
    """Return the setting of minimum energy within the bound, which may miss group addressed frames."""
    row: Values = next(row for row in advised(section)["rows"] if row["rank"] == 1)
    return row


def measured(section: int, comparison: int = 0) -> list[Values]:
    """Return the runs of a documented comparison."""
    runs: list[Values] = output(tuple(commands(section)[1][comparison]))["runs"]
    return runs


def p99_s(run: Values) -> float:
    """Return the 99th percentile of the latency in the slower direction."""
    return max(way["latency_s"]["p99"] for way in run["latency"].values())


def cheapest(section: int, runs: list[Values] | None = None) -> Values:
    """Return the documented policy of minimum current within the bound of the advice."""
    limit_s = advised(section)["max_latency_s"] or float("inf")
    return min(
        (run for run in runs or measured(section) if p99_s(run) <= limit_s),
        key=lambda run: run["mean_current_ma"],
    )


def interval(policy: str) -> int:
    """Return the listen interval of a policy at a DTIM period of 1."""
    match = re.search(r"listen_interval=(\d+)", policy)
    return int(match[1]) if match else 1


def test_1_only_an_always_on_radio_answers_a_ping_immediately() -> None:
    """Every documented driver exceeds the bound."""
    assert cheapest(1)["policy"] == best(1)["policy"] == "always-on"


def currents(section: int) -> dict[str, float]:
    """Return the typical current of each setting, in mA."""
    return {row["setting"]: row["current_ma"]["typical_ma"] for row in advised(section)["rows"]}


def test_2_static_psm_draws_a_ninth_of_the_current_that_the_driver_default_draws() -> None:
    """Section 1 has the ratio of an always-on radio to static PSM."""
    always_on, pings = currents(1), currents(2)
    assert always_on["power saving off"] / always_on["DTIM 1 (static PSM)"] == pytest.approx(35, abs=1)
    assert pings["DTIM 1 (200 ms awake)"] / pings["DTIM 1 (static PSM)"] == pytest.approx(9, abs=0.5)


def test_3_the_cheapest_listen_interval_is_the_documented_interval() -> None:
    """The interval is the cheapest one within the bound."""
    policy = cheapest(3)["policy"]
    assert policy.startswith(("psm", "dynamic"))
    assert interval(cheapest_setting(3)["policy"]) == interval(policy) == 3


def test_4_with_a_report_every_5_minutes_deep_sleep_draws_over_twice_the_current() -> None:
    """The comparison is with the cheapest listen interval, as documented."""
    deep = next(row for row in advised(4)["modes"] if row["mode"] == "deep-sleep")
    row = cheapest_setting(4)
    assert interval(row["policy"]) in (9, 10)
    assert deep["current_ma"]["typical_ma"] > 2 * row["current_ma"]["typical_ma"]


def test_5_all_messages_arrive_only_if_keep_alives_are_sent() -> None:
    """The remedy of the advice is the documented one."""
    (idle,), (alive,) = measured(5), measured(5, 1)
    assert [run["latency"]["down"]["delivered"] > 0 for run in (idle, alive)] == [False, True]
    advice = advised(5)
    assert advice["best"] is None
    remedy = re.search(r"--set (station\.keep_alive_s=\d+)", advice["answer"])
    assert remedy
    assert remedy[1] in commands(5)[1][1]
    assert advised(5, "--set", remedy[1])["best"] is not None


def test_6_the_selected_interval_misses_no_group_addressed_frames() -> None:
    """Only the DTIM period misses no more than the 2 % of lost beacons."""
    reports = [run["policy_report"] for run in measured(6)]
    missed = [report["group frames missed"] / report["group frames"] for report in reports]
    complete = [run for run, share in zip(measured(6), missed, strict=True) if share < 0.04]
    assert len(complete) == 1
    assert interval(best(6)["policy"]) == interval(complete[0]["policy"])
    assert "Select DTIM 3 (8 ms awake)" in advised(6)["answer"]
    shares = {
        interval(row["policy"]): row["group_frames_share"]
        for row in advised(6)["rows"]
        if "dynamic" in row["policy"]
    }
    for run, share in zip(measured(6), missed, strict=True):
        assert shares[interval(run["policy"])] == pytest.approx(1 - share, abs=0.04)


def test_9_the_default_of_the_driver_draws_the_documented_current() -> None:
    """Beacons are lost, group addressed frames sent, and clocks drift. The recommended setting draws less."""
    (run,) = measured(9, 1)
    (default,) = [row for row in advised(9)["rows"] if row["is_default"]]
    assert default["mean_current_ma"] == pytest.approx(run["mean_current_ma"], rel=0.03)
    assert cheapest_setting(9)["mean_current_ma"] < 0.5 * default["mean_current_ma"]


def test_8_a_download_takes_the_documented_times() -> None:
    """Medians without power saving, with the timeout of Linux and with U-APSD."""
    medians = {row["setting"]: row["latency"]["down"]["latency_s"]["p50"] for row in advised(8)["rows"]}
    settings = ("power saving off", "DTIM 1 (100 ms awake)", "U-APSD")
    assert [medians[name] for name in settings] == pytest.approx([1.48, 1.54, 3.8], rel=0.05)


def test_10_static_psm_draws_a_fortieth_of_the_current_that_the_driver_default_draws() -> None:
    """With a packet every 20 ms, which keeps a radio with a timeout awake."""
    voice = currents(10)
    assert voice["DTIM 1 (100 ms awake)"] / voice["DTIM 1 (static PSM)"] == pytest.approx(40, rel=0.1)
