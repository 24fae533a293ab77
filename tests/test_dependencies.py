"""Lower bounds of the declared dependencies."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_oldest_tested_dependencies_are_the_declared_lower_bounds() -> None:
    """Each at the same version; other constraints there are no dependencies of psm_sim."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    pins = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8")
    assert sorted(requirement.replace(">=", "==") for requirement in declared) == sorted(
        re.findall(r"^\S+==\S+$", pins, re.M)
    )
    assert not any(re.search(r"[<!~]|==", requirement) for requirement in declared)
