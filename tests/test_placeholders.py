"""Addresses to fill in at publication."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACEHOLDER = re.compile(r"https://example\.org/psm_sim\S*?(?=[\"'\s)]|$)|[A-Z]+-CONTACT|git clone ADDRESS")
FILES = (
    "README.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    ".github/CODE_OF_CONDUCT.md",
    ".github/SECURITY.md",
    "pyproject.toml",
)


def test_the_release_steps_replace_all_placeholders_and_nothing_else():
    placeholders = {
        (name, placeholder)
        for name in FILES
        for placeholder in PLACEHOLDER.findall((ROOT / name).read_text(encoding="utf-8"))
    }
    address = "https://example.org/psm_sim"
    assert placeholders == {
        ("README.md", "git clone ADDRESS"),
        (".github/CODE_OF_CONDUCT.md", "CONDUCT-CONTACT"),
        (".github/SECURITY.md", "SECURITY-CONTACT"),
        ("CITATION.cff", f"{address}/source"),
        ("pyproject.toml", address),
        *(("pyproject.toml", f"{address}/{page}") for page in ("docs", "source", "issues", "changelog")),
    }
