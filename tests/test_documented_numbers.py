"""Numbers of the README and the documents: each is read off the committed report, verdict included.

``python tests/test_documented_numbers.py`` writes them anew after a reproduction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def report(name: str = "reproduction") -> dict[str, Any]:
    """Return the numbers of a committed report."""
    text = (ROOT / "reports" / name / "numbers.json").read_text(encoding="utf-8")
    numbers: dict[str, Any] = json.loads(text)
    return numbers


def table(rows: list[list[str]]) -> str:
    """Return rows as a table, the first one its headings."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def provisional(numbers: dict[str, Any]) -> bool:
    """Say whether the report is one of few replications (``reproduce --quick``)."""
    return any(study["provisional"] for study in numbers["studies"].values())


def tallies(numbers: dict[str, Any]) -> str:
    """Return how many published numbers have each verdict, by preset and role, and if provisional."""
    verdicts = ("agrees", "undecided", "differs", "not comparable")
    rows = [["preset" + " (provisional)" * provisional(numbers), "role of the numbers", *verdicts]]
    for preset, roles in numbers["tallies"].items():
        for role, found in roles.items():
            rows.append([f"`{preset}`", role, *(str(found.get(each, 0)) for each in verdicts)])
    return table(rows)


def sentences(numbers: dict[str, Any]) -> str:
    """Return the thesis's sentences on the trace study with their verdicts."""
    found = numbers["studies"]["trace-study"]["tables"][0]
    return table([found["columns"], *([str(value) for value in row] for row in found["rows"])])


BLOCKS: list[tuple[str, str, Callable[[dict[str, Any]], str]]] = [
    ("docs/results.md", "the tallies", tallies),
    ("laboratory/docs/replay.md", "the sentences", sentences),
]


def block(text: str, mark: str) -> re.Match[str]:
    """Return the table that stands below a mark."""
    found = re.search(rf"(?<=<!-- {mark} -->\n)(\|.*\n)*", text)
    assert found, mark
    return found


@pytest.mark.parametrize(("document", "mark", "made"), BLOCKS, ids=[mark for _, mark, _ in BLOCKS])
def test_a_table_of_numbers_is_that_of_the_report(
    document: str, mark: str, made: Callable[[dict[str, Any]], str]
) -> None:
    """To the last digit and word; a provisional report is called so."""
    text = (ROOT / document).read_text(encoding="utf-8")
    assert block(text, mark).group().strip() == made(report())


def test_every_preset_is_judged_on_all_published_numbers() -> None:
    """As many under each, each once; the headline's on at least 100 replications."""
    numbers = report()
    claims = [claim for study in numbers["studies"].values() for claim in study["claims"]]
    counts = [sum(sum(each.values()) for each in roles.values()) for roles in numbers["tallies"].values()]
    assert len(set(counts)) == 1
    assert sum(counts) == len(claims)
    first = numbers["studies"]["lpsm-100"]["claims"]
    least = min(claim["replications"] for claim in first if claim["preset"] == first[0]["preset"])
    assert least >= 100 or provisional(numbers)


def test_the_candidates_of_one_setting_are_the_frontier_of_its_search() -> None:
    """Every setting that the search found best was run again on judging seeds."""
    found, judged, *_ = report()["studies"]["one-setting"]["tables"]
    settings = [{tuple(row[:-3]) for row in each["rows"]} for each in (found, judged)]
    assert settings[0] == settings[1] or provisional(report())


def text_of(document: str) -> str:
    """Return the text of a document."""
    return (ROOT / document).read_text(encoding="utf-8")


def in_one_line(document: str) -> str:
    """Return the text of a document without line breaks."""
    return " ".join(text_of(document).split())


def test_the_result_in_the_readme_is_in_the_table_of_results() -> None:
    """test_documentation.py runs the command of this table."""
    rows = {
        line.split()[0]: line
        for line in text_of("docs/results.md").splitlines()
        if line.startswith(" ")  # a row of the table
    }
    found = re.search(
        r"`anticipate`.* \((\S+) J and (\S+) J per page\).* \(slowdown (\S+) instead of (\S+)\)\."
        r" Static PSM.* (\S+) J at a slowdown of (\S+)\. ",
        in_one_line("README.md"),
    )
    assert found
    ours, lpsm, slowdown, lpsm_slowdown, psm, psm_slowdown = found.groups()
    policies = {
        "anticipate": (ours, slowdown),
        "lpsm:loss=inverse-log": (lpsm, lpsm_slowdown),
        "psm": (psm, psm_slowdown),
    }
    for policy, numbers in policies.items():
        in_table = [f"{float(cell):.2f}" for cell in re.findall(r"(?<=\s)\d+\.\d+", rows[policy])]
        assert set(numbers) <= set(in_table)


def write() -> None:
    """Write the tables anew."""
    for document, mark, made in BLOCKS:
        path = ROOT / document
        text = path.read_text(encoding="utf-8")
        found = block(text, mark)
        path.write_text(text[: found.start()] + made(report()) + "\n" + text[found.end() :], encoding="utf-8")


if __name__ == "__main__":
    write()
