"""Reproduction report on published claims: a page of Markdown, figures, and all numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim import __version__
from psm_sim.files.together import swapped_folder
from psm_sim.reporting import claims
from psm_sim.reporting.files.result_json import to_text
from psm_sim.reporting.files.study_numbers import numbers_of
from psm_sim.reporting.pages import markdown, tallies
from psm_sim.reporting.terminal.study import cells

if TYPE_CHECKING:
    from psm_sim.studies.published import Claim
    from psm_sim.studies.study import Findings

FIGURES = "figures"
INTRODUCTION = """\
# Published results, and ours

What C. Monteleoni's thesis (Learning with Online Constraints, 2006, section 2.5.4) and R. Krashinsky and
H. Balakrishnan's Bounded Slowdown paper (MobiCom 2002) report of power saving, simulated again. Pages are
synthetic, drawn from published distributions.

Made by psm_sim {version}, first seed {seed}, with

```sh
{command}
```

The number of workers changes nothing. The same numbers stand in [numbers.json](numbers.json); those of each
figure lie beside it as CSV.

{rule}

"""


def write_report(
    folder: Path,
    findings: Sequence[Findings],
    seed: int,
    command: str,
    introduction: str = INTRODUCTION,
    rule: str = claims.RULE,
) -> None:
    """Write ``README.md``, ``numbers.json`` and the figures, all of them or none.

    An interrupted run leaves the earlier report unchanged. The same findings give the same bytes.

    Parameters
    ----------
    folder
        Where to; made if need be. Files in it that are not of this report stay.
    findings
        What the studies found, in the order of the report.
    seed, command
        Stated in the report, so that a reader can run the same.
    introduction, rule
        The page's first lines, which name version, seed, command and rule; and how the verdicts are found.
    """
    with swapped_folder(folder) as draft:
        (draft / FIGURES).mkdir()
        links = {found.study: _draw(found, draft / FIGURES) for found in findings}
        text = to_text(numbers_of(findings, seed))
        (draft / "numbers.json").write_text(text, encoding="utf-8", newline="\n")
        words = introduction.format(version=__version__, seed=seed, command=command, rule=rule)
        page = page_of(findings, links, words)
        (draft / "README.md").write_text(page, encoding="utf-8", newline="\n")


def _draw(found: Findings, folder: Path) -> list[tuple[str, str]]:
    """Draw a study's figures; return the caption and the file name of each."""
    from psm_sim.reporting.figures.studies import draw
    from psm_sim.reporting.figures.style import save_figure

    links = []
    for key, frame in found.figures.items():
        figure, caption = draw(key, frame)
        stem = f"{found.study}-{key}" if key != found.study else key
        numbers = {str(name): column.tolist() for name, column in frame.items()}
        save_figure(figure, folder / stem, numbers)
        links.append((caption, f"{stem}.png"))
    return links


def page_of(
    findings: Sequence[Findings], figures: dict[str, list[tuple[str, str]]], introduction: str
) -> str:
    """Return the page.

    Parameters
    ----------
    findings
        What the studies found, in the order of the report.
    figures
        Each study's captions and file names.
    introduction
        The page's first lines.
    """
    studies = [_study(found, figures.get(found.study, [])) for found in findings]
    return introduction + _summary(findings) + "\n" + "\n".join(studies)


def _summary(findings: Sequence[Findings]) -> str:
    rows = [
        [f"[{found.study}](#{found.study})", markdown.escaped(found.title), _verdicts(found)]
        for found in findings
    ]
    lines = [["study", "about", "verdicts"], ["---"] * 3, *rows]
    page = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    every = [claim for found in findings for claim in found.claims]
    presets = claims.under_each_preset(every)
    if set(presets) <= {""}:
        return f"{page}\nAll claims: {claims.tally(every)}.\n" if every else page
    return "\n".join([page, *tallies.sections(findings, presets)])


def _verdicts(found: Findings) -> str:
    """Return the tallies under the headline's preset, the first one."""
    presets = claims.under_each_preset(found.claims)
    return next((claims.told(mine) for mine in presets.values()), "")


def _study(found: Findings, figures: Sequence[tuple[str, str]]) -> str:
    parts = [f"## {found.study}\n", f"{markdown.escaped(found.title)}.\n"]
    parts.append(f"Setting: {markdown.escaped(found.setting)}.\n")
    notes = {preset.name: preset.note() for preset in found.presets}
    for name, mine in claims.under_each_preset(found.claims).items():
        parts += [f"{markdown.escaped(notes.pop(name))}. {claims.told(mine)}:\n"] if name in notes else []
        parts.append(_claims(mine))
    parts += [f"{markdown.escaped(note)}.\n" for note in notes.values() if note]
    if found.remarks:
        parts.append(markdown.points(found.remarks))
    for table in found.tables:
        parts.append(f"{markdown.escaped(table.title)}:\n")
        parts.append(markdown.table([str(name) for name in table.frame.columns], cells(table.frame)))
    parts += [f"![{caption}]({FIGURES}/{name})\n\n{caption}\n" for caption, name in figures]
    if found.commentary:
        parts.append(f"Commentary:\n\n{markdown.points(found.commentary)}")
    return "\n".join(parts)


def _claims(mine: Sequence[Claim]) -> str:
    headings, lines = claims.columns(mine)
    return markdown.table(headings, lines)
