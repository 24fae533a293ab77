"""What is promised of dependencies is what is tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_oldest_dependencies_tested_are_the_lower_bounds() -> None:
    """Each of them, at the same version; what else is constrained there is no dependency of ours."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    pins = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8")
    assert sorted(each.replace(">=", "==") for each in declared) == sorted(
        re.findall(r"^\S+==\S+$", pins, re.M)
    )
    assert not any(re.search(r"[<!~]|==", each) for each in declared)
