"""Addresses that the person who publishes psm_sim has to fill in."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACEHOLDER = re.compile(r"https://example\.org/psm_sim\S*?(?=[\"'\s)]|$)|[A-Z]+-CONTACT|git clone ADDRESS")
FILES = (
    "README.md",
    "CONTRIBUTING.md",
    ".github/CODE_OF_CONDUCT.md",
    ".github/SECURITY.md",
    "pyproject.toml",
)


def test_placeholders_are_those_that_the_release_steps_replace():
    found = {
        (name, placeholder)
        for name in FILES
        for placeholder in PLACEHOLDER.findall((ROOT / name).read_text(encoding="utf-8"))
    }
    address = "https://example.org/psm_sim"
    assert found == {
        ("README.md", "git clone ADDRESS"),
        (".github/CODE_OF_CONDUCT.md", "CONDUCT-CONTACT"),
        (".github/SECURITY.md", "SECURITY-CONTACT"),
        ("pyproject.toml", address),
        *(("pyproject.toml", f"{address}/{page}") for page in ("docs", "source", "issues", "changelog")),
    }
