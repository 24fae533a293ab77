"""``python -m psm_lab replay``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from psm_lab.cli import main


def test_the_table_and_the_json_output_have_the_same_values(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["replay", "--polls", "200", "--pages", "3"]
    assert main([*words, "--format", "json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert main(words) == 0
    table = capsys.readouterr().out
    assert run["polls"] == 200
    assert f"ucb: 200 polls in {run['replayed_s']:.0f} s, {run['bytes']:,} bytes retrieved, " in table
    assert f"best fixed expert, {run['best_expert']['ms']:g} ms" in table
    assert f"mean polling time {run['polling_ms']['mean']:.1f} ms" in table
    assert "synthetic pages" in table


def test_options_set_the_parameters_of_the_replay(capsys: pytest.CaptureFixture[str]) -> None:
    words = "replay --polls 50 --learner fixed-share:alpha=0.1 --loss inverse-log --gamma 2e-5 --min-ms 200"
    words += " --max-ms 600 --step-ms 50 --max-gap-s 5 --rate-kbps 100 --format json"
    assert main(words.split()) == 0
    result = json.loads(capsys.readouterr().out)
    wanted = {
        "learner": "fixed-share:alpha=0.1",
        "horizon": None,
        "loss": "inverse-log",
        "gamma": 2e-5,
        "min_ms": 200.0,
        "max_ms": 600.0,
        "step_ms": 50.0,
        "polls": 50,
        "max_gap_s": 5.0,
    }
    assert result["parameters"] == wanted
    (run,) = result["runs"]
    assert run["trace_parameters"]["rate_kbps"] == 100.0
    assert len(run["expert_losses"]) == 9


def test_the_gamma_of_the_thesis_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    """A formula has the default, too. An explicit gamma of a loss is used."""
    for loss, gamma in (("inverse", 1e-7), ("gamma*I*Ti + 1/Ti", 1e-7), ("inverse-log:gamma=0.5", 0.5)):
        assert main(["replay", "--polls", "5", "--loss", loss, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["parameters"]["gamma"] == gamma


def test_each_of_several_clients_has_its_own_run_and_its_own_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, folder = tmp_path / "home.txt", tmp_path / "out"
    seconds = ((846_890_340 + 10 * number, number % 3) for number in range(60))
    trace.write_text(
        "".join(
            f"{second}:0 {second}:90000 {second}:95000 10.0.0.{client}:1024 20.0.0.1:80 2 8 0 0 0 9 2000 20"
            " GET 1..html HTTP/1.0\n"
            for second, client in seconds
        )
    )
    words = f"replay --trace {trace}:clients=2 --polls 60 --learner static-expert --format json"
    assert main([*words.split(), "--output", str(folder)]) == 0
    output, remarks = capsys.readouterr()
    assert len({run["client"] for run in json.loads(output)["runs"]}) == 2
    assert (folder / "replay.json").read_text() == output
    pictures = {path.relative_to(folder).as_posix() for path in folder.glob("*/*")}
    names = ("losses", "weights", "against-best")
    assert pictures == {f"client-{number}/{name}.svg" for number in (1, 2) for name in names}
    assert remarks.count("Wrote ") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "--learner best",
            "Unknown learner 'best'; expected one of static-expert, fixed-share, learn-alpha, ",
        ),
        ("--min-ms 0", "experts: min_ms must be a number >= 1 and <= 1e+12, got '0'"),
        ("--loss nothing --output out", "Unknown loss 'nothing'"),
    ],
)
def test_a_user_error_gives_one_line_and_status_2(
    words: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["replay", *words.split()]) == 2
    output, complaint = capsys.readouterr()
    assert output == ""
    assert message in complaint
    assert complaint.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
