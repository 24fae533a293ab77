"""Provenance of results: commits and packages."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from psm_sim.common import provenance as module
from psm_sim.common.provenance import git_state, package_versions

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *words: str) -> str:
    """Run git in a folder."""
    who = ("-c", "user.name=Author", "-c", "user.email=author@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@needs_git
def test_the_git_state_has_the_commit_and_whether_files_differ(tmp_path: Path) -> None:
    """The repository is that of the folder; untracked files are ignored."""
    assert git_state(tmp_path) is None
    git(tmp_path, "init", "-q")
    (tmp_path / "my.py").write_text("1\n")
    assert git_state(tmp_path) is None
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "One")
    (tmp_path / "other.py").write_text("1\n")
    assert git_state(tmp_path) == {"commit": git(tmp_path, "rev-parse", "HEAD"), "changed": False}
    (tmp_path / "my.py").write_text("2\n")
    assert (git_state(tmp_path) or {})["changed"] is True
    (tmp_path / "untracked").mkdir()
    assert git_state(tmp_path / "untracked") is None


def test_the_recorded_package_versions_are_those_of_the_installed_requirements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The list has versions, and is empty if psm_sim is not installed."""
    import numpy as np

    assert package_versions()["numpy"] == np.__version__
    assert all(package_versions().values())

    def missing(name: str) -> list[str]:
        raise module.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(module.metadata, "requires", missing)
    assert package_versions() == {}
