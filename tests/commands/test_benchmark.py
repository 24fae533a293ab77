"""``psm_sim benchmark``, in process and with few cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psm_sim.campaign.benchmark import cases
from psm_sim.campaign.benchmark import result as result_module
from psm_sim.campaign.benchmark.cases import TRAFFIC, BenchmarkPlan
from psm_sim.campaign.benchmark.result import BenchmarkResult, read_result, to_json
from psm_sim.campaign.benchmark.run import run_benchmark
from psm_sim.cli import main
from psm_sim.commands import benchmark as command
from psm_sim.common.input_files import file_digest

FEW = BenchmarkPlan((70001, 70002, 70003), {"push": TRAFFIC["push"]}, ("nrf7002",))
MINE = """
from psm_sim.policies import Policy, Rest

class Mine(Policy):
    name = "mine"
    def rest(self, now_s, since_uplink_s, poll):
        return Rest(beacons=40)
"""


@cache
def stored_result() -> str:
    """Return the result of static PSM, as a file stores it."""
    return to_json(run_benchmark(["psm"], FEW, workers=1))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a policy, few cases and the stored results of few policies."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cases, "JUDGING", FEW)
    monkeypatch.setattr(cases, "QUICK", replace(FEW, seeds=FEW.seeds[:2]))
    monkeypatch.setattr(cases, "built_in", lambda: ["psm"])
    (tmp_path / "mine.py").write_text(MINE)
    stored = tmp_path / "stored.json"
    stored.write_text(stored_result())
    monkeypatch.setattr(result_module, "STANDING", stored)
    return tmp_path


def benchmark(*words: str) -> int:
    """Run the command with one worker."""
    return main(["benchmark", *words, "--workers", "1"])


def test_the_command_prints_the_stored_ranking_if_no_policies_are_given(capsys):
    assert benchmark() == 0
    shown = capsys.readouterr().out
    assert "always-on" in shown
    assert "psm has rank 1, of 2 policies. In 3 of 3 cases no policy costs less" in shown
    assert "seeds 70001 to 70003" in shown


def test_a_policy_is_ranked_among_the_stored_policies_and_its_result_file_is_verified(capsys, folder):
    """The result file is verified, even with another last bit, until a number changes."""
    words = ("--policy", "mine.py:Mine", "--quick", "--output", "mine.json")
    assert benchmark(*words) == 0
    shown = capsys.readouterr()
    assert all(name in shown.out for name in ("psm", "seeds 70001 to 70002"))
    assert "mine.py:Mine shares rank 1 with psm" in " ".join(shown.out.split())
    assert "stored results" not in shown.err
    result = read_result(Path("mine.json"))
    assert result.policies == ["always-on", "mine.py:Mine"]
    assert len(result.files["mine.py"]) == 64
    assert benchmark(*words) == 2  # the file exists
    document = json.loads(Path("mine.json").read_text())
    energies_j = document["runs"][-1]["energy_j"]
    energies_j[0] = float(np.nextafter(energies_j[0], 0))
    Path("changed.json").write_text(json.dumps(document))
    assert benchmark("verify", "changed.json") == 0
    assert "5 of 5 runs and optima of 2 seeds are equal" in capsys.readouterr().out
    energies_j[0] *= 1 - 1e-8
    document["versions"]["numpy"] = "0"
    Path("changed.json").write_text(json.dumps(document))
    assert benchmark("verify", "changed.json", "--policy", "mine.py:Mine") == 1
    shown = capsys.readouterr()
    assert "differs: mine.py:Mine in push, nrf7002, price 0.1" in shown.out
    assert "differs: numpy (0 and " in shown.out


TAMPERED: dict[str, Callable[[dict[str, Any]], object]] = {
    "no seeds": lambda it: [
        it.update(seeds=[]),
        [row.update(energy_j=[], delay_s=[], time_s=[]) for row in it["runs"]],
        [row.update(cost_j=[]) for row in it["optimum"]],
    ],
    "a seed twice": lambda it: it.update(seeds=it["seeds"][:1] * 10),
    "no runs": lambda it: it.update(runs=[]),
    "a run is missing": lambda it: it["runs"].pop(),
    "a run twice": lambda it: it["runs"].append(it["runs"][0]),
    "a run of another policy": lambda it: it["runs"][0].update(policy="bsd"),
    "a run in another case": lambda it: it["runs"][0].update(traffic="ucb"),
    "less energy": lambda it: it["runs"][0]["energy_j"].__setitem__(0, 0.5),
    "less delay": lambda it: it["runs"][-1]["delay_s"].__setitem__(-1, -1.0),
    "a cheaper optimum": lambda it: it["optimum"][0]["cost_j"].__setitem__(0, 0.5),
    "a number as text": lambda it: it["runs"][0]["energy_j"].__setitem__(0, "0.5"),
    "not a number": lambda it: it["runs"][0]["energy_j"].__setitem__(0, float("nan")),
    "an additional key": lambda it: it["runs"][0].update(score=1.0),
    "no optimum": lambda it: it.update(optimum=[]),
    "no digest of data": lambda it: it.update(data={}),
    "no digest of a file": lambda it: it.update(files={}),
    "no versions": lambda it: it.update(versions={}),
    "another version": lambda it: it["versions"].update(scipy="0"),
    "another digest of data": lambda it: it["data"].update({"ucb.toml": "0" * 64}),
    "another digest of a file": lambda it: it["files"].update({"mine.py": "0" * 64}),
}


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_a_tampered_result_fails_verification(capsys, monkeypatch, folder, tamper):
    """The file is invalid, or differs from the repeated runs.

    The original result replaces those runs here.
    """
    stored = read_result(folder / "stored.json")
    runs = {**stored.runs, "mine.py:Mine": stored.runs["psm"]}
    original = replace(stored, runs=runs, files={"mine.py": file_digest(folder / "mine.py")})

    def simulate_again(arguments: object, policies: list[str], _: object) -> BenchmarkResult:
        shown = capsys.readouterr().err
        assert "result.json names mine.py; verify runs that code." in shown
        return replace(original, runs={name: runs.get(name, runs["psm"]) for name in policies})

    monkeypatch.setattr(command, "_simulate", simulate_again)
    file = folder / "result.json"
    file.write_text(to_json(original))
    assert benchmark("verify", "result.json") == 0
    document = json.loads(file.read_text())
    tamper(document)
    file.write_text(json.dumps(document))
    assert benchmark("verify", "result.json") > 0


@pytest.mark.parametrize("words", [("--seed", "1"), ("--fresh",)])
def test_all_policies_are_run_if_the_seeds_have_no_stored_results(capsys, words):
    assert benchmark(*words, "--replications", "1", "--store", "tasks.sqlite", "--output", "new.json") == 0
    assert read_result(Path("new.json")).policies == ["always-on", "psm"]
    assert Path("tasks.sqlite").exists()


def test_the_output_for_one_case_has_the_energy_and_charge_of_each_policy(capsys):
    assert benchmark("--traffic", "push", "--radio", "nrf7002", "--price", "10") == 0
    shown = capsys.readouterr().out
    assert "mAh a day" in shown
    assert "push, nrf7002, price 10 (1.93 W): means of 3 seeds of about 3,600 s" in " ".join(shown.split())
    energy_j = np.mean(next(iter(read_result(result_module.STANDING).runs["psm"].values())).energy_j)
    assert f"{energy_j / 3600 / 3.3 * 24_000:.3g}" in shown


def test_all_policies_are_run_on_a_file_of_seeds(capsys, monkeypatch, folder):
    monkeypatch.setattr(cases, "TRAFFIC", FEW.traffic)
    (folder / "hidden.toml").write_text("seeds = [5]")
    assert benchmark("--seeds", "hidden.toml", "--output", "hidden.json") == 0
    assert "cases, seed 5. " in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--radio", "nrf7002"), "--radio needs --traffic"),
        (("--traffic", "pusch"), "push"),
        (("--traffic", "push", "--price", "2"), "--price must be one of 0.1, 1.0, 10.0, got 2"),
        (("--seeds", "hidden.toml", "--quick"), "--quick cannot be used with --seeds"),
        (("--policy", "ansicipate"), "psm_sim: Unknown policy 'ansicipate'"),
        (("verify",), "expected no argument, or 'verify FILE.json'"),
        (("verify", "stored.json", "--store", "s.sqlite"), "--store cannot be used with verify"),
        (("verify", "stored.json", "--policy", "bsd"), "has no policy bsd; expected one of always-on, psm"),
        (("verify", "missing.json"), "cannot be read"),
    ],
)
def test_wrong_arguments_are_an_error(capsys, words, message):
    assert benchmark(*words) == 2
    assert message in capsys.readouterr().err


def test_a_warning_states_that_stored_results_come_from_different_code_or_versions(capsys, folder):
    """The warning follows from the runs of always-on, which every command repeats."""
    stored = json.loads((folder / "stored.json").read_text())
    stored["runs"][0]["energy_j"][0] += 1e-6
    stored["versions"]["numpy"] = "0"
    (folder / "stored.json").write_text(json.dumps(stored))
    assert benchmark("--policy", "mine.py:Mine", "--quick") == 0
    warnings = capsys.readouterr().err
    assert "computed by other code" in warnings
    assert "The stored results of the built-in policies differ in numpy (0 and" in warnings


def test_an_entry_is_run_again_if_its_data_change(capsys, folder):
    """The process of the entry opens the data. After an edit the result differs."""
    (folder / "table.txt").write_text("40")
    (folder / "mine.py").write_text(
        "from pathlib import Path\n" + MINE.replace("=40)", "=int(Path('table.txt').read_text()))")
    )
    words = ("--policy", "mine.py:Mine", "--replications", "1", "--store", "tasks.sqlite", "--output")
    assert benchmark(*words, "a.json") == 0
    first = read_result(Path("a.json"))
    assert first.files.keys() >= {"mine.py", "table.txt"}
    (folder / "table.txt").write_text("80")
    assert benchmark(*words, "b.json") == 0
    assert [policy for policy, _ in first.differing_cases(read_result(Path("b.json")))] == ["mine.py:Mine"]
    assert benchmark("verify", "a.json") == 1
    assert "differs: table.txt (" in capsys.readouterr().out
