"""``psm_sim advise``: its outputs and errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import psm_sim
from psm_sim.cli import main
from psm_sim.simulation.preset import present_network

DEVICE = ("--profile", "esp32", "--dtim", "3", "--replications", "3", "--workers", "1")
TRAFFIC = ("--traffic", "push:stretch_s=1200,period_s=20")
QUIET = ("--set", "beacon.loss=0", "--set", "access_point.group_per_s=0")
SHORT = ("--traffic", "push:stretch_s=60,period_s=5")


def advice(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """Return the JSON output of ``advise``."""
    assert main(["advise", *words, "--format", "json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_the_advice_includes_the_driver_function_call(capsys: pytest.CaptureFixture[str]) -> None:
    """The answer precedes the table; assumptions are below the table."""
    assert main(["advise", *DEVICE, *TRAFFIC, "--battery", "2000mAh", "--latency", "300ms"]) == 0
    text = capsys.readouterr().out
    assert " Select listen interval 1 (8 ms awake): esp_wifi_set_ps(WIFI_PS_MAX_MODEM)," in " ".join(
        text.split()
    )
    assert text.startswith("ESP-IDF, Arduino, ESPHome, Tasmota and CircuitPython use modem-sleep by default")
    for part in (
        "battery of 2000 mAh",
        "rank",
        "p99",
        "days",
        "*  anticipate:max_ms=204.8",
        "DTIM period 3",
    ):
        assert part in text


def test_the_json_output_has_the_rows_and_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """A row has the policy of its setting, which can be run again."""
    document = advice(capsys, *DEVICE, *TRAFFIC, *QUIET, "--latency", "300ms")
    assert document["best"] == "listen interval 1 (8 ms awake)"
    assert document["second"] == "listen interval 2 (8 ms awake)"
    assert document["beyond"] == "DTIM 3 (8 ms awake)"
    assert f"Select {document['best']}: " in document["answer"]
    assert (document["driver"], document["replications"], document["max_latency_s"]) == ("esp-idf", 3, 0.3)
    assert document["settings"]["beacon.interval_ms"] == 102.4
    cheapest = next(row for row in document["rows"] if row["rank"] == 1)
    assert cheapest["policy"] == "dynamic:timeout_ms=8,listen_interval=2"
    assert cheapest["p99_latency_s"] <= 0.3
    assert cheapest["latency"]["down"]["latency_s"]["p99"] == cheapest["p99_latency_s"]
    assert {row["verdict"] for row in document["rows"]} == {"within the bound", "above the bound"}
    assert [row["setting"] for row in document["rows"] if row["is_default"]] == ["DTIM 3 (50 ms awake)"]


def test_advice_on_page_traffic_has_the_columns_of_pages(capsys: pytest.CaptureFixture[str]) -> None:
    """The columns are in milliwatts without a chip. ``--trace`` is another name of ``--traffic``."""
    words = ("--trace", "ucb", "--pages", "3", "--replications", "2", "--workers", "1", "--latency", "5s")
    assert main(["advise", *words]) == 0
    text = capsys.readouterr().out
    assert "the manual of your driver" in text
    for heading in ("J/page", "mW", "down", "added"):
        assert heading in text
    assert "mA" not in text.split("Traffic:")[0]


def test_a_profile_of_an_unknown_driver_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chip = tmp_path / "chip.toml"
    chip.write_text("[power]\nbeacon_j = 0.0015\nsupply_v = 3.3\n[driver]\nname = 'mine'\ntwt = true\n")
    assert main(["advise", "--profile", str(chip)]) == 2
    assert (
        "must be one of esp-idf, cyw43, nrf70, linux, brcmfmac, generic, got 'mine'."
        in capsys.readouterr().err
    )
    document = advice(capsys, "--profile", str(chip), "--driver", "generic", "--replications", "1", *SHORT)
    assert any(row["setting"].startswith("TWT") for row in document["rows"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[driver]\nnmae = 'x'\n", "Unknown key of .driver. 'nmae'.*Did you mean 'name'"),
        ("[driver]\ntwt = 1\n", "driver.twt must be true or false, got 1[.]"),
        ("[driver]\nname = 3\n", "driver.name must be a string, got 3[.]"),
        ("driver = 3\n", "driver must be a table"),
    ],
)
def test_an_invalid_driver_table_is_an_error(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "chip.toml").write_text(text)
    assert main(["advise", "--profile", str(tmp_path / "chip.toml")]) == 2
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize("profile", ["esp32", "esp32-c6"])
def test_twt_is_offered_only_for_chips_with_twt(profile: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Chips of 802.11ax have TWT."""
    document = advice(capsys, "--profile", profile, "--replications", "1", *SHORT)
    assert any(row["setting"].startswith("TWT") for row in document["rows"]) == (profile == "esp32-c6")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--driver espidf", "--driver must be one of esp-idf, .*got 'espidf'. Did you mean 'esp-idf'"),
        ("--topology cafe", "simulates one station, but topology cafe has reader, laptop"),
        ("--battery 2000mAh", "requires a supply voltage; add --profile"),
        (
            "--latency 1s --traffic mqtt:keepalive.on=false,publish.on=false,command.on=false",
            "has neither pages nor messages",
        ),
    ],
)
def test_traffic_on_which_no_advice_is_possible_is_an_error_of_one_sentence(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["advise", *words.split()]) == 2
    output, complaint = capsys.readouterr()
    assert output == ""
    assert re.search(message, complaint)


