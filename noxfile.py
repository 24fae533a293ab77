#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Sessions for ``nox``: the checks of CONTRIBUTING.md, each in an environment of its own."""

from __future__ import annotations

from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Run the tests of both packages."""
    session.install("-e", ".[test]", "-e", "laboratory")
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format, import rules and docstrings."""
    session.install("-e", ".[test]", "-e", "laboratory")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports")
    folders = (Path("psm_sim"), Path("laboratory/psm_lab"))
    session.run("numpydoc", "lint", *(str(path) for folder in folders for path in folder.rglob("*.py")))


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of both packages."""
    session.install("-e", ".[test]", "-e", "laboratory")
    session.run("mypy")
    with session.chdir("laboratory"):
        session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site into build/site."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "--fail-on-warning", "--keep-going", "--conf-dir", "docs", ".", "build/site")


@nox.session(default=False)
def wheels(session: nox.Session) -> None:
    """Build the wheels of both packages into dist."""
    session.install("build")
    session.run("python", "-m", "build", "--wheel", "--outdir", "dist", ".")
    session.run("python", "-m", "build", "--wheel", "--outdir", "dist", "laboratory")


if __name__ == "__main__":
    nox.main()
