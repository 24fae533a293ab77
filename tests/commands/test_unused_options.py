"""Options and parameters without effect are rejected by name."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest

from psm_sim.cli import main
from tests.workload.recordings.ucb_files import SHOWTRACE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a trace of each kind."""
    folder = tmp_path_factory.mktemp("traces")
    with chdir(folder):
        Path("s.log").write_text(SHOWTRACE)
        Path("p.csv").write_text("page,think_s,main_bytes,images\n1,1,1000,\n")
    return folder


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("trace convert p.csv --to q.csv --seed 3", "--seed=3 has no effect"),
        ("trace info ucb:nosuch=1", "nosuch=1 has no effect"),
        (
            "trace info s.log:server_delay_ms=4",
            "server_delay_ms=4 has no effect because it only applies",
        ),
        ("trace info p.csv:nosuch=1", "no parameter 'nosuch'"),
        ("--policy psm --force", "--force has no effect without --output, --plot"),
        ("--policy psm --workers 3", "--workers has no effect on a single run"),
        ("sweep --policy psm --loss inverse", "Setting loss has no effect on the policies psm"),
        ("sweep --policy psm --vary mac.beacon_mbps=1,2", "mac.beacon_mbps has no effect without mac.model"),
        (
            "sweep --policy psm --vary seed=1,2 --set faults.restart_s=3",
            "no effect without faults.restart_every_s",
        ),
        ("sweep --vary seed=2,3 --seed=7", "seed is specified twice"),
        ("sweep --policy psm --cluster tcp://127.0.0.1:1 --workers 2", "which has its own workers"),
        (
            "sweep --policy psm --vary seed=1,2 --cluster=",
            "--cluster must be the address of a Dask scheduler",
        ),
        ("sweep --output=", "--output must be a file name, got ''"),
        ("trace convert s.log --to=", "--to must be a file name, got ''"),
    ],
)
def test_what_a_command_does_not_use_is_refused_by_name(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
    named: str,
) -> None:
    """An option, and a parameter of the trace; nothing is written."""
    monkeypatch.chdir(folder)
    assert main(words.split()) == 2
    assert named in capsys.readouterr().err
    assert {path.name for path in folder.iterdir()} == {"s.log", "p.csv"}
