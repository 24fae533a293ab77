"""The run, in this process: standard output, and the folder of results."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import psm_sim
from psm_sim.cli import main
from psm_sim.simulation.preset import load_preset


def output_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the standard output of a successful command."""
    assert main([*words]) == 0
    output, remarks = capsys.readouterr()
    assert remarks == ""
    return output


def runs_of(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict]:
    """Return the runs of the JSON object, without the wall time."""
    document = json.loads(output_of(capsys, *words, "--format", "json"))
    for run in document["runs"]:
        del run["wall_s"]
    return document["runs"]


def test_by_default_lpsm_is_run_on_100_pages_of_ucb(capsys: pytest.CaptureFixture[str]) -> None:
    """The other defaults are the three-node topology, seed 1, and baselines."""
    output = output_of(capsys, "--seed", "1")
    assert [line.split()[0] for line in output.splitlines()[3:6]] == ["always-on", "psm", "lpsm"]
    assert "100 pages of trace ucb, seed 1, topology three-node." in output


@pytest.mark.parametrize("workers", ["1", "3"])
def test_a_single_run_accepts_any_number_of_workers(capsys: pytest.CaptureFixture[str], workers: str) -> None:
    """A single run uses one process."""
    run = ("--policy", "psm", "--pages", "2", "--no-baselines")
    assert runs_of(capsys, *run, "--workers", workers) == runs_of(capsys, *run)


