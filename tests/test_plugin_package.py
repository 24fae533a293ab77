"""The example of a plug-in package, installed in a temporary folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "plugin"


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example without dependencies and without a network."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the example, is not installed")
    folder = tmp_path_factory.mktemp("target")
    words = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words, str(EXAMPLE)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def psm_sim(target: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the program with the example installed."""
    path = os.pathsep.join([str(EXAMPLE.parents[1]), str(target)])
    return subprocess.run(
        [sys.executable, "-m", "psm_sim", *words],
        cwd=cwd, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def test_components_of_an_installed_package_run_by_name(target: Path, tmp_path: Path) -> None:
    """Parameters are set as for built-in components."""
    words = ["--policy", "every-third:beacons=4", "--policy", "lpsm", "--loss", "cubic", "--trace", "commute"]
    done = psm_sim(target, *words, "--format", "json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert [run["parameters"].get("beacons") for run in document["runs"]] == [4, None]
    assert (document["pages"], document["trace"]) == (3, "commute")


def test_lists_of_components_state_the_package_of_each_component(target: Path, tmp_path: Path) -> None:
    """The package is a name, or built in."""
    items = json.loads(psm_sim(target, "list", "losses", "--format", "json", cwd=tmp_path).stdout)["losses"]
    sources = {item["name"]: item["source"] for item in items}
    assert (sources["cubic"], sources["inverse"]) == ("psm-sim-example 1.0", "built in")