def test_deep_sleep_is_not_compared_if_reports_are_more_frequent_than_associations(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = advice(capsys, "--profile", "esp32", "--report-every", "1s", "--replications", "1")
    assert "Deep sleep is not compared, because an association takes longer than 1 s." in document["answer"]
    assert "deep-sleep" not in [row["mode"] for row in document["modes"]]


@pytest.mark.parametrize(
    ("limit", "answer"), [("0.1", "Select DTIM 1 (100 ms awake)"), ("0.05", "With each setting, p")]
)
def test_settings_with_which_more_pages_fail_are_not_recommended(
    limit: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--pages", "2", "--replications", "2", "--set", f"browser.max_page_s={limit}")
    document = advice(capsys, "--traffic", "ucb", *words)
    assert document["answer"].startswith(answer)
    verdicts = {row["setting"]: row["verdict"] for row in document["rows"]}
    assert verdicts["DTIM 1 (static PSM)"] == "loses messages or pages"


def test_an_idle_station_without_messages_has_no_latency(capsys: pytest.CaptureFixture[str]) -> None:
    document = advice(capsys, "--traffic", "push:on=false,stretch_s=60", "--driver", "linux")
    assert "There is no message to delay." in document["answer"]
    assert "latency" not in document["answer"]
    assert not any("p99_latency_s" in row for row in document["rows"])


def test_currents_have_an_interval_and_the_source_of_the_interval(capsys: pytest.CaptureFixture[str]) -> None:
    """The interval is 0.86 to 3.5 times the current without a measured board, and 13 % after one mean."""
    words = (*DEVICE[:-4], "--replications", "1", "--workers", "1", *SHORT)
    plain = advice(capsys, *words)
    text = plain["answer"]
    assert re.search(r"It draws [0-9.]+ to [0-9.]+ mA, typically [0-9.]+", text)
    assert (
        "The interval is 0.86 to 3.5 times the predicted current asleep, because no board was measured"
        in text
    )
    measured = advice(capsys, *words, "--measured", "dtim=3: 2.5mA")
    assert "0.87 to 1.13 times" in measured["answer"]
    for document, low, high in ((plain, 0.86, 3.5), (measured, 0.87, 1.13)):
        row = next(row for row in document["rows"] if row["is_default"])
        current = row["current_ma"]
        assert current["typical_ma"] == pytest.approx(row["mean_current_ma"])
        assert min(low, 0.65) <= current["low_ma"] / current["typical_ma"] <= low
        assert 1 < current["high_ma"] / current["typical_ma"] <= max(high, 1.25)


def test_the_option_report_every_prints_the_hand_computed_deep_sleep_current(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """5 uA and 80, 200 or 400 mC per 15 minutes; the break-even time is the charge over the saved current."""
    words = ("--profile", "esp32", "--dtim", "3", "--report-every", "15min", "--replications", "1")
    document = advice(capsys, *words, "--workers", "1")
    rows = {row["mode"]: row["current_ma"] for row in document["modes"]}
    assert list(rows["deep-sleep"].values()) == pytest.approx([0.005 + mc / 900 for mc in (80, 200, 400)])
    assert list(rows) == ["deep-sleep", "light-sleep", "modem-sleep-dfs", "modem-sleep"]
    best = next(row for row in document["rows"] if row["setting"] == document["best"])["current_ma"]
    even_s = 200 / (best["typical_ma"] - 0.005)
    shown = re.search(r"it draws less than .* above ([0-9.]+) s", document["answer"])
    assert shown is not None
    assert float(shown[1]) == pytest.approx(even_s, rel=0.05)


def test_the_simulated_time_does_not_grow_with_the_interval_of_rare_reports(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output says so, and the current of deep sleep is that of the interval."""
    monkeypatch.setattr("psm_sim.commands.advise.MAX_REPORT_PERIOD_S", 60.0)  # for a fast test
    words = ("--profile", "esp32", "--report-every", "100h", "--replications", "1", "--workers", "1")
    document = advice(capsys, *words)
    assert "Simulated: 10.0 minutes of each setting with seed 1." in document["assumptions"]
    assert any("Reports are simulated every 3600 s" in line for line in document["assumptions"])
    rows = {row["mode"]: row["current_ma"] for row in document["modes"]}
    assert rows["deep-sleep"]["typical_ma"] == pytest.approx(0.005 + 200 / 360_000)


def test_a_report_interval_requires_a_unit_and_conflicts_with_other_traffic(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words, message in (
        (("--report-every", "15"), "--report-every requires a unit, got '15'; use ms, s, min, h."),
        (("--report-every", "15min", "--traffic", "push"), "--report-every conflicts with --traffic"),
        (("--report-every", "15min", "--traffic", "mqtt"), "--report-every conflicts with --traffic"),
    ):
        assert main(["advise", "--profile", "esp32", *words]) == 2
        assert message in capsys.readouterr().err


def test_no_table_of_modes_is_printed_for_a_chip_without_modes_or_without_a_supply_voltage(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The answer states that deep sleep is not compared."""
    words = ("--replications", "1", "--workers", "1", "--report-every", "30s")
    assert advice(capsys, "--profile", "nrf7002", *words)["modes"] == []
    document = advice(capsys, *words)
    assert document["modes"] == []
    assert "mW" in document["answer"]


def test_choosing_a_chip_implies_a_present_day_network_whose_parts_can_be_set(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A measured current includes that of its network.

    Without a chip, or with a topology, defaults differ.
    """
    words = ("--replications", "1", "--workers", "1", *SHORT)
    surroundings = {
        "beacon.loss": 0.02,
        "access_point.group_per_s": 0.2317,
        "access_point.group_bytes": 81,
    }
    network = {"beacon.interval_ms": 102.4, "links.wireless.rate_mbps": 65.0}
    chip = ("--profile", "esp32")
    document = advice(capsys, *chip, *words)
    assert document["settings"] == {**network, **surroundings}
    assert "The DTIM period of your access point is not given, and assumed to be 1." in document["answer"]
    assert "2 % of the beacons are lost" in " ".join(document["assumptions"])
    quiet = advice(capsys, *chip, *words, *QUIET, "--dtim", "1")
    assert (quiet["settings"]["beacon.loss"], quiet["settings"]["access_point.group_per_s"]) == ("0", "0")
    assert "The DTIM period" not in quiet["answer"]
    assert advice(capsys, *chip, *words, "--measured", "dtim=3: 3mA")["settings"] == network
    assert advice(capsys, *words)["settings"] == {"beacon.interval_ms": 102.4}
    assert advice(capsys, *words, "--set", "beacon.interval_ms=50")["settings"] == {
        "beacon.interval_ms": "50"
    }
    assert advice(capsys, *chip, *words, "--topology", "modern")["settings"] == {}


def test_the_output_has_the_currents_at_a_dtim_period_of_3_if_no_dtim_period_is_set(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Settings that wake for DTIM beacons then wake for every third beacon."""
    words = ("--profile", "esp32", "--replications", "1", "--workers", "1", *SHORT)
    assumed, stated = advice(capsys, *words), advice(capsys, *words, "--dtim", "3")
    currents = {row["setting"]: row["current_ma"] for row in stated["rows"]}
    rows = [row for row in assumed["rows"] if row["needs"] is None]
    for row in rows:
        name = row["setting"].replace("DTIM 1", "DTIM 3").replace("listen interval 3", "DTIM 3")
        assert row["current_ma_at_dtim_3"] == pytest.approx(currents[name])
    assert len(rows) > 8
    assert all("current_ma_at_dtim_3" not in row for row in stated["rows"])


def test_choosing_a_chip_implies_the_same_network_in_a_run_as_in_a_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Settings and axes override parts of the network, and a topology all of it."""
    network = present_network("esp32", {})
    changed = {**network, "beacon.loss": 0.05}
    for topology, settings, expected in (
        (None, {}, network),
        ("three-node", {}, {}),
        (None, {"beacon.loss": 0.05}, changed),
        (None, {"mac.model": "dcf"}, {**present_network("esp32", {"mac.model": "dcf"}), "mac.model": "dcf"}),
    ):
        traffic = "push:stretch_s=60"
        run = psm_sim.compare(
            ["psm"], traffic, topology, 1, settings=settings, profile="esp32", baselines=False
        )
        assert run.scenario.settings == expected
    words = [
        "--vary",
        "beacon.loss=0,0.1",
        "--trace",
        "push:stretch_s=60",
        "--pages",
        "1",
        "--format",
        "json",
    ]
    words += ["--profile", "esp32", "--workers", "1", "--output", str(tmp_path / "table.sqlite")]
    assert main(["sweep", *words]) == 0
    tasks = json.loads(capsys.readouterr().out)["tasks"]
    assert [task["beacon.loss"] for task in tasks] == [0.0, 0.1]
    for key in network.keys() - {"beacon.loss"}:
        assert {task[key] for task in tasks} == {network[key]}
