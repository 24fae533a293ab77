"""``python -m psm_sim trace``."""

from __future__ import annotations

import argparse
import re

import pytest

from psm_sim.cli import main
from psm_sim.commands import trace
from psm_sim.workload import load_workload, read_page_list


def run(*words):
    """Run the subcommand with these arguments."""
    parser = argparse.ArgumentParser()
    trace.add_arguments(parser)
    return trace.run(parser.parse_args([str(word) for word in words]))


@pytest.fixture
def synthetic(tmp_path):
    """A small synthesized file."""
    path = tmp_path / "s.tr.gz"
    assert run("synthesize", "--records", 3000, "--to", path) == 0
    return path


def test_info_tells_what_is_in_a_file(synthetic, capsys):
    """Format, records, clients, pages, span, quantiles and a histogram, on standard output."""
    assert run("info", synthetic) == 0
    out = capsys.readouterr().out
    for words in ("UCB Home IP, binary", "3,000", "Clients  3 (busiest: ", "Span", "days", "think time, s"):
        assert words in out
    rows = {line[:20].strip(): line[20:].split() for line in out.splitlines() if line[20:22] == "  "}
    assert rows["quantiles"] == ["mean", "10%", "25%", "50%", "75%", "90%", "99%", "max"]
    assert float(rows["objects per page"][0]) == pytest.approx(2.84, rel=0.1)
    assert out.count("#") > 40
    histogram = out[out.index("think time, s\n") :].splitlines()[1:]
    assert "#" in histogram[0]
    assert "%" in histogram[-1]
    assert not histogram[-1].endswith(" 0.0%")


def test_pages_converted_to_a_page_list_are_those_that_would_be_simulated(synthetic, tmp_path, capsys):
    """Every page of the busiest client, or the first N; parameters are those of --trace."""
    to = tmp_path / "pages.csv"
    assert run("convert", synthetic, "--to", to) == 0
    everything = load_workload(str(synthetic), 10**9, 1)
    assert read_page_list(to) == everything.pages
    assert f"Wrote {len(everything.pages)} pages to {to}: client" in capsys.readouterr().err
    assert run("convert", f"{synthetic}:workload=sample", "--pages", 7, "--to", to, "--force") == 0
    assert read_page_list(to) == load_workload(f"{synthetic}:workload=sample", 7, 1).pages
    assert run("convert", "ucb", "--to", to, "--force") == 0
    assert read_page_list(to) == load_workload("ucb", 100, 1).pages


def test_records_convert_between_binary_and_text_and_back(synthetic, tmp_path):
    text, binary, packed = tmp_path / "a.txt", tmp_path / "b.tr", tmp_path / "c.tr.gz"
    run("convert", synthetic, "--to", text)
    run("convert", text, "--to", binary)
    run("convert", binary, "--to", packed)
    assert packed.read_bytes() == synthetic.read_bytes()
    assert text.read_bytes().count(b"\n") == 3000


def test_a_fitted_profile_is_a_trace(synthetic, tmp_path, capsys):
    run("fit", synthetic, "--to", tmp_path / "my.toml")
    assert "Wrote profile" in capsys.readouterr().err
    assert len(load_workload(str(tmp_path / "my.toml"), 30, 1).pages) == 30
    run("convert", synthetic, "--to", tmp_path / "p.csv")
    run("fit", tmp_path / "p.csv", "--to", tmp_path / "other.toml")
    assert len(load_workload(str(tmp_path / "other.toml"), 30, 1).pages) == 30


def test_warnings_go_to_standard_error(synthetic, tmp_path, capsys):
    """A cut file is described, and the cut is told with its offset."""
    run("convert", synthetic, "--to", tmp_path / "b.tr")
    data = (tmp_path / "b.tr").read_bytes()
    (tmp_path / "b.tr").write_bytes(data[:-5])
    capsys.readouterr()
    assert run("info", tmp_path / "b.tr") == 0
    streams = capsys.readouterr()
    assert "2,999" in streams.out
    assert "psm_sim: the last record, at byte" in streams.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["info", "nothing.tr"], "Trace file not found: 'nothing.tr'"),
        (["convert", "ucb", "--to", "x.tr"], "has an unknown format|must be a UCB Home IP trace"),
        (["convert", "ucb", "--to", "x.xml"], r"--to must be a name ending in \.csv, \.tr.*, got 'x\.xml'"),
        (["convert", "ucb", "--to", "x.csv", "--pages", "0"], "--pages must be an integer from 1 to 500000"),
        (["fit", "ucb", "--to", "x.toml"], "is already a profile"),
        (["fit", "ucb", "--to", "x.csv"], r"must be a name ending in \.toml"),
        (["synthesize", "--records", "0", "--to", "x.tr"], "--records must be an integer from 1 to 30000000"),
        (["synthesize", "--records", "9", "--to", "x.csv"], r"must be a name ending in \.tr or \.tr\.gz"),
        (["synthesize", "--records", "9", "--to", "x.tr", "--profile", "udp"], "Unknown trace 'udp'"),
        (
            ["synthesize", "--records", "9", "--to", "x.tr", "--profile", "/dev/null"],
            "--profile must be .*, got '/dev/null'",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(["trace", *words]) == 2
    told = capsys.readouterr().err
    assert re.search(message, told)
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_bad_input_leaves_the_earlier_file(tmp_path, capsys):
    """A record damaged near the end of the trace is found when most of the target is written."""
    assert main(["trace", "synthesize", "--records", "30000", "--to", str(tmp_path / "s.tr")]) == 0
    data = bytearray((tmp_path / "s.tr").read_bytes())
    at = data.rfind(b"GET ")
    data[at : at + 4] = b"XXXX"
    (tmp_path / "s.tr").write_bytes(data)
    to = tmp_path / "old.tr.gz"
    to.write_text("precious")
    assert main(["trace", "convert", str(tmp_path / "s.tr"), "--to", str(to), "--force"]) == 2
    assert "is damaged" in capsys.readouterr().err
    assert (tmp_path / "old.tr.gz").read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_fit_of_a_file_whose_name_is_no_utf_8_can_be_read(tmp_path):
    """The name stands in the profile; so do signs beyond the first 65,536."""
    path = tmp_path / "bad\udcff\U000e0001.csv"
    path.write_text("page,think_s,main_bytes,images\n1,2,3000,\n2,3,4000,\n")
    assert main(["trace", "fit", str(path), "--to", str(tmp_path / "p.toml")]) == 0
    assert len(load_workload(str(tmp_path / "p.toml"), 3, 1).pages) == 3


def test_a_fit_of_pages_that_all_think_long_can_be_drawn_from(tmp_path):
    """The usual limit on think times would reject every one of them."""
    path = tmp_path / "long.csv"
    path.write_text("page,think_s,main_bytes,images\n1,2000,3000,\n2,3000,4000,\n")
    assert main(["trace", "fit", str(path), "--to", str(tmp_path / "p.toml")]) == 0
    assert min(page.think_s for page in load_workload(str(tmp_path / "p.toml"), 5, 1).pages) >= 2000