def test_several_policies_run_over_ten_seeds_without_arguments(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output has baselines and intervals. The test uses few pages."""
    monkeypatch.setattr("psm_sim.commands.shared_options.DEFAULT_PAGES", 3)
    output = output_of(capsys)
    names = [line.split()[0] for line in output.splitlines()[3:] if line[:1] == " "]
    assert names[:4] == ["always-on", "psm", "bsd", "lpsm"]
    assert "3 pages of trace ucb, seeds 1 to 10" in output
    assert "± is the 95 % confidence interval (Student's t) of the mean over 10 seeds" in output


def test_the_folder_has_the_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The results equal those on standard output; a remark names the folder."""
    folder = tmp_path / "new" / "results"
    words = ["--pages", "4", "--policy", "psm", "--policy", "bsd", "--format", "json"]
    assert main([*words, "--output", str(folder), "--figure-format", "png,pdf"]) == 0
    output, remark = capsys.readouterr()
    assert remark == f"Wrote result.json, pages.csv, metadata.json, report.html and figures to {folder}\n"
    assert (folder / "result.json").read_text() == output
    names = {"energy-slowdown", "energy-by-state", "slowdowns", "page-timeline", "polling-times"}
    expected = {f"{name}.{suffix}" for name in names for suffix in ("png", "pdf")}
    assert {path.name for path in (folder / "figures").iterdir()} == expected
    with (folder / "pages.csv").open(newline="") as file:
        pages = list(csv.DictReader(file))
    assert [page["policy"] for page in pages] == ["psm"] * 4 + ["bsd"] * 4
    mean = sum(float(page["slowdown"]) for page in pages[:4]) / 4
    assert json.loads(output)["runs"][0]["slowdown"]["mean"] == pytest.approx(mean, rel=1e-12)
    metadata = json.loads((folder / "metadata.json").read_text())
    assert metadata["arguments"] == [*words, "--output", str(folder), "--figure-format", "png,pdf"]


def test_figures_are_written_as_svg_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--pages", "2", "--policy", "psm", "--no-baselines"]
    assert main([*words, "--output", str(tmp_path)]) == 0
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg"}
    assert main([*words, "--figure-format", "png"]) == 2
    assert "no effect without --output" in capsys.readouterr().err
    assert main([*words, "--output", str(tmp_path / "a"), "--figure-format", "svg,gif"]) == 2
    assert "must be svg, png or pdf, or several separated by commas, got 'svg,gif'" in capsys.readouterr().err


def test_explicit_options_override_the_defaults_of_a_preset(capsys: pytest.CaptureFixture[str]) -> None:
    """A preset equals its parameters as options; the JSON has the name of the preset."""
    preset = load_preset("thesis")
    words = ("--pages", "3", "--format", "json")
    policies = ("--policy", "lpsm:loss=inverse", "--policy", "psm")
    named = json.loads(output_of(capsys, *words, *policies, "--preset", "thesis"))
    written = ("--policy", str(preset.policy_spec("lpsm:loss=inverse")), "--policy", "psm")
    settings = [word for key, value in preset.settings.items() for word in ("--set", f"{key}={value}")]
    explicit = json.loads(output_of(capsys, *words, *written, "--trace", str(preset.trace_spec()), *settings))
    assert (named["preset"], explicit["preset"]) == ("thesis", None)
    for run, same in zip(named["runs"], explicit["runs"], strict=True):
        assert {**run, "wall_s": 0} == {**same, "wall_s": 0}
    other = json.loads(
        output_of(
            capsys, *words, "--preset", "thesis", "--policy", "lpsm:uplink=one", "--loss", "max(1/Ti, 0)",
            "--trace", "ucb:mean_think_s=20", "--set", "power.awake_w=1",
        )
    )  # fmt: skip
    assert other["runs"][0]["parameters"]["uplink"] == "one"
    assert other["runs"][0]["parameters"]["loss"] == "max(1/Ti, 0)"
    assert float(other["trace_parameters"]["mean_think_s"]) == 20
    assert other["trace_parameters"]["server_delay_ms"] == named["trace_parameters"]["server_delay_ms"]
    assert other["scenario"]["power.awake_w"] == 1.0


def test_the_trace_of_a_preset_is_only_a_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Python and the command line have the same default, which --trace overrides."""
    path = tmp_path / "mine.toml"
    path.write_text('trace = "ping"\n[trace_parameters]\nstretch_s = 5\n', encoding="utf-8")
    words = ("--policy", "psm", "--preset", str(path), "--pages", "1")
    for options, trace in (((), None), (("--trace", "ucb"), "ucb")):
        expected = psm_sim.simulate("psm", trace, preset=path, pages=1)["simulated_s"]
        assert runs_of(capsys, *words, *options)[-1]["simulated_s"] == expected
        assert (expected == 5) == (trace is None)


def test_the_reference_is_run_but_not_shown_if_baselines_are_off(capsys: pytest.CaptureFixture[str]) -> None:
    """The parameters of ``--against`` are parsed like those of any policy."""
    words = ("--pages", "2", "--policy", "psm", "--no-baselines", "--against", "bsd:p=0.1")
    output = output_of(capsys, *words)
    assert [line.split()[0] for line in output.splitlines()[3:4]] == ["psm"]
    assert output.splitlines()[4] == ""
    assert "\nColumn 'saved' is the energy saving relative to bsd:p=0.1.\n" in output
    document = json.loads(output_of(capsys, *words, "--format", "json"))
    assert document["baselines"] == []
    assert [difference["against"] for difference in document["differences"]] == ["bsd:p=0.1"]


def test_the_result_is_printed_if_its_folder_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The full disk gives the table, status 2, and one sentence that names the folder."""

    def full_disk(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full_disk)
    folder = tmp_path / "results"
    assert main(["--policy", "psm", "--pages", "2", "--format", "json", "--output", str(folder)]) == 2
    output, complaint = capsys.readouterr()
    assert json.loads(output)["pages"] == 2
    assert f"{folder} cannot be written: No space left on device" in complaint
    assert not list(folder.rglob("*.*"))


@pytest.mark.parametrize("suffix", ["pdf", "PNG"])
def test_a_figure_is_written_in_the_format_of_its_name(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"a.{suffix}"
    assert main(["--policy", "bsd", "--pages", "3", "--plot", str(path)]) == 0
    assert capsys.readouterr().err == f"Wrote {path}\n"
    begins = {"png": b"\x89PNG", "pdf": b"%PDF"}
    assert path.read_bytes().startswith(begins[suffix.lower()])


@pytest.mark.parametrize(
    ("name", "words"),
    [("a.gif", "ends in .svg or .png or .pdf"), ("no/a.png", "no' is not a writable folder")],
)
def test_a_figure_that_cannot_be_written_is_an_error_before_the_run(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("psm_sim.simulation.run_comparison", lambda *_: pytest.fail("it ran"))
    assert main(["--policy", "bsd", "--plot", name]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("polices = {}", "unknown preset key 'polices'"),
        ("trace = 3", "trace must be a string, got 3"),
        ("[policies]\nlpsm = 3", "policies must be a table"),
        ("policies = 3", "policies must be a table"),
        ("= 3", "is not a valid preset"),
        ("[settings]\n'power.awake_w' = -1", "mine.toml: power: awake_w must be a number >= 0"),
        (
            "[[fitted]]\nchoice = 'a'\nserver_delay_ms = 1",
            "fitted: Unknown key 'server_delay_ms'; expected one of",
        ),
        ("[[fitted]]\nlooked_at = []", "fitted must be tables with the key 'choice'"),
    ],
)
def test_an_invalid_preset_file_is_an_error(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.toml").write_text(text)
    assert main(["--preset", str(tmp_path / "mine.toml"), "--pages", "1"]) == 2
    assert words in capsys.readouterr().err


def test_too_many_restarts_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """A restart per second in three years of think time would be a hundred million events."""
    words = ["--trace", "ucb:mean_think_s=1e8", "--pages", "1", "--set", "faults.restart_every_s=1"]
    assert main([*words, "--policy", "psm", "--set", "faults.restart_s=0.001"]) == 2
    assert "faults: restart_every_s = 1 causes more than 1,000,000 restarts" in capsys.readouterr().err
