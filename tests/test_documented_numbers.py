"""Numbers of the README and the documents: each is in the committed report, with its verdict.

``python tests/test_documented_numbers.py`` renews them after a reproduction.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.anticipate import STEM, run, stored
from benchmarks.anticipate import table as table_of_anticipate
from benchmarks.one_decision import trained
from psm_sim.network.chip_estimation import DOZING_RATIOS

ROOT = Path(__file__).resolve().parents[1]


def report(name: str = "reproduction") -> dict[str, Any]:
    """Return the numbers of a committed report."""
    text = (ROOT / "reports" / name / "numbers.json").read_text(encoding="utf-8")
    numbers: dict[str, Any] = json.loads(text)
    return numbers


def table(rows: list[list[str]]) -> str:
    """Return rows as a table with the first one as headings."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def provisional(numbers: dict[str, Any]) -> bool:
    """Return whether the report has few replications (``reproduce --quick``)."""
    return any(study["provisional"] for study in numbers["studies"].values())


def tallies(numbers: dict[str, Any]) -> str:
    """Return the number of published numbers by preset, role and verdict."""
    verdicts = ("agrees", "undecided", "differs", "not comparable")
    rows = [["preset" + " (provisional)" * provisional(numbers), "role of the numbers", *verdicts]]
    for preset, roles in numbers["tallies"].items():
        for role, counts in roles.items():
            rows.append([f"`{preset}`", role, *(str(counts.get(verdict, 0)) for verdict in verdicts)])
    return table(rows)


def sentences(numbers: dict[str, Any]) -> str:
    """Return the claims of the thesis on the trace study with their verdicts."""
    study = numbers["studies"]["trace-study"]["tables"][0]
    return table([study["columns"], *([str(value) for value in row] for row in study["rows"])])


BLOCKS: list[tuple[str, str, Callable[[dict[str, Any]], str]]] = [
    ("docs/results.md", "the tallies", tallies),
    ("laboratory/docs/replay.md", "the sentences", sentences),
]


def block(text: str, mark: str) -> re.Match[str]:
    """Return the table below a mark."""
    match = re.search(rf"(?<=<!-- {mark} -->\n)(\|.*\n)*", text)
    assert match, mark
    return match


@pytest.mark.parametrize(("document", "mark", "table_of"), BLOCKS, ids=[mark for _, mark, _ in BLOCKS])
def test_every_documented_table_of_numbers_agrees_with_the_report(
    document: str, mark: str, table_of: Callable[[dict[str, Any]], str]
) -> None:
    """All digits and words agree; a provisional report is named so."""
    text = (ROOT / document).read_text(encoding="utf-8")
    assert block(text, mark).group().strip() == table_of(report())


def test_every_preset_has_a_verdict_on_all_published_numbers() -> None:
    """All presets have the same numbers; those of the headline have at least 100 replications."""
    numbers = report()
    claims = [claim for study in numbers["studies"].values() for claim in study["claims"]]
    counts = [
        sum(sum(counts_.values()) for counts_ in roles.values()) for roles in numbers["tallies"].values()
    ]
    assert len(set(counts)) == 1
    assert sum(counts) == len(claims)
    first = numbers["studies"]["lpsm-100"]["claims"]
    least = min(claim["replications"] for claim in first if claim["preset"] == first[0]["preset"])
    assert least >= 100 or provisional(numbers)


def test_every_setting_on_the_search_frontier_was_run_on_the_judging_seeds() -> None:
    """Every setting on the frontier of the search was run again on judging seeds."""
    searched, judged, *_ = report()["studies"]["one-setting"]["tables"]
    settings = [{tuple(row[:-3]) for row in table_["rows"]} for table_ in (searched, judged)]
    assert settings[0] == settings[1] or provisional(report())


def text_of(document: str) -> str:
    """Return the text of a document."""
    return (ROOT / document).read_text(encoding="utf-8")


def in_one_line(document: str) -> str:
    """Return the text of a document without line breaks."""
    return " ".join(text_of(document).split())


