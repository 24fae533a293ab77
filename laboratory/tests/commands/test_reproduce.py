"""``reproduce`` in this process on a small study: output and files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from psm_lab.cli import main
from psm_lab.reporting.pages.introductions import introduction_of
from psm_lab.studies import STUDIES, VALIDATIONS, load_study, select_studies
from psm_lab.studies.study import Findings, Scale
from psm_lab.studies.tasks import Rows, Task

from psm_sim.common.errors import InputError


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run few replications of few pages with ``--quick``."""
    monkeypatch.setattr("psm_lab.studies.study.QUICK", Scale(replications=2, pages=3, long_pages=3))
    monkeypatch.setattr("psm_lab.studies.sleep_times.PAGES", 3)


def test_a_study_is_printed_to_standard_output_and_written_to_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Standard output equals the JSON file of the folder. The page has the command without --workers."""
    words = ["sleep-times", "--quick", "--seed", "2", "--workers", "1", "--format", "json"]
    assert main([*words, "--output", str(tmp_path / "new")]) == 0
    output, remark = capsys.readouterr()
    assert remark == f"Wrote README.md, numbers.json and figures to {tmp_path / 'new'}\n"
    assert (tmp_path / "new" / "numbers.json").read_text() == output
    document = json.loads(output)
    assert (document["seed"], list(document["studies"])) == (2, ["sleep-times"])
    page = (tmp_path / "new" / "README.md").read_text()
    assert f"psm_lab sleep-times --quick --seed 2 --output {tmp_path / 'new'}\n" in page
    assert "--workers" not in page


class Failing:
    """A study whose digest raises an error."""

    def tasks(self, scale: Scale, seed: int) -> list[Task]:
        """Return no tasks."""
        return []

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Raise the error."""
        raise InputError("No file")


def test_finished_studies_are_printed_after_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failed study is listed with its reason; later ones are not run."""
    options = ["--quick", "--workers", "1"]
    assert main(["sleep-times", *options, "--format", "json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    missing = {"dtim": "No file", "latency": "not run"}
    monkeypatch.setattr(
        "psm_lab.studies.load_study", lambda name: Failing() if name == "dtim" else load_study(name)
    )
    words = ["sleep-times", "dtim", "latency", *options]
    assert main([*words, "--format", "json", "--output", str(tmp_path)]) == 2
    output, messages = capsys.readouterr()
    assert json.loads(output) == {**expected, "missing": missing}
    assert (tmp_path / "numbers.json").read_text() == output
    assert {path.name for path in tmp_path.iterdir()} == {"README.md", "numbers.json"}
    assert "* dtim: No file\n* latency: not run\n" in (tmp_path / "README.md").read_text()
    assert messages.splitlines()[0] == "The results are incomplete; missing: dtim, latency."
    assert main([*words, "--seed", "2", "--force", "--output", str(tmp_path)]) == 2
    assert json.loads((tmp_path / "numbers.json").read_text())["seed"] == 1
    output, messages = capsys.readouterr()
    assert "keeps its earlier results" in messages
    assert "No result for dtim: No file." in output
    assert "sleep-times" in output


def test_groups_and_names_are_run_in_the_order_of_the_reports() -> None:
    """A study named twice runs once; the studies of psm_sim itself belong to no group."""
    assert select_studies([]) == select_studies(["all"]) == list(STUDIES)
    assert select_studies(["sphere", "validation", "dtim", "mac"]) == ["mac", *VALIDATIONS, "sphere"]
    with pytest.raises(InputError, match=r"Unknown study 'learner'; .*Did you mean 'learners'"):
        select_studies(["learner"])


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["mac"], "repeat no published experiment"),
        (["dtim"], "at most a tolerance. It is 5.5 %"),
        (["patience"], "A bound agrees if"),
        (["dtim", "patience"], "Measured hardware.*Active learners"),
        (["lpsm-100", "mac"], "power-saving results of two sources.*3 % of the published value"),
    ],
)
def test_a_report_states_the_rule_of_its_studies(names: list[str], words: str) -> None:
    """Each group has its own rule, and a report on several groups has the rules of all."""
    assert re.search(words, " ".join(" ".join(introduction_of(names)).split()))
