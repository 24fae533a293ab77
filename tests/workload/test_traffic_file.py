"""Traffic traces: background messages, and their latencies in a run."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from psm_sim.cli import main
from psm_sim.common.errors import InputError
from psm_sim.policies import POLICIES
from psm_sim.simulation import simulate
from psm_sim.simulation.table import directions_of, usage_of
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Pause
from psm_sim.workload.traffic_file import TrafficPart
from tests.every_beacon import run_both
from tests.page_rows import check_bytes_are_conserved

BEACON_S = 0.1024
SHORT = {
    "ping": "ping:stretch_s=20",
    "mqtt": "mqtt:stretch_s=100,command.period_s=20",
    "cbr": "cbr:stretch_s=0.5",
    "push": "push:stretch_s=100,period_s=10",
    "bulk": "bulk:stretch_s=8,period_s=4,bytes=100000",
    "phone": "phone:mean_think_s=20",
    "idle": "idle:stretch_s=200",
}


HOURS = 100 * 3600.0
PARTS = {
    "poisson": TrafficPart(timing="poisson", period_s=60.0),
    "bursts": TrafficPart(timing="bursts", period_s=120.0),
    "clock": TrafficPart(timing="clock", period_s=30.0, spread_s=0.3),
}
RATES = {"poisson": 1 / 60, "bursts": (300 / 120 + 30 / 3) / 330, "clock": 1 / 30}


def drawn_s(timing):
    """Return the message times of a hundred hours of a part, shape (n,)."""
    return PARTS[timing].times_s(HOURS, np.random.default_rng(1), timing)


@pytest.mark.parametrize("timing", PARTS)
def test_messages_are_sent_at_the_configured_rate(timing):
    """The rate is within 6 % over a hundred hours; the times ascend."""
    times_h = drawn_s(timing)
    assert len(times_h) == pytest.approx(HOURS * RATES[timing], rel=0.06)
    assert (np.diff(times_h) >= 0).all()
    assert times_h[0] >= 0
    assert times_h[-1] < HOURS


def test_intervals_of_poisson_and_bursty_and_periodic_messages_have_the_expected_variation():
    """The coefficient of variation of the intervals is 1, far above 1, and near 0."""
    gaps = {timing: np.diff(drawn_s(timing)) for timing in PARTS}
    variation = {timing: gap.std() / gap.mean() for timing, gap in gaps.items()}
    assert variation["poisson"] == pytest.approx(1, abs=0.05)
    assert variation["bursts"] > 1.8
    assert variation["clock"] == pytest.approx(0.3 * np.sqrt(2) / 30, rel=0.1)


def test_the_result_has_the_downlink_latencies():
    """Latencies of static PSM are up to a beacon interval, half of it in the mean.

    Without power saving they are the air time.
    """
    psm, awake = (simulate(policy, trace="pushes:stretch_s=1800", pages=1) for policy in ("psm", "always-on"))
    assert psm["pushes.sent"] == psm["pushes.delivered"] == awake["pushes.delivered"] > 15
    assert psm["pushes.delay_s.mean"] == pytest.approx(0.05, abs=0.02)
    assert psm["pushes.delay_s.max"] < 0.102
    assert awake["pushes.delay_s.max"] == pytest.approx(300 * 8 / 5e6 + 1e-4)
    assert psm.to_dict()["pushes"]["delay_s"]["p95"] == psm["pushes.delay_s.p95"]


@pytest.mark.parametrize(
    "parameters",
    [
        "push:timing=bursts,busy_for_s=1e-12,quiet_for_s=1e-12",
        "push:timing=bursts,stretch_s=1e9,busy_s=1e-3",
        "push:period_s=1e-6",
    ],
)
def test_too_many_datagrams_or_changes_of_state_are_an_error(parameters):
    """The error precedes sampling, which would not end in a lifetime for states of almost no length."""
    with pytest.raises(InputError, match=r"expected at most 10?,000,000 (busy and quiet periods|messages)"):
        load_workload(parameters, 10, 1)


def one_way_s(wire_bytes: int) -> float:
    """Return the time of one frame over both links of the three-node topology, in seconds."""
    return wire_bytes * 8 / 5e6 + 1e-4 + wire_bytes * 8 / 10e6 + 0.02


@pytest.mark.parametrize(("interval", "wait_ms"), [(1, 51.2), (2, 102.4), (3, 153.6), (10, 512.0)])
def test_the_mean_wait_is_half_of_the_listen_interval_if_no_frame_is_lost(interval, wait_ms):
    """The mean, without the air time, is within 1 %.

    Arrivals are at all phases of beacons that are 102.4 ms apart.
    """
    # The period is in no simple ratio to that of the beacons, so 3,000 arrivals have all phases.
    trace = "push:timing=clock,period_s=7.1234567,spread_s=0,bytes=100,stretch_s=21370"
    result = simulate(
        f"psm:listen_interval={interval}", trace, pages=1, settings={"beacon.interval_ms": 102.4}
    )
    assert result["pushes.delivered"] >= 2999
    on_air_ms = 100 * 8 / 5e6 * 1000 + 0.1
    assert 1000 * result["pushes.delay_s.mean"] - on_air_ms == pytest.approx(wait_ms, rel=0.01)
    assert wait_ms == pytest.approx(interval * BEACON_S * 500)


def test_without_power_saving_a_ping_takes_the_time_of_four_frames():
    """84 bytes over both links and back take the same time each time."""
    result = simulate("always-on", "ping:to=internet,stretch_s=60", pages=1)
    assert result["latency.round_trip_up.sent"] == result["latency.round_trip_up.delivered"] >= 59
    assert result["latency.round_trip_up.latency_s.p50"] == pytest.approx(2 * one_way_s(84))
    assert result["latency.round_trip_up.latency_s.max"] == pytest.approx(2 * one_way_s(84))


def test_a_ping_goes_to_a_local_host_unless_its_destination_is_the_internet():
    """The one-way delay is 0.2 ms instead of 20 ms; a setting or another topology has its own delay."""
    p50 = "latency.round_trip_up.latency_s.p50"

    def rtt_ms(**options):
        words = {"trace": "ping:stretch_s=60", **options}
        return 1000 * simulate("always-on", words.pop("trace"), pages=1, **words)[p50]

    local = rtt_ms()
    assert local == pytest.approx(1.0, abs=0.1)
    assert rtt_ms(trace="ping:to=local,stretch_s=60") == local
    assert rtt_ms(trace="ping:to=internet,stretch_s=60") == pytest.approx(local + 2 * 19.8)
    assert rtt_ms(settings={"links.wired.latency_ms": 5}) == pytest.approx(local + 2 * 4.8)
    assert rtt_ms(topology={"links.wired.latency_ms": 5}) == pytest.approx(local + 2 * 4.8)
    assert rtt_ms(trace="ping:reply_delay_ms=3,stretch_s=60") == pytest.approx(local + 3)
    with pytest.raises(InputError, match="Unknown value of to 'moon'"):
        rtt_ms(trace="ping:to=moon")


def test_a_probe_waits_for_a_beacon_but_the_reply_to_the_probe_does_not():
    """The round trip under static PSM is two one-way delays and up to a beacon interval."""
    result = simulate("psm", "ping:to=internet,sender=network,period_s=3.3,stretch_s=3000", pages=1)
    p50, p90, p99, mean = (
        result[f"latency.round_trip_down.latency_s.{name}"] for name in ("p50", "p90", "p99", "mean")
    )
    assert 2 * one_way_s(84) < p50 < p90 < p99 <= 2 * one_way_s(84) + 0.1
    assert mean == pytest.approx(2 * one_way_s(84) + 0.05, rel=0.05)


def test_a_message_on_a_persistent_connection_takes_the_time_of_its_segments():
    """The message of 2 bytes and 40 of headers gets a reply of the same size without delay."""
    trace = "mqtt:publish.on=false,command.on=false,stretch_s=600"
    result = simulate("always-on", trace, pages=1)
    assert directions_of(result.row) == ["round_trip_up"]
    assert result["latency.round_trip_up.latency_s.p50"] == pytest.approx(2 * one_way_s(42))


def test_a_bulk_message_is_a_single_tcp_transfer():
    """The transfer is not faster than a megabyte at 5 Mbit/s with a header per segment; no frame is lost."""
    result = simulate("always-on", "bulk", pages=1)
    assert 1e6 * (1500 / 1460) * 8 / 5e6 < result["latency.down.latency_s.p50"] < 2.0
    assert result["traffic.dropped_frames"] == 0


PAIRS = [(policy, "mqtt") for policy in POLICIES.names()] + [("lpsm", trace) for trace in SHORT]


@pytest.mark.parametrize(("policy", "trace"), list(dict.fromkeys(PAIRS)))
def test_bytes_are_conserved_and_an_event_per_beacon_does_not_change_the_result(policy, trace):
    """Each traffic trace runs under each policy."""
    one, full = run_both(policy, SHORT[trace], pages=2)
    check_bytes_are_conserved(one)
    # Texts are compared, because the delay without an arrival is NaN, which is not equal to itself.
    rows = [{**result.row, "wall_s": 0, "events": 0} for result in (one, full)]
    assert repr(rows[0]) == repr(rows[1])
    for name in directions_of(one.row):
        sent, delivered, lost = (one[f"latency.{name}.{count}"] for count in ("sent", "delivered", "lost"))
        assert delivered + lost <= sent


def test_messages_dropped_by_the_access_point_count_as_lost():
    """The queue has two frames and a doze ten beacons, so all but the last drops are known to be lost."""
    result = simulate(
        "psm:listen_interval=10", "push:period_s=0.1,stretch_s=60", pages=1,
        settings={"access_point.buffer_frames": 2},
    )  # fmt: skip
    lost, delivered = result["latency.down.lost"], result["latency.down.delivered"]
    assert 0 <= result["traffic.dropped_frames"] - lost < 20
    assert lost > 300
    assert result["latency.down.loss"] == lost / (lost + delivered)


def test_adding_background_traffic_does_not_change_the_pages_of_the_base_trace():
    """Pages are bit-for-bit equal, because background traffic has its own random streams."""
    mixed, plain = load_workload("phone", 5, 7), load_workload("ucb", 5, 7)
    assert mixed.pages == plain.pages
    assert len(mixed.messages) > 0


def test_the_think_time_of_a_page_in_a_traffic_file_is_the_parameter_stretch_s():
    """The page has the sizes of the file."""
    first, second = load_workload("pushes:stretch_s=9", 2, 1).pages
    assert first == second
    assert (first.think_s, first.main_bytes, first.request_bytes) == (9.0, 1000, (300,))


def test_parts_that_share_a_stream_are_sent_at_the_same_times(tmp_path):
    path = tmp_path / "own.toml"
    part = '[traffic.{}]\ntiming = "poisson"\nperiod_s = 9.0\n'
    path.write_text(part.format("a") + part.format("b") + 'stream = "traffic.a"\n' + part.format("c"))
    times = [load_workload(f"{path}:on=false,{name}.on=true", 1, 1).messages.at_s.tolist() for name in "abc"]
    assert times[0] == times[1] != times[2]


def test_a_parameter_applies_to_all_parts_of_the_traffic_or_to_a_named_part():
    """The parameter of a part wins, in any order."""
    for text in ("bytes=60,heard.bytes=90", "heard.bytes=90,bytes=60"):
        workload = load_workload(f"cbr:{text}", 1, 1)
        assert {(message.uplink, message.bytes) for message in workload.messages[:20]} == {
            (False, 90),
            (True, 60),
        }
        assert workload.parameters["heard.bytes"] == 90


@pytest.mark.parametrize(
    "bad",
    ["echo.bytes=3", "missing.bytes=60", "period_s=0.000001"],
)
def test_an_invalid_parameter_of_the_trace_is_an_error(bad):
    """The message names the trace, also for too many messages for the memory."""
    with pytest.raises(InputError, match="trace ping"):
        load_workload(f"ping:{bad}", 100, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("traffic = 1", "traffic must be a table of parts"),
        ("[traffic.'a b']\nbytes = 60", "a part name must .*, got 'a b'"),
        ("[traffic.a]\nbytes = 60\n[think_s]\nquantiles = [[1, 2]]", "missing"),
        ("[traffic.a]\nsize = 60", "no parameter 'size'"),
        ("[traffic.a]\nperiod_s = -1", "own.toml: a: period_s must be a number"),
        ("page = 1\n[traffic.a]\nbytes = 60", "page must be a table with main_bytes and request_bytes"),
        ("page = {bytes = 9}\n[traffic.a]\nbytes = 60", "page must be a table .*, got {'bytes': 9}"),
        (
            "page = {main_bytes = 0, request_bytes = 9}\n[traffic.a]\nbytes = 60",
            "main_bytes must be an integer from 1",
        ),
    ],
)
def test_the_error_for_an_invalid_traffic_file_has_the_file_name(text, words, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        load_workload(str(path), 1, 1)


def test_a_run_without_traffic_uses_only_the_energy_of_sleep_and_has_no_slowdown():
    """Under static PSM, the radio is asleep except for beacons."""
    workload = load_workload("ping:on=false", 3, 1)
    assert all(isinstance(page, Pause) for page in workload.pages)
    result = simulate("psm", workload)
    assert result.slowdown.max == result.slowdown.mean == 1.0
    assert result.page_time_s.max == 0.0
    assert usage_of(result.row).beacons == pytest.approx(3 * 600 / 0.1, abs=1)
    assert directions_of(result.row) == []


def test_table_and_json_and_csv_output_have_the_latency_percentiles(capsys):
    words = ["--policy", "psm", "--trace", "cbr:stretch_s=1", "--pages", "1", "--format"]
    outputs = []
    for form in ("table", "json", "csv"):
        assert main([*words, form]) == 0
        outputs.append(capsys.readouterr().out)
    table, document, rows = outputs[0], json.loads(outputs[1]), list(csv.DictReader(io.StringIO(outputs[2])))
    assert "down ms" in table
    assert "p99" in table
    latency = document["runs"][0]["latency"]
    assert set(latency) == {"down", "up"}
    assert float(rows[0]["latency.down.latency_s.p99"]) == latency["down"]["latency_s"]["p99"]
    assert main(["--policy", "psm", "--pages", "1", "--format", "json"]) == 0
    assert "latency" not in json.loads(capsys.readouterr().out)["runs"][0]


def test_the_messages_of_all_replications_are_pooled(capsys):
    """Another seed sends them at other times in stretches of the same length."""
    words = ["--policy", "psm", "--trace", "push:stretch_s=300", "--pages", "1", "--replications", "2"]
    assert main([*words, "--workers", "1", "--format", "json", "--no-baselines"]) == 0
    latency = json.loads(capsys.readouterr().out)["runs"][0]["latency"]["down"]
    results = [simulate("psm", "push:stretch_s=300", pages=1, seed=seed) for seed in (1, 2)]
    assert latency["sent"] == sum(one["latency.down.sent"] for one in results)
    assert latency["latency_s"]["max"] == max(one["latency.down.latency_s.max"] for one in results)
