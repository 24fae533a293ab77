"""Every bundled trace with every command that reads one, and every policy with every output format.

The golden results have a run of each policy with each trace.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from psm_sim.cli import main
from psm_sim.common.input_files import bundled_names
from psm_sim.policies import POLICIES

TRACES = bundled_names("traces")
MESSAGES_ONLY = ("bulk", "cbr", "door", "idle", "mqtt", "ping", "push")
COMMANDS = {
    "info": "trace info {}",
    "convert": "trace convert {} --to pages.csv",
    "fit": "trace fit {} --to fitted.toml",
}
REJECTED = {
    **{("convert", trace): "has only messages; a page list requires" for trace in MESSAGES_ONLY},
    **{("fit", trace): "already a profile" for trace in TRACES},
}
"""Text of the error of each invalid combination."""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("trace", TRACES)
def test_every_command_accepts_every_trace_or_states_why_not(
    trace: str,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An error is one sentence, and never an internal error."""
    monkeypatch.chdir(tmp_path)
    status = main(COMMANDS[command].format(trace).split())
    captured = capsys.readouterr()
    if (command, trace) in REJECTED:
        assert status == 2
        assert REJECTED[command, trace] in captured.err
        assert "internal error" not in captured.err
        assert captured.err.count("\n") == 1
    else:
        assert status == 0, captured.err
        assert captured.out or captured.err


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_every_output_format_has_every_policy(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts that only one policy reports are included."""
    names = POLICIES.names()
    words = [word for name in names for word in ("--policy", name)]
    assert main([*words, "--pages", "2", "--no-baselines", "--format", form]) == 0
    out = capsys.readouterr().out
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [row["policy"] for row in rows] == names
        assert all(None not in row and None not in row.values() for row in rows)
    elif form == "json":
        assert [run["policy"] for run in json.loads(out)["runs"]] == names
    else:
        assert all(f"\n {name} " in out for name in names)
