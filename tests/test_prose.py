"""Rules of prose.md that a program can check: sentences of the documents, the help and the docstrings."""

from __future__ import annotations

import argparse
import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from psm_sim.cli import SUBCOMMANDS, make_parser

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
MODULES = sorted((ROOT / "psm_sim").rglob("*.py"))
LONG_WORDS, MAX_LONG_SHARE = 30, 0.01
"""Words from which a sentence is long, and the share of sentences that may be long."""
RELATIVE_CLAUSE = re.compile(r"(What|Who|Where|Whoever|Whatever|Whose|Of which)\b(?!.*\?$)", re.DOTALL)
"""Start of a sentence whose subject is a clause; a question is none."""
PRIVATE_WORDS = re.compile(
    r"\b((is|are|was|were) (told|asked for)|told (of|that)|whoever|nobody|worked out|in words|to the last bit"
    r"|at work|besides? (ours|the pages)|says? whether|takes? note|mend(s|ed)?|anew)\b|\bso many \*",
    re.IGNORECASE,
)
"""Phrases that the word table of the project replaces by the words of the field."""


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a Markdown text: of its paragraphs, list items, table cells and headings."""
    text = re.sub(r"<!--.*?-->|```.*?```", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"``?[^`]+``?", "code", text)
    text = re.sub(r"^(\s*([-*]|\d+\.) |#+ |> )", "\n\n", text, flags=re.MULTILINE)
    text = re.sub(r"^(    |\t).*$", "", text, flags=re.MULTILINE) if "\n\n    " in text else text
    for line in re.findall(r"^\|.*\|$", text, re.MULTILINE):
        yield from (cell for part in line.split("|") for cell in split(part))
    for paragraph in re.split(r"\n\s*\n", re.sub(r"^#.*$|^\|.*\|$", "\n", text, flags=re.MULTILINE)):
        yield from split(paragraph)


def split(paragraph: str) -> list[str]:
    """Return the sentences of one paragraph, without those that have no words."""
    parts = re.split(r"(?<=[.!?])[\"')*_]*\s+(?=[A-Z\"'(*_`]|code\b)", " ".join(paragraph.split()))
    return [part for part in parts if re.search(r"[A-Za-z]{2}", part)]


def all_help() -> list[str]:
    """Return the sentences of the help of every command."""
    commands = [importlib.import_module(f"psm_sim.commands.{name}") for name in ("run", *SUBCOMMANDS)]
    parsers = [make_parser(command, "psm_sim") for command in commands]
    for command, parser in zip(commands, parsers, strict=True):
        command.add_arguments(parser)
    return [sentence for parser in parsers for sentence in help_sentences(parser)]


def help_sentences(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the sentences of a parser's help, and of its subcommands' help."""
    for text in (parser.description, (parser.epilog or "").partition("examples:")[0]):
        yield from split(text or "")
    for action in parser._actions:
        yield from split(action.help or "")
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from help_sentences(below)


def docstrings(path: Path) -> Iterator[str]:
    """Yield the docstrings of a module and of all it defines, attribute docstrings included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text


def all_sentences() -> list[str]:
    """Return every sentence of the documents and of the help."""
    read = [each for path in DOCUMENTS for each in sentences(path.read_text(encoding="utf-8"))]
    return [*read, *all_help()]


def is_long(sentence: str) -> bool:
    """Return whether a sentence has more than 30 words."""
    return len(re.findall(r"\S*\w\S*", sentence)) > LONG_WORDS


def offences(texts: list[str]) -> list[str]:
    """Return the sentences that begin with a relative clause or have a private word."""
    return [each for each in texts if RELATIVE_CLAUSE.match(each) or PRIVATE_WORDS.search(each)]


def test_at_most_one_sentence_in_a_hundred_is_long() -> None:
    texts = all_sentences()
    long = [each for each in texts if is_long(each)]
    assert len(long) <= MAX_LONG_SHARE * len(texts), "\n".join(long)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_uses_the_words_of_the_field(document: Path) -> None:
    assert offences(list(sentences(document.read_text(encoding="utf-8")))) == []


def test_the_help_uses_the_words_of_the_field() -> None:
    assert offences(all_help()) == []


def test_docstrings_use_the_words_of_the_field() -> None:
    found = {
        str(path.relative_to(ROOT)): bad
        for path in MODULES
        if (bad := offences([each for text in docstrings(path) for each in split(text)]))
    }
    assert found == {}
