"""``psm_sim calibrate``: its lines, profile, plot and errors."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.network.chip_profiles import load_profile
from tests.calibration.generator import Truth, csv_text, make_recording, ppk2_bytes

SEED = 11


def recorded(folder: Path, kind: str) -> tuple[str, Truth]:
    """Write a recording, and return its path and the truth."""
    recording = make_recording(kind, SEED)
    return str(recording.write(folder)), recording.truth


def test_the_first_line_has_the_charges_and_the_last_compares_a_simulation(tmp_path, capsys):
    path, truth = recorded(tmp_path, "dtim-3")
    assert main(["calibrate", path]) == 0
    first, second, *_, last = capsys.readouterr().out.splitlines()
    pattern = (
        r"base ([\d.]+) mA \([\d.]+ % of the mean\) · beacons every 307\.2 ms, (\d+) ± \d+ uC \(\d+ %\),"
        r" [\d.]+ % missed · missed beacons [\d.]+ % · group frames [\d.]+ % .*· unexplained 0 %"
    )
    match = re.fullmatch(pattern, first)
    assert match
    assert float(match[1]) == pytest.approx(truth.values["base_ma"], rel=0.02)
    assert float(match[2]) == pytest.approx(truth.values["beacon_uc"], rel=0.02)
    assert f"mean {truth.values['mean_ma']:.3g} mA in 60 s" in second
    numbers = [float(number) for number in re.findall(r"([\d.]+) (?:of|mA)", last)]
    assert re.match(
        r"Simulated mean .* mA recorded without .* mA of missed beacons, .* mA of group frames:", last
    )
    simulated_ma, recorded_ma, missed_ma, group_ma, *_ = numbers
    assert simulated_ma == pytest.approx(recorded_ma, rel=0.05)  # it does not wake again after a miss
    assert recorded_ma + missed_ma + group_ma == pytest.approx(truth.values["mean_ma"], rel=0.01)


@pytest.mark.parametrize(("kind", "states"), [("means-1-khz", 2), ("pings-200-ms", 3)])
def test_the_simulated_mean_of_each_state_equals_the_recorded_mean(tmp_path, capsys, kind, states):
    path, truth = recorded(tmp_path, kind)
    assert main(["calibrate", path]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    pairs = [(float(a), float(b)) for a, b in re.findall(r"([\d.]+) of ([\d.]+) mA", last)]
    assert len(pairs) == 1 + states
    for simulated_ma, recorded_ma in pairs:
        assert simulated_ma == pytest.approx(recorded_ma, rel=0.03)
    assert pairs[0][1] == pytest.approx(truth.values["mean_ma"], rel=0.01)


def test_no_beacons_are_simulated_during_an_association(tmp_path, capsys):
    path, truth = recorded(tmp_path, "boot")
    assert main(["calibrate", path]) == 0
    match = re.search(r"beacons ([\d.]+) of ([\d.]+) mA", capsys.readouterr().out)
    assert match
    assert float(match[1]) == pytest.approx(float(match[2]), rel=0.02)
    assert float(match[2]) == pytest.approx(truth.shares["beacons"] * truth.values["mean_ma"], rel=0.02)


def test_the_profile_can_be_used_and_its_numbers_are_measured(tmp_path, capsys):
    path, truth = recorded(tmp_path, "timers")
    chip = tmp_path / "chip.toml"
    words = ["calibrate", path, "--output", str(chip), "--supply", "3.0"]
    assert main(words) == 0
    profile = load_profile(str(chip))
    assert profile.known == "this board was recorded"
    assert 0.97 < profile.interval[0] < 0.995 < 1.005 < profile.interval[1] < 1.03
    mode = profile.mode
    assert mode is not None
    assert mode.name == "modem-sleep"
    assert all(text.startswith("measured: ") for text in mode.origin.values())
    assert mode.numbers["floor_ma"] == pytest.approx(truth.values["base_ma"], rel=0.02)
    timers_ma = truth.shares["timers"] * truth.values["mean_ma"]
    assert mode.numbers["extra_ma"] == pytest.approx(timers_ma, rel=0.05)
    assert mode.spread["beacon_uc"][0] < truth.values["beacon_uc"] < mode.spread["beacon_uc"][1]
    capsys.readouterr()
    run = ["--policy", "psm", "--trace", "idle", "--pages", "1", "--profile", str(chip), "--format", "json"]
    run += ["--topology", "three-node", "--set", "beacon.interval_ms=102.4"]
    assert main([*run, "--no-baselines"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    mean_ma = truth.values["base_ma"] + timers_ma + truth.values["beacon_uc"] / 102.4
    assert row["mean_current_ma"] == pytest.approx(mean_ma, rel=0.02)
    assert main(words) == 2
    assert "already exists" in capsys.readouterr().err


def test_json_has_the_calibration_and_the_lines(tmp_path, capsys):
    path, truth = recorded(tmp_path, "association")
    assert main(["calibrate", path, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    charge_mc = truth.values["association_uc"] / 1e3
    assert document["calibration"]["associate_mc"] == pytest.approx(charge_mc, rel=0.05)
    assert document["calibration"]["counts"]["association"] == 1
    assert sum(document["calibration"]["shares"].values()) == pytest.approx(1)
    assert "1 association of " in document["lines"][1]


@pytest.mark.parametrize(
    ("kind", "says"),
    [("always-on", "no beacons: the radio is always on"), ("off", "no beacons: no power saving")],
)
def test_without_beacons_there_is_no_profile(tmp_path, capsys, kind, says):
    path, _ = recorded(tmp_path, kind)
    assert main(["calibrate", path]) == 0
    assert says in capsys.readouterr().out
    chip = tmp_path / "chip.toml"
    assert main(["calibrate", path, "--output", str(chip)]) == 0
    assert "it is no profile" in capsys.readouterr().err
    table = tomllib.loads(chip.read_text())
    assert not [key for key in table["calibration"] if key.startswith(("beacon", "missed"))]
    assert "mode" not in table
    with pytest.raises(InputError, match="its recording has no beacons; record an associated, idle station"):
        load_profile(str(chip))


def test_an_unusual_beacon_interval_has_a_remark(tmp_path, capsys):
    """An interval of 100 TU is a multiple of 25 TU, too."""
    path, _ = recorded(tmp_path, "means-10-khz")
    assert main(["calibrate", path, "--beacon-interval", "25TU"]) == 0
    assert "beacons every 102.4 ms" in capsys.readouterr().out


def test_the_plot_has_the_states_of_the_recording(tmp_path):
    path, _ = recorded(tmp_path, "pings-50-ms")
    picture = tmp_path / "plot.svg"
    assert main(["calibrate", path, "--plot", str(picture)]) == 0
    text = picture.read_text()
    for label in ("base", "beacons", "frames", "current (mA)", "share of the mean current"):
        assert f">{label}" in text
    assert ">association" not in text


@pytest.mark.parametrize("name", ["current.csv", "current.ppk2"])
def test_a_current_recording_as_a_trace_suggests_calibrate(tmp_path, capsys, name):
    recording = make_recording("off", SEED)
    times_s, level_ma = recording.times_s, recording.currents_ma
    data = ppk2_bytes(level_ma, 2000) if name.endswith("ppk2") else csv_text(times_s, level_ma).encode()
    (tmp_path / name).write_bytes(data)
    for words in (["--trace"], ["trace", "info"]):
        assert main([*words, str(tmp_path / name)]) == 2
        complaint = capsys.readouterr().err
        assert "is a recording of a current, not of traffic" in complaint
        assert "psm_sim calibrate" in complaint


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--units", "ms"], "--units must be a unit of time and one of current or power"),
        (["--supply", "0"], "--supply must be a number > 0"),
        (["--output", "chip.csv"], "--output must be a file that ends in .toml"),
        (["--plot", "plot.gif"], "--plot must be a file that ends in"),
        (["--beacon-interval", "1x"], "--beacon-interval must be"),
    ],
)
def test_wrong_options_are_an_error_of_one_sentence(tmp_path, capsys, words, says):
    path = tmp_path / "a.csv"
    path.write_text("time_s,current_mA\n0,1\n")
    assert main(["calibrate", str(path), *words]) == 2
    complaint = capsys.readouterr().err
    assert says in complaint
    assert complaint.count("\n") == 1


def test_a_recording_is_never_replaced(tmp_path, capsys):
    path = tmp_path / "a.toml"
    path.write_text("time_s,current_mA\n0,1\n")
    assert main(["calibrate", str(path), "--output", str(path), "--force"]) == 2
    assert "is an input of the same command" in capsys.readouterr().err
