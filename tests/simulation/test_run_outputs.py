"""Captures and timelines of runs: their files, errors, and captures read back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import psm_sim
from psm_sim.cli import main
from psm_sim.common.errors import InputError, PluginError
from psm_sim.network import load_topology
from psm_sim.network.parts.capture import capture_bytes
from psm_sim.policies import Policy, Rest
from psm_sim.simulation.run_outputs import RunOutputs
from psm_sim.workload import load_workload
from psm_sim.workload.recordings.capture.packet_capture import read_capture
from tests.network.parts.capture.sniffed import captured
from tests.workload.recordings.ucb_files import write_sampled


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def files():
    return sorted(path.name for path in Path().iterdir())


def printed(capsys, *words):
    """Return the standard output of a command, and its status."""
    status = main([*words, "--pages", "3", "--format", "json"])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_capture_and_timeline_do_not_change_the_result(capsys):
    _, without, _ = printed(capsys, "--policy", "lpsm")
    status, with_them, err = printed(
        capsys, "--policy", "lpsm", "--capture", "a.pcap", "--timeline", "a.json"
    )
    one, other = json.loads(without), json.loads(with_them)
    for document in (one, other):
        for run in (*document["runs"], *document["baselines"]):
            run.pop("wall_s")
    assert status == 0
    assert one == other
    assert "Wrote a.pcap" in err
    assert files() == ["a.json", "a.pcap"]


def test_each_requested_policy_has_a_file_of_its_own(capsys):
    """Baselines have no file; always-on has one if it is requested."""
    words = ("--policy", "bsd:p=0.5", "--policy", "always-on", "--capture", "c.pcap", "--timeline", "c.json")
    status, _, _ = printed(capsys, *words)
    assert status == 0
    names = ["c-always-on.json", "c-always-on.pcap", "c-bsd-p=0.5.json", "c-bsd-p=0.5.pcap"]
    assert files() == names
    assert all(Path(name).stat().st_size > 2000 for name in names)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--capture", "a.txt"], "must be a file that ends in .pcap"),
        (["--timeline", "a.pcap"], "must be a file that ends in .json"),
        (["--capture", "nowhere/a.pcap"], "is not a writable folder"),
        (["--capture", "a.pcap", "--replications", "2"], "conflicts with 2 replications"),
        (["--timeline", "a.json", "--replications", "2"], "conflicts with 2 replications"),
        (["--capture", "a.pcap", "--set", "tcp.header_bytes=30"], "to be a multiple of 4 from 40 to 80"),
        (["--capture", "a.pcap", "--set", "tcp.segment_bytes=65535"], "to be at most 65495"),
        (["--capture", "a.pcap", "--policy", "psm", "--policy", "psm"], "specify each policy only once"),
    ],
)
def test_an_output_that_cannot_be_written_is_an_error_before_the_run(words, sentence, capsys):
    status, _, err = printed(capsys, *words)
    assert status == 2
    assert sentence in err
    assert files() == []


def test_a_capture_of_several_clients_is_an_error(capsys):
    """A file has one run."""
    write_sampled(Path("my.tr.gz"), 300)
    status, _, err = printed(capsys, "--trace", "my.tr.gz:clients=2", "--capture", "a.pcap")
    assert status == 2
    assert "conflicts with 2 clients" in err
    assert files() == ["my.tr.gz"]


def test_a_failed_run_does_not_change_the_files():

    class Failing(Policy):
        name = "failing"

        def rest(self, now_s, since_uplink_s, poll):
            if now_s > 5:
                raise RuntimeError("no idea")
            return Rest()

    Path("a.pcap").write_bytes(b"old")
    with pytest.raises(PluginError, match="no idea"):
        psm_sim.simulate(Failing, pages=2, capture="a.pcap", timeline="a.json")
    assert files() == ["a.pcap"]
    assert Path("a.pcap").read_bytes() == b"old"


def test_a_capture_whose_estimated_size_is_too_large_is_an_error_before_the_run(monkeypatch):
    """The think times are years."""
    workload, topology = load_workload("ucb", 10, 1), load_topology()
    monkeypatch.setattr("psm_sim.simulation.run_outputs.MAX_CAPTURE_BYTES", 100_000)
    with pytest.raises(InputError, match=r"--capture 'a\.pcap' would have about 0\.\d MB"):
        RunOutputs(Path("a.pcap")).check_size([workload], topology)
    RunOutputs(Path("/dev/null")).check_size([workload], topology)


@pytest.mark.parametrize("trace", ["ucb", "ping", "mqtt", "push", "modern"])
def test_the_estimated_size_of_a_capture_is_within_a_factor_of_two(trace):
    """No frame is repeated."""
    workload = load_workload(trace, 3, 1)
    _, _, data = captured("psm", pages=3, trace=trace)
    estimate = capture_bytes([workload], load_topology())
    assert len(data) / 2 < estimate < 2 * len(data)


@pytest.mark.parametrize("policy", ["always-on", "psm", "lpsm"])
def test_a_capture_that_is_read_back_has_the_same_packets(policy):
    """Times in ns, sizes and directions of all received packets are equal."""
    world, log, data = captured(policy, pages=10)
    Path("a.pcap").write_bytes(data)
    capture = read_capture(Path("a.pcap"))
    assert capture.client == "10.0.0.2"
    for up, reported in ((False, log.down), (True, log.up)):
        rows = capture.rows[capture.uplink == up]
        heard = sorted(
            (round(at_s * 1e9), segment.wire_bytes) for at_s, segment in reported if at_s <= world.env.now
        )
        assert rows["time_ns"].tolist() == [at_ns for at_ns, _ in heard]
        assert rows["length"].tolist() == [size for _, size in heard]


def test_datagrams_replayed_from_a_capture_arrive_at_the_captured_intervals():
    """Pushes to an always-on station arrive at the same intervals, with the same bytes."""
    first = psm_sim.simulate("always-on", trace="push", pages=1, capture="a.pcap")
    again = psm_sim.simulate("always-on", trace="a.pcap", capture="b.pcap")
    one, other = (read_capture(Path(name)).rows for name in ("a.pcap", "b.pcap"))
    assert first["traffic.client_received_bytes"] == again["traffic.client_received_bytes"]
    assert np.diff(one["time_ns"]) == pytest.approx(np.diff(other["time_ns"]), abs=2)
    assert one["length"].tolist() == other["length"].tolist()