def test_the_result_in_the_readme_agrees_with_the_stored_runs() -> None:
    """The runs, of all kinds of pages and radios, are stored by benchmarks/anticipate.py."""
    match = re.search(
        r"price of 0\.25, .* needs (\S+) to (\S+) times the energy of static PSM, and its mean \S+ is "
        r"at most (\S+) higher\. At 0\.1 it needs (\S+) to (\S+) times the energy of LPSM, and delays pages "
        r"less\. At 1 it causes (\S+) to (\S+) % of the delay of LPSM, "
        r"and needs (\S+) to (\S+) times the energy\.",
        in_one_line("README.md"),
    )
    assert match
    means = stored()
    conditions = sorted({(pages, radio) for pages, radio, _ in means})
    assert len(conditions) == 16

    def compared(price: str, other: str) -> np.ndarray:
        ours, theirs = (
            np.array([means[*condition, policy] for condition in conditions])
            for policy in (f"anticipate:price={price}", other)
        )
        return np.column_stack(
            (ours[:, 0] / theirs[:, 0], ours[:, 1] - theirs[:, 1], (ours[:, 1] - 1) / (theirs[:, 1] - 1))
        )

    psm, cheap, even = compared("0.25", "psm"), compared("0.1", "lpsm"), compared("1", "lpsm")
    measured = [
        *np.round([psm[:, 0].min(), psm[:, 0].max(), psm[:, 1].max()], 2),
        *np.round([cheap[:, 0].min(), cheap[:, 0].max()], 2),
        *np.round([100 * even[:, 2].min(), 100 * even[:, 2].max()]),
        *np.round([even[:, 0].min(), even[:, 0].max()], 2),
    ]
    assert [float(number) for number in match.groups()] == pytest.approx(measured)
    assert (cheap[:, 1] < 0).all()


def test_repeated_runs_of_anticipate_equal_the_stored_runs() -> None:
    """The run has one seed of one kind of pages on a chip. The file has seven digits."""
    with STEM.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        rows = {tuple(row.values())[:4]: row for row in csv.DictReader(file)}
    for pages, radio, seed, policy, energy_j, slowdown in run((70001, "ucb", "cyw43439")):
        row = rows[pages, radio, str(seed), policy]
        assert (float(row["energy_j"]), float(row["slowdown"])) == pytest.approx(
            (energy_j, slowdown), rel=1e-6
        )


def test_a_repeated_decision_of_anticipate_equals_the_stored_decision() -> None:
    """The values are the probabilities that the reply has come, over the time since the request."""
    with (ROOT / "docs/pictures/one-decision.csv").open(encoding="utf-8", newline="") as file:
        times_ms, stored_risen = np.array([list(map(float, row.values())) for row in csv.DictReader(file)]).T
    risen, _ = trained(1.0).models["request"].at(times_ms / 1000)
    assert risen == pytest.approx(stored_risen, rel=1e-9)


def test_the_table_of_anticipate_agrees_with_the_stored_runs() -> None:
    assert block(text_of("docs/anticipate.md"), "pages by radio").group().strip() == table_of_anticipate()


def write() -> None:
    """Renew the tables."""
    for document, mark, table_of in BLOCKS:
        path = ROOT / document
        text = path.read_text(encoding="utf-8")
        match = block(text, mark)
        path.write_text(
            text[: match.start()] + table_of(report()) + "\n" + text[match.end() :], encoding="utf-8"
        )


def test_the_current_interval_covers_as_many_measured_rows_as_the_page_on_devices_states() -> None:
    low, high = DOZING_RATIOS["light-sleep"]
    rows = report("validation")["studies"]["data-sheet"]["tables"][0]["rows"]
    ratios = [measured / simulated for _, _, measured, simulated, *_ in rows]
    within = sum(low <= ratio <= high for ratio in ratios)
    text = (ROOT / "docs" / "devices.md").read_text(encoding="utf-8")
    assert f"{low} to {high} times the predicted one; {within} of the {len(rows)} [measured rows]" in text


def test_after_measured_means_the_intervals_cover_four_fifths_of_the_rows_of_all_chips() -> None:
    """The documented number includes the rows of ESP32 and ESP32-S2."""
    tallies_: dict[tuple[int, int], list[int]] = {}
    for means, chips, rows, without, *_, percent, within in report("validation")["studies"]["calibration"][
        "tables"
    ][0]["rows"]:
        if chips == "all":
            tally = tallies_.setdefault((means.count(" and ") + 1, percent), [0, 0])
            tally[0] += within
            tally[1] += rows - without
    text = (ROOT / "docs" / "devices.md").read_text(encoding="utf-8")
    for (_, percent), (within, rows) in tallies_.items():
        assert within >= 0.8 * rows
        assert re.search(rf"± {percent} %; {within} of (the )?{rows} ", text)
    assert len(tallies_) == 4


if __name__ == "__main__":
    write()
