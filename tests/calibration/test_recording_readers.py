"""Check that all formats give the same recording, and that any file gives a recording or one sentence."""

from __future__ import annotations

import json
import warnings
import zipfile
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psm_sim.calibration import recording_readers
from psm_sim.calibration.estimator import estimate
from psm_sim.calibration.recording_readers import read_recording
from psm_sim.common.errors import InputError
from tests.calibration.generator import Floats, csv_text, make_recording, ppk2_bytes
from tests.fuzz.documents import damaged

TIMES_S = np.arange(2000) / 1000
LEVEL_MA: Floats = np.where(np.arange(2000) % 100 < 3, 51.0, 1.0)


def read(tmp_path, text, name="a.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_recording(path, **options)


@pytest.mark.parametrize(
    ("header", "scales"),
    [
        ("Timestamp(ms),Current(uA)", (1e3, 1e3)),
        ("time_s,current_mA", (1, 1)),
        ("Time [us],Current [A]", (1e6, 1e-3)),
        ("t (s),I (nA)", (1, 1e6)),
        ("Time (s),Power (mW)", (1, 3.3)),
        ("time/ms,current/µA", (1e3, 1e3)),
        ("millis,current_mA", (1e3, 1)),
        ("micros,amps (mA)", (1e6, 1)),
        ("Time (s),Channel 1 (A)", (1, 1e-3)),
        ("t (s),P (mW)", (1, 3.3)),
    ],
)
def test_the_header_sets_the_units(tmp_path, header, scales):
    recording = read(tmp_path, csv_text(TIMES_S, LEVEL_MA, header, scales))
    assert recording.currents_ma == pytest.approx(LEVEL_MA, abs=1e-4)
    assert recording.times_s == pytest.approx(TIMES_S, abs=1e-9)
    assert recording.mean_ma == pytest.approx(LEVEL_MA.mean(), rel=1e-4)


@pytest.mark.parametrize("kind", ["points-410-hz", "drift", "iso-times", "decimal-commas", "last-line"])
def test_the_files_of_several_recorders_are_read(tmp_path, kind):
    recording = make_recording(kind, 1)
    found = read_recording(recording.write(tmp_path))
    assert found.currents_ma == pytest.approx(recording.currents_ma, abs=1e-4)
    assert found.length_s == pytest.approx(recording.truth.recorded_s, rel=1e-3)


def test_a_column_of_current_precedes_one_of_power_and_others_are_ignored(tmp_path):
    rows = "".join(f"{1e3 * t:.0f},5.0,{i},{5 * i},x\n" for t, i in zip(TIMES_S, LEVEL_MA, strict=True))
    recording = read(tmp_path, "timestamp_ms,voltage_V,current_mA,power_mW,marker\n" + rows)
    assert recording.currents_ma == pytest.approx(LEVEL_MA)


def test_decimal_commas_are_read_with_another_separator(tmp_path):
    recording = read(tmp_path, csv_text(TIMES_S, LEVEL_MA, "Zeit time (s);Current (mA)", (1, 1), ";", ","))
    assert recording.currents_ma == pytest.approx(LEVEL_MA)
    with pytest.raises(
        InputError, match="expected rows of 2 values, as in the header, got 4; a decimal comma"
    ):
        read(tmp_path, csv_text(TIMES_S, LEVEL_MA, "time (s),Current (mA)", (1, 1), ",", ","))


def test_a_file_without_a_header_requires_units(tmp_path):
    text = csv_text(TIMES_S, LEVEL_MA, "", (1, 1)).lstrip()
    with pytest.raises(InputError, match="add --units"):
        read(tmp_path, text)
    assert read(tmp_path, text, units=("s", "mA")).currents_ma == pytest.approx(LEVEL_MA)


def test_a_ppk2_file_and_its_export_are_the_same_recording(tmp_path):
    exported = read(tmp_path, csv_text(TIMES_S, LEVEL_MA))
    saved = read(tmp_path, ppk2_bytes(LEVEL_MA, 1000), "a.ppk2")
    assert saved.currents_ma == pytest.approx(exported.currents_ma, rel=1e-6)
    assert saved.times_s == pytest.approx(exported.times_s)


def test_fast_samples_are_averaged_without_loss_of_charge(tmp_path):
    level_ma = np.repeat(LEVEL_MA, 100)
    recording = read(tmp_path, ppk2_bytes(level_ma, 100_000), "a.ppk2")
    assert recording.step_s == pytest.approx(5e-5)
    assert recording.times_s.size == level_ma.size / 5
    assert recording.mean_ma == pytest.approx(LEVEL_MA.mean())


def test_more_samples_than_the_limit_are_averaged_without_loss_of_charge(tmp_path, monkeypatch):
    monkeypatch.setattr(recording_readers, "_MAX_SAMPLES", 500)
    monkeypatch.setattr(recording_readers, "_CHUNK", 100)
    recording = read(tmp_path, csv_text(TIMES_S, LEVEL_MA))
    assert recording.times_s.size <= 500
    assert recording.mean_ma == pytest.approx(LEVEL_MA.mean(), rel=0.01)
    assert recording.length_s == pytest.approx(2.0, rel=0.01)


def test_a_latin_1_header_and_comments_before_it_are_read(tmp_path):
    text = csv_text(TIMES_S, LEVEL_MA, "time/ms,current/µA", (1e3, 1e3))
    for data in (text.encode("latin-1"), b"# PPK2\n# 3.3 V\n" + text.encode()):
        assert read(tmp_path, data).currents_ma == pytest.approx(LEVEL_MA, abs=1e-4)


@pytest.mark.parametrize("date", ["2026-03-01T", "2026-03-01 ", ""])
def test_clock_times_are_read(tmp_path, date):
    zone = "+01:00" if date else ""
    rows = (f"{date}12:00:{t:09.6f}{zone},{i}" for t, i in zip(TIMES_S, LEVEL_MA, strict=True))
    recording = read(tmp_path, "\n".join(["timestamp,current_mA", *rows]))
    assert recording.currents_ma == pytest.approx(LEVEL_MA)
    assert recording.times_s - recording.times_s[0] == pytest.approx(TIMES_S, abs=1e-6)


def test_a_clipped_current_has_a_warning(tmp_path):
    noisy_ma = LEVEL_MA + np.random.default_rng(1).normal(0, 0.1, LEVEL_MA.size)
    assert read(tmp_path, csv_text(TIMES_S, noisy_ma)).warnings == ()
    clipped = read(tmp_path, csv_text(TIMES_S, noisy_ma.clip(max=40)))
    assert "60 samples in" in clipped.warnings[0]
    assert "same largest current, 40 mA" in clipped.warnings[0]


def test_times_of_whole_seconds_are_rejected(tmp_path):
    with pytest.raises(InputError, match="rounded to 1 s; expected at most 10 ms in 2 s"):
        read(tmp_path, csv_text(np.floor(TIMES_S + 0.5), LEVEL_MA, "time_s,current_mA", (1, 1)))


def test_a_gap_has_no_charge(tmp_path):
    present = (TIMES_S < 0.5) | (TIMES_S >= 1.5)
    recording = read(tmp_path, csv_text(TIMES_S[present], LEVEL_MA[present]))
    assert recording.length_s == pytest.approx(1.0, abs=2e-3)


def test_a_long_gap_is_reported_because_the_clock_can_have_been_set(tmp_path):
    times_s = TIMES_S + 10 * (TIMES_S >= 0.5)
    (warning,) = read(tmp_path, csv_text(times_s, LEVEL_MA)).warnings
    assert "no samples for 10 s, 0.499 s after its start" in warning


def test_millisecond_stamps_of_faster_samples_are_spread_evenly(tmp_path):
    times_s = np.arange(20_000) / 10_000
    level_ma: Floats = np.where(np.arange(20_000) % 1000 < 30, 51.0, 1.0)
    text = csv_text(np.floor(times_s * 1000) / 1000, level_ma)
    recording = read(tmp_path, text)
    assert recording.lengths_s == pytest.approx(np.full(20_000, 1e-4), rel=1e-3)


def test_a_missing_number_is_omitted_with_a_warning(tmp_path):
    lines = csv_text(TIMES_S, LEVEL_MA).splitlines()
    lines[50] = "49.0,nan"
    lines[60] = "59.0"
    recording = read(tmp_path, "\n".join(lines))
    assert recording.times_s.size == 1998
    assert "left out: 2 of 2,000 in" in recording.warnings[0]


def change(at: int, line: str) -> str:
    lines = csv_text(TIMES_S, LEVEL_MA).splitlines()
    lines[at] = line
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no CSV file"),
        ("Timestamp(ms),Current(uA)\n", "is no CSV file"),
        (change(0, "a,b"), "must have a column of time and one of current or power"),
        (change(0, "time,current"), "have no units; add --units"),
        (change(9, "3.0,1000"), "the time must not decrease, got 0.003 s after 0.007 s"),
        (change(9, "8.0,1e30"), "must be at most 10 A"),
        (change(9, "8.0,1,2,3"), "is no valid CSV file: .* line 10, saw 4"),
        (
            "\n".join(change(9, "8.0,1").splitlines()[:50]),
            "has 49 samples in 0.048 s; expected at least 100 in 1 s",
        ),
        (csv_text(0 * TIMES_S, LEVEL_MA), "has 2,000 samples in 0 s"),
        (csv_text(TIMES_S, -LEVEL_MA), "must have a mean current above 0"),
        (csv_text(TIMES_S, LEVEL_MA).replace(".", "?"), "must be numbers, got '0\\?000000'"),
    ],
)
def test_a_wrong_file_is_an_error_of_one_sentence(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


def test_times_before_a_trigger_may_be_negative(tmp_path):
    assert read(tmp_path, csv_text(TIMES_S - 1, LEVEL_MA)).times_s[0] == pytest.approx(-1)


@pytest.mark.parametrize("cut", [10, 200, 0.5, 0.99])
def test_a_truncated_ppk2_file_is_an_error_of_one_sentence(tmp_path, cut):
    data = ppk2_bytes(np.random.default_rng(1).uniform(1, 50, 5000), 1000)
    with pytest.raises(InputError, match=r"is no valid \.ppk2 file"):
        read(tmp_path, data[: int(cut if cut >= 1 else cut * len(data))], "a.ppk2")


def test_a_zip_bomb_ends_at_the_limit_of_samples(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.ppk2", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("metadata.json", json.dumps({"metadata": {"samplesPerSecond": 100_000}}))
        archive.writestr("session.raw", bytes(24_000_000))
    assert (tmp_path / "a.ppk2").stat().st_size < 1 << 20
    monkeypatch.setattr(recording_readers, "MAX_RECORDS", 3_000_000)
    with pytest.raises(InputError, match="must have at most 3,000,000 samples"):
        read_recording(tmp_path / "a.ppk2")


CSV = csv_text(4 * TIMES_S[:300], LEVEL_MA[:300]).encode()
PPK2 = ppk2_bytes(LEVEL_MA[:300], 250)


@settings(max_examples=250)
@given(st.integers(0, 2**32), st.sampled_from(["csv", "ppk2"]))
def test_a_damaged_file_gives_a_calibration_or_one_sentence(tmp_path_factory, seed, kind):
    path = tmp_path_factory.getbasetemp() / f"damaged.{kind}"
    path.write_bytes(damaged(CSV if kind == "csv" else PPK2, Random(seed)))  # noqa: S311
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            calibration = estimate(read_recording(path)).calibration
        except InputError as error:
            assert "\n" not in str(error).strip()  # noqa: PT017
            return
    assert sum(calibration.shares.values()) == pytest.approx(1)
    assert np.isfinite(calibration.mean_ma)
