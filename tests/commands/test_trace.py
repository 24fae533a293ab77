"""``python -m psm_sim trace``."""

from __future__ import annotations

import argparse
import gzip

import pytest

from psm_sim.cli import main
from psm_sim.commands import trace
from psm_sim.workload import load_workload, read_page_list
from tests.workload.recordings.ucb_files import write_sampled


def run(*words):
    """Run the subcommand with these arguments."""
    parser = argparse.ArgumentParser()
    trace.add_arguments(parser)
    return trace.run(parser.parse_args([str(word) for word in words]))


@pytest.fixture
def synthetic(tmp_path):
    """Return a small file of sampled pages."""
    path = tmp_path / "s.tr.gz"
    write_sampled(path, 3000)
    return path


def test_trace_info_describes_a_file(synthetic, capsys):
    """Standard output has format, records, clients, pages, time span and quantiles."""
    assert run("info", synthetic) == 0
    out = capsys.readouterr().out
    for words in ("UCB Home IP, binary", "3,000", "Clients  3 (busiest: ", "Span", "days"):
        assert words in out
    heads, _, *rows = out[out.index("\n\n") :].split("\n")[2:-1]
    assert heads.split() == ["mean", "10%", "25%", "50%", "75%", "90%", "99%", "max"]
    means = {row[:19].strip(): float(row[19:].split()[0].replace(",", "")) for row in rows}
    assert means["objects per page"] == pytest.approx(2.84, rel=0.1)
    assert means["think time, s"] > 0


def test_a_converted_page_list_has_the_pages_of_a_run(synthetic, tmp_path, capsys):
    """The page list has all pages of the busiest client, or the first N, with the parameters of --trace."""
    to = tmp_path / "pages.csv"
    assert run("convert", synthetic, "--to", to) == 0
    everything = load_workload(str(synthetic), 10**9, 1)
    assert read_page_list(to) == everything.pages
    assert f"Wrote {len(everything.pages)} pages to {to}: client" in capsys.readouterr().err
    assert run("convert", f"{synthetic}:workload=sample", "--pages", 7, "--to", to, "--force") == 0
    assert read_page_list(to) == load_workload(f"{synthetic}:workload=sample", 7, 1).pages
    assert run("convert", "ucb", "--to", to, "--force") == 0
    assert read_page_list(to) == load_workload("ucb", 100, 1).pages


def test_warnings_are_printed_to_standard_error(synthetic, tmp_path, capsys):
    """A truncated file is described, with a warning that has the offset."""
    (tmp_path / "b.tr").write_bytes(gzip.decompress(synthetic.read_bytes())[:-5])
    assert run("info", tmp_path / "b.tr") == 0
    streams = capsys.readouterr()
    assert "2,999" in streams.out
    assert "psm_sim: the last record, at byte" in streams.err


def test_bad_input_does_not_change_an_existing_file(tmp_path, capsys):
    """The damaged record is near the end of the trace."""
    path = tmp_path / "s.tr"
    write_sampled(path, 3000)
    data = bytearray(path.read_bytes())
    at = data.rfind(b"GET ")
    data[at : at + 4] = b"XXXX"
    path.write_bytes(data)
    to = tmp_path / "old.csv"
    to.write_text("precious")
    assert main(["trace", "convert", str(path), "--to", str(to), "--force"]) == 2
    assert "is damaged" in capsys.readouterr().err
    assert to.read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 2
