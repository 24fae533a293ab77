"""Labels of policies: ``label=`` sets the name in results and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import psm_sim
from psm_sim.campaign.sweep.grid import Grid, GridAxis
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.policies import make_policy
from psm_sim.simulation import BASELINES, References, Scenario, run_comparison


@pytest.mark.parametrize(
    ("text", "unlabelled"),
    [
        ("psm:label=mine", "psm"),
        ("bsd:p=0.5,label=mine", "bsd:p=0.5"),
        ("bsd: label = mine , p=0.5", "bsd: p=0.5"),
        ("lpsm:loss=(my.py:Mine:a=1,label=2),label=mine", "lpsm:loss=(my.py:Mine:a=1,label=2)"),
        ("a/my.py:Mine:label=mine", "a/my.py:Mine"),
    ],
)
def test_the_spec_of_a_policy_does_not_include_its_label(text: str, unlabelled: str) -> None:
    spec = Spec.parse(text, "policy")
    assert spec.label == "mine"
    assert spec == Spec.parse(unlabelled, "policy")
    assert str(spec).replace(" ", "") == unlabelled.replace(" ", "")
    assert spec.with_("q", 1).with_("q", 2).label == "mine"


@pytest.mark.parametrize("topology", ["three-node", "cafe"])
def test_labelling_a_policy_changes_only_names(topology: str) -> None:
    def run(policy: str) -> list[dict[str, object]]:
        comparison = run_comparison([policy], Scenario(pages=1, topology=topology))
        rows = [{**run.to_dict(), "wall_s": 0} for run in comparison.runs]
        labels = [run.label.split(" (")[0] for run in comparison.runs]
        assert labels == [row.pop("label", policy) for row in rows]
        return rows

    assert run("bsd:p=0.2,label=slow") == run("bsd:p=0.2")


def test_a_labelled_baseline_is_shown_once() -> None:
    references = References(BASELINES, BASELINES[1:])
    comparison = run_comparison(["psm:label=mine"], Scenario(pages=1), 2, workers=1, references=references)
    assert [run.label for run in comparison.shown] == ["always-on", "mine"]
    assert [run.label for run in comparison.reference_runs] == ["mine"]


@pytest.mark.parametrize(
    "policies", [["bsd:label=a", "lpsm:label=a"], ["bsd:label=lpsm", "lpsm"], ["bsd:label=psm"]]
)
def test_two_policies_with_the_same_name_are_an_error(policies: list[str]) -> None:
    with pytest.raises(InputError, match=r"names two policies; give each policy a different label\.$"):
        psm_sim.compare(policies, pages=1)


def test_a_label_in_a_sweep_applies_to_one_policy() -> None:
    assert [task.policy.label for task in Grid(policies=["bsd:label=slow"]).tasks()] == ["slow"]
    grid = Grid((GridAxis.of("policy.bsd.p", "0.1,0.2"),), ["bsd:label=slow"])
    with pytest.raises(InputError, match="label=slow names two policies"):
        grid.tasks()


def test_a_parameter_that_a_policy_itself_names_label_is_not_ignored(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from psm_sim.policies import Policy\n"
        "class Mine(Policy):\n"
        "    def __init__(self, label='a'):\n        self.label = label\n"
        "    def rest(self, now_s, since_uplink_s, poll):\n        return self.beacons(1)\n"
    )
    assert make_policy(f"{file}:Mine").label == "a"
    with pytest.raises(InputError, match="is not passed to the class; rename its parameter 'label'"):
        make_policy(f"{file}:Mine:label=x")
