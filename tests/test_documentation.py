"""Examples of the documentation, which are executed."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psm_lab.cli
import pytest

import psm_sim.cli

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "laboratory" / "docs").rglob("*.md"))]
DOCUMENTS = [ROOT / "README.md", ROOT / "laboratory" / "README.md", *PAGES]
BLOCK = re.compile(r"(?P<mark><!-- [^\n]* -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```", re.DOTALL)


PROGRAMS = {"python -m psm_sim": psm_sim.cli.main, "python -m psm_lab": psm_lab.cli.main}

SERVER = "python -m psm_sim explore"
"""Command that ends only with Ctrl-C; tests/commands/test_explore.py runs it."""
OVERVIEW = ROOT / "docs" / "README.md"
SKETCH = OVERVIEW.parent / "pictures" / "simulation.svg"
"""Diagram that shows no data."""
FINDS_A_FAULT, PRINTED = "<!-- ends with 1 -->", "<!-- printed -->"
"""Marks of a command with exit status 1, and of a text printed by the block before it."""


def blocks(document: Path) -> Iterator[tuple[str, str, str]]:
    """Yield mark, language and text of each fenced block that is to be run or compared here.

    Examples whose output is not compared are small.
    """
    found = [
        ((match["mark"] or "").strip(), match["language"], match["text"])
        for match in BLOCK.finditer(document.read_text(encoding="utf-8"))
    ]
    for (mark, language, text), (next_mark, _, _) in pairwise([*found, ("", "", "")]):
        if mark in ("", FINDS_A_FAULT, PRINTED):
            is_small = language in ("python", "sh") and next_mark != PRINTED and not is_file(text)
            yield mark, language, in_small(text) if is_small else text


def one_line(command: str) -> str:
    """Return a command without line breaks."""
    return " ".join(command.replace("\\\n", " ").split())


def is_file(text: str) -> bool:
    """Return whether a block is a file, with its name in a comment on the first line."""
    return re.match(r"# [\w./]+\.(py|toml|csv)\n", text) is not None


def in_small(text: str) -> str:
    """Return a command or Python code with at most two pages and seeds, and messages of ten minutes."""
    text = re.sub(
        r"\b(pages|replications)([ =])(\d+)", lambda it: f"{it[1]}{it[2]}{min(2, int(it[3]))}", text
    )
    return re.sub(r"((?:--trace|advise .*--traffic) (?:mqtt|ping|push))(?=\s)", r"\1:stretch_s=600", text)


def pictures(document: Path) -> Iterator[Path]:
    """Yield the figures in the folder of a document that it includes.

    Figures of reports have their own tests. Those of the overview are tested there.
    """
    others = set() if document == OVERVIEW else set(pictures(OVERVIEW))
    for target in re.findall(
        r"!\[[^\]]*\]\((?!https?:|\.\./)([^)#]+)\)", document.read_text(encoding="utf-8")
    ):
        if document.parent / target not in others:
            yield document.parent / target


def labels(picture: Path) -> set[str]:
    """Return titles and names in an SVG picture, without texts that have a number."""
    return set(re.findall(r"<text [^>]*>([^<\d]*)</text>", picture.read_text(encoding="utf-8")))


def is_reproduced(picture: Path, folder: Path) -> bool:
    """Return whether a figure of this name in *folder* has equal labels, or there is none but a CSV file."""
    plotted = [labels(path) for path in folder.rglob(picture.name)]
    has_source = picture.with_suffix(".csv").exists() or picture == SKETCH
    return labels(picture) in plotted or (not plotted and has_source)


TABLE = re.compile(r"<!-- the table of results -->\n```sh\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
TABLES = [
    pytest.param(one_line(match[1]), match[2], id=document.name)
    for document in DOCUMENTS
    for match in TABLE.finditer(document.read_text(encoding="utf-8"))
]
COMPARED = {in_small(str(table.values[0])) for table in TABLES}
"""Commands whose output is compared with a document, and which no other document needs to run again."""


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_documented_examples_run(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files are written as shown, Python is run, and each ``python -m psm_sim`` line ends with status 0.

    A command with a mark ends with 1. A text with a mark is the output of the block before it. All other
    examples run with at most two pages and seeds. A figure has the labels of the one that the commands plot
    under its name, or a CSV file of its numbers.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("psm_sim.commands.shared_options.DEFAULT_PAGES", 2)
    monkeypatch.setattr("psm_sim.commands.losses.DEFAULT_SEEDS", 2)
    monkeypatch.setattr("psm_sim.campaign.advice.REPLICATIONS", 1)
    shutil.copy(ROOT / "examples" / "08-synthetic-session.har", "my.har")  # stands for a file of the reader
    printed = ""
    for mark, language, text in blocks(document):
        if is_file(text):
            name, _, content = text.partition("\n")
            (tmp_path / name[2:].strip()).write_text(content, encoding="utf-8")
        elif language == "python":
            exec(compile(text, str(document), "exec"), {"__name__": "example"})  # noqa: S102
        elif language == "sh":
            for command in text.replace("\\\n", " ").splitlines():
                line = one_line(command)
                program = PROGRAMS.get(line[:17])
                if program and not line.startswith(SERVER) and line not in COMPARED:
                    assert program(shlex.split(line)[3:]) == (mark == FINDS_A_FAULT), line
        if mark == PRINTED:
            assert printed == text
        elif language in ("python", "sh"):
            shown = capsys.readouterr()
            assert "Traceback" not in shown.err
            printed = shown.out
    assert [picture for picture in pictures(document) if not is_reproduced(picture, tmp_path)] == []


def test_the_overview_lists_every_page() -> None:
    """The navigation of the documentation site consists of its tables."""
    links = re.findall(r"^\| \[.+?\]\(([^)#]+)\)", OVERVIEW.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(PAGES) - {OVERVIEW} <= {(OVERVIEW.parent / link).resolve() for link in links}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_are_valid(document) -> None:
    """Relative links are existing files."""
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


@pytest.mark.parametrize(("command", "printed"), TABLES)
def test_every_documented_table_of_results_is_the_output_of_its_command(
    command, printed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Documented numbers are measured, and stay true. A failed command has its own error."""
    monkeypatch.setenv("COLUMNS", "100")
    status = psm_sim.cli.main(shlex.split(command)[3:])
    shown = capsys.readouterr()
    assert (status, shown.err) == (0, "")
    assert shown.out.strip("\n") == printed.strip("\n")
