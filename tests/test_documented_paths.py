"""Paths and names of the code in docs/reading.md and docs/design.md exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).resolve().parents[1]
READING, DESIGN = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("reading.md", "design.md"))
PROSE = re.sub(r"^```.*?^```", "", READING + DESIGN, flags=re.DOTALL | re.MULTILINE)
CODE = sorted(set(re.findall(r"`([\w./-]+)`", PROSE)))
PATHS = [
    text for text in CODE if "N" not in text and ("/" in text or text.endswith((".py", ".toml", ".csv")))
]
PACKAGES = "psm_sim|lab|learning|losses|network|policies"
NAMES = [text for text in CODE if re.fullmatch(rf"({PACKAGES})(\.\w+)+", text) and text not in PATHS]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_exists(path: str) -> None:
    """Relative to the root or to psm_sim; a bare file name can be anywhere in the package."""
    bare = "/" not in path and any((ROOT / "psm_sim").rglob(path))
    assert bare or (ROOT / path).exists() or (ROOT / "psm_sim" / path).exists()


def test_modules_and_tests_that_any_document_names_exist() -> None:
    """Relative to the root; NAME is a placeholder."""
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for path in re.findall(r"`((?:psm_sim|tests)/[\w/]+\.py)`", page.read_text(encoding="utf-8")):
            assert "NAME" in path or (ROOT / path).exists(), f"{page.name}: {path}"


@pytest.mark.parametrize("name", NAMES)
def test_a_name_exists(name: str) -> None:
    """A module, class or function, relative to psm_sim."""
    resolve_name(name if name.startswith("psm_sim.") else f"psm_sim.{name}")


def test_the_tree_of_packages_exists() -> None:
    """The first block of design.md without a language has one path per line, indented by two spaces."""
    block = re.search(r"^```\n(psm_sim/\n.*?)^```", DESIGN, flags=re.DOTALL | re.MULTILINE)
    assert block
    parents: list[Path] = []
    for line in block[1].splitlines():
        indent, names = re.match(r"( *)((?:[\w./]+, )*[\w./]+)", line).groups()
        del parents[len(indent) // 2 :]
        paths = [Path(ROOT, *parents, name) for name in names.split(", ")]
        assert all(path.exists() for path in paths), line
        parents.append(Path(paths[0].name))


def test_the_layers_are_those_that_are_checked() -> None:
    """The list in design.md is the first import contract of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = "\n".join(project["tool"]["importlinter"]["contracts"][0]["layers"])
    assert f"```\n{layers}\n```" in DESIGN


def test_the_reading_path_can_be_read_in_an_afternoon() -> None:
    """At most 30 modules with 4,500 lines."""
    modules = re.findall(r"^\| \d+ \| `([\w/]+\.py)`", READING, flags=re.MULTILINE)
    assert 20 <= len(modules) <= 30
    lines = sum((ROOT / "psm_sim" / module).read_text(encoding="utf-8").count("\n") for module in modules)
    assert lines <= 4_500
