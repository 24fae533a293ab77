"""Finished results survive a later policy that fails and an interrupt."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import psm_sim
from psm_sim.cli import main

POLICY = """
import signal
from psm_sim.policies import Policy, Rest


class Late(Policy):
    name = "late"

    def rest(self, now_s, since_uplink_s, poll):
        if now_s > {after_s}:
            {failure}
        return Rest()
"""

FAILURES = [
    ("raise ValueError('no')", 2, "failed"),
    ("signal.raise_signal(signal.SIGINT)", 130, "interrupted"),
]
FINISHED = ["--policy", "bsd", "--pages", "3"]
WORDS = [*FINISHED, "--policy", "late.py:Late", "--policy", "lpsm"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a policy that fails after a second."""
    monkeypatch.chdir(tmp_path)
    write_policy("raise ValueError('no')")
    return tmp_path


def write_policy(failure: str, after_s: float = 1.0) -> None:
    """Write a policy with the statement *failure* in the simulated time *after_s*."""
    Path("late.py").write_text(POLICY.format(failure=failure, after_s=after_s))


def results(text: str) -> dict[str, Any]:
    """Return a JSON result without wall times, after a check of its conclusion on partial results."""
    document = json.loads(text)
    assert document.pop("conclusion").startswith("In this partial result, ") == ("missing" in document)
    for run in (*document["runs"], *document["baselines"]):
        del run["wall_s"]
    return document


def output_of(words: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Run a command, and return its standard output and standard error."""
    capsys.readouterr()
    assert main(words) == status
    output, messages = capsys.readouterr()
    return output, messages


@pytest.mark.parametrize(("failure", "status", "state"), FAILURES)
def test_finished_policies_are_printed_as_if_run_alone(
    failure: str, status: int, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The unfinished policies are listed with the reason, and standard error has one line."""
    write_policy(failure)
    expected = results(output_of([*FINISHED, "--format", "json"], 0, capsys)[0])
    output, messages = output_of([*WORDS, "--format", "json"], status, capsys)
    document = results(output)
    missing = document.pop("missing")
    assert document == expected
    assert missing["lpsm"] == "not run"
    reason = missing["late.py:Late"]
    assert reason == "interrupted." if state == "interrupted" else "ValueError: no (" in reason
    assert messages.startswith(f"psm_sim: {reason}")
    assert messages.count("\n") == 1


def test_the_table_and_the_csv_output_have_the_finished_policies(capsys: pytest.CaptureFixture[str]) -> None:
    output, _ = output_of([*WORDS, "--format", "csv"], 2, capsys)
    assert [row["policy"] for row in csv.DictReader(io.StringIO(output))] == ["bsd"]
    assert output == output_of([*FINISHED, "--format", "csv"], 0, capsys)[0]
    output, _ = output_of(WORDS, 2, capsys)
    assert [line.split()[0] for line in output.splitlines()[3:6]] == ["always-on", "psm", "bsd"]
    assert "No result for late.py:Late, lpsm." in output


@pytest.mark.parametrize(("failure", "status", "state"), FAILURES)
def test_a_folder_has_the_data_of_the_finished_policies(
    failure: str, status: int, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Figures are missing, because an interrupted command ends soon."""
    write_policy(failure)
    output, messages = output_of([*WORDS, "--format", "json", "--output", "out"], status, capsys)
    assert {path.name for path in Path("out").iterdir()} == {"result.json", "pages.csv", "metadata.json"}
    assert Path("out/result.json").read_text() == output
    record = json.loads(Path("out/metadata.json").read_text())
    assert record["status"] == state
    assert record["missing"] == json.loads(output)["missing"]
    assert "finished" not in record
    assert "Wrote result.json, pages.csv, metadata.json to out\n" in messages
    with Path("out/pages.csv").open() as file:
        assert {row["policy"] for row in csv.DictReader(file)} == {"bsd"}


def test_an_interrupt_during_the_figures_leaves_the_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("psm_sim.reporting.figures.comparison.figures_of", interrupt)
    monkeypatch.setattr("psm_sim.reporting.html.comparison.html_of", lambda *_: "<!doctype html>")
    output, _ = output_of([*FINISHED, "--format", "json", "--output", "out"], 130, capsys)
    assert Path("out/result.json").read_text() == output
    assert "missing" not in json.loads(output)
    assert json.loads(Path("out/metadata.json").read_text())["status"] == "interrupted"


def test_a_partial_result_does_not_replace_an_earlier_result(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("psm_sim.reporting.figures.comparison.figures_of", lambda *_: {})
    monkeypatch.setattr("psm_sim.reporting.html.comparison.html_of", lambda *_: "<!doctype html>")
    output_of([*FINISHED, "--output", "out"], 0, capsys)
    before = {path: path.read_bytes() for path in Path("out").iterdir()}
    output, messages = output_of([*WORDS, "--output", "out", "--force"], 2, capsys)
    assert " bsd " in output
    assert "out keeps its earlier results; a partial result does not replace them.\n" in messages
    assert {path: path.read_bytes() for path in Path("out").iterdir()} == before


def test_a_partial_result_has_no_capture_and_no_plot(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Captures and plots are written only if all policies have finished."""
    output_of([*WORDS, "--capture", "x.pcap", "--timeline", "x.json", "--plot", "x.svg"], 2, capsys)
    assert [path.name for path in folder.iterdir() if path.name != "__pycache__"] == ["late.py"]


def test_no_result_is_printed_if_no_policy_has_finished(capsys: pytest.CaptureFixture[str]) -> None:
    """Baselines alone are not a result."""
    output, messages = output_of(["--policy", "late.py:Late", "--policy", "bsd", "--pages", "3"], 2, capsys)
    assert (output, messages.count("\n")) == ("", 1)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_means_are_taken_over_the_finished_seeds(workers: str, capsys: pytest.CaptureFixture[str]) -> None:
    durations_s = [psm_sim.simulate("psm", pages=3, seed=seed)["simulated_s"] for seed in range(1, 9)]
    first = next(n for n in range(6) if durations_s[n + 2] > 0.5 + max(durations_s[n : n + 2]))
    write_policy("raise ValueError('no')", after_s=max(durations_s[first : first + 2]))
    words = ["--policy", "late.py:Late", "--policy", "bsd", "--pages", "3", "--seed", str(first + 1)]
    words += ["--workers", workers, "--format", "json", "--replications"]
    expected = results(output_of([*words, "2"], 0, capsys)[0])
    output, messages = output_of([*words, "4"], 2, capsys)
    document = results(output)
    ((name, reason),) = document.pop("missing").items()
    assert name == f"seeds {first + 3} to {first + 4}"
    assert "ValueError: no" in reason
    assert document == expected
    assert messages.startswith(f"psm_sim: {reason}")


@pytest.mark.parametrize("other", ["", '[[stations]]\nname = "b"\npages = 1\n'])
def test_finished_policies_of_stations_are_printed_after_a_failure(
    other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("two.toml").write_text(f'[mac]\nmodel = "dcf"\n[[stations]]\nname = "a"\ncount = 2\n{other}')
    topology = ["--topology", "two.toml", "--format", "json"]
    expected = results(output_of([*FINISHED, *topology], 0, capsys)[0])
    document = results(output_of([*WORDS, *topology], 2, capsys)[0])
    assert list(document.pop("missing")) == ["late.py:Late", "lpsm"]
    assert document == expected
