"""Reproduction report on published claims: a page of Markdown, figures, and all numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from psm_sim import __version__
from psm_sim.files.atomic_directory import replace_directory
from psm_sim.lab.reporting import claim_table
from psm_sim.lab.reporting.files.study_numbers import numbers_of
from psm_sim.lab.reporting.pages import markdown, verdict_tallies
from psm_sim.lab.reporting.terminal.study import cells
from psm_sim.parallel import parallel_map
from psm_sim.reporting.files.result_json import to_text

if TYPE_CHECKING:
    import pandas as pd

    from psm_sim.lab.studies.published import Claim
    from psm_sim.lab.studies.study import Findings

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
    rule: str = claim_table.RULE,
    workers: int | None = 1,
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
    workers
        Processes that draw, one for each core if None.
    """
    with replace_directory(folder) as draft:
        (draft / FIGURES).mkdir()
        links = _draw_all(findings, draft / FIGURES, workers)
        text = to_text(numbers_of(findings, seed))
        (draft / "numbers.json").write_text(text, encoding="utf-8", newline="\n")
        words = introduction.format(version=__version__, seed=seed, command=command, rule=rule)
        page = page_of(findings, links, words)
        (draft / "README.md").write_text(page, encoding="utf-8", newline="\n")


def _draw_all(
    findings: Sequence[Findings], folder: Path, workers: int | None
) -> dict[str, list[tuple[str, str]]]:
    """Draw all figures; return each study's captions and file names."""
    figures = [_Figure(found.study, *each) for found in findings for each in found.figures.items()]
    links: dict[str, list[tuple[str, str]]] = {}
    for figure, caption in zip(figures, parallel_map(partial(_draw, folder), figures, workers), strict=True):
        links.setdefault(figure.study, []).append((caption, f"{figure.stem}.png"))
    return links


class _Figure(NamedTuple):
    study: str
    key: str
    frame: pd.DataFrame

    @property
    def stem(self) -> str:
        return f"{self.study}-{self.key}" if self.key != self.study else self.key


def _draw(folder: Path, of: _Figure) -> str:
    """Draw a figure; return its caption."""
    from psm_sim.lab.reporting.figures.studies import draw
    from psm_sim.reporting.figures.style import save_figure

    figure, caption = draw(of.key, of.frame)
    save_figure(figure, folder / of.stem, {str(name): each.tolist() for name, each in of.frame.items()})
    return caption


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
        [f"[{found.study}](#{found.study})", markdown.escape_markdown(found.title), _verdicts(found)]
        for found in findings
    ]
    lines = [["study", "about", "verdicts"], ["---"] * 3, *rows]
    page = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    every = [claim for found in findings for claim in found.claims]
    presets = claim_table.under_each_preset(every)
    if set(presets) <= {""}:
        return f"{page}\nAll claims: {claim_table.tally(every)}.\n" if every else page
    return "\n".join([page, *verdict_tallies.tally_sections(findings, presets)])


def _verdicts(found: Findings) -> str:
    """Return the tallies under the headline's preset, the first one."""
    presets = claim_table.under_each_preset(found.claims)
    return next((claim_table.format_tallies(mine) for mine in presets.values()), "")


def _study(found: Findings, figures: Sequence[tuple[str, str]]) -> str:
    parts = [f"## {found.study}\n", f"{markdown.escape_markdown(found.title)}.\n"]
    parts.append(f"Setting: {markdown.escape_markdown(found.setting)}.\n")
    notes = {preset.name: preset.note() for preset in found.presets}
    for name, mine in claim_table.under_each_preset(found.claims).items():
        parts += (
            [f"{markdown.escape_markdown(notes.pop(name))}. {claim_table.format_tallies(mine)}:\n"]
            if name in notes
            else []
        )
        parts.append(_claims(mine))
    parts += [f"{markdown.escape_markdown(note)}.\n" for note in notes.values() if note]
    if found.remarks:
        parts.append(markdown.markdown_list(found.remarks))
    for table in found.tables:
        parts.append(f"{markdown.escape_markdown(table.title)}:\n")
        parts.append(markdown.markdown_table([str(name) for name in table.frame.columns], cells(table.frame)))
    parts += [f"![{caption}]({FIGURES}/{name})\n\n{caption}\n" for caption, name in figures]
    if found.commentary:
        parts.append(f"Commentary:\n\n{markdown.markdown_list(found.commentary)}")
    return "\n".join(parts)


def _claims(mine: Sequence[Claim]) -> str:
    headings, lines = claim_table.columns(mine)
    return markdown.markdown_table(headings, lines)
