"""Report on studies, with a page of Markdown, figures, and all numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psm_lab.reporting import claim_tables
from psm_lab.reporting.pages.introductions import PUBLISHED, Introduction
from psm_lab.reporting.pages.markdown_tables import escape_markdown, markdown_list, markdown_table
from psm_lab.reporting.pages.summaries import summarise
from psm_lab.reporting.study_numbers import numbers_of
from psm_lab.reporting.terminal_findings import cells
from psm_sim import __version__
from psm_sim.common.output_files import replace_files
from psm_sim.reporting.files.result_json import to_text

if TYPE_CHECKING:
    from psm_lab.studies.published_claims import Claim
    from psm_lab.studies.study import Findings
    from psm_sim.simulation.preset import Preset

FIGURES = "figures"
PROVENANCE = """\
## Provenance and rule

psm_sim {version} wrote this report with first seed {seed}:

```sh
{command}
```

The results do not depend on the number of workers. [numbers.json](numbers.json) has the same numbers.

{rule}

"""


def output_paths(folder: Path, names: Iterable[str]) -> list[Path]:
    """Return the files that a report on the studies *names* may replace in *folder*.

    The names of some figures depend on the results, so figures are listed only if they exist.
    """
    patterns = [f"{name}{end}" for name in names for end in (".*", "-*.*")]
    figures = {path for pattern in patterns for path in (folder / FIGURES).glob(pattern)}
    return [folder / "README.md", folder / "numbers.json", *sorted(figures)]


def write_report(
    folder: Path,
    findings: Sequence[Findings],
    seed: int,
    command: str,
    introduction: Introduction = PUBLISHED,
    missing: Mapping[str, str] | None = None,
) -> None:
    """Write ``README.md``, ``numbers.json`` and the figures atomically.

    An interrupted run leaves the previous report unchanged. The same findings give the same bytes.

    Parameters
    ----------
    folder : Path
        Output folder, created if necessary. Files that are not part of the report remain.
    findings : sequence of Findings
        Findings of the studies, in the order of the report.
    seed : int
        First seed, as stated in the report.
    command : str
        Command that repeats the report.
    introduction : Introduction
        Title and first paragraphs, and the rule of the verdicts.
    missing : mapping of str to str, optional
        Studies without findings, with the reasons. If there are any, no figures are plotted.
    """
    with replace_files(folder) as draft:
        (draft / FIGURES).mkdir()
        links = {} if missing else {study.study: _draw(study, draft / FIGURES) for study in findings}
        text = to_text(numbers_of(findings, seed, missing))
        (draft / "numbers.json").write_text(text, encoding="utf-8", newline="\n")
        first_lines = f"# {introduction.title}\n\n{introduction.text}\n\n"
        provenance = PROVENANCE.format(
            version=__version__, seed=seed, command=command, rule=introduction.rule
        )
        page = page_of(findings, links, first_lines, provenance, missing)
        (draft / "README.md").write_text(page, encoding="utf-8", newline="\n")


def _draw(study: Findings, folder: Path) -> list[tuple[str, str]]:
    """Plot the figures of a study, and return their captions and file names."""
    from psm_lab.reporting.figures.figure_registry import draw
    from psm_sim.reporting.figures.canvas import save_picture

    links = []
    for key, frame in study.figures.items():
        figure, caption = draw(key, frame)
        name = f"{study.study}-{key}.svg" if key != study.study else f"{key}.svg"
        save_picture(figure, folder / name)
        links.append((caption, name))
    return links


def page_of(
    findings: Sequence[Findings],
    figures: Mapping[str, Sequence[tuple[str, str]]],
    introduction: str = "",
    provenance: str = "",
    missing: Mapping[str, str] | None = None,
) -> str:
    """Return the page.

    Parameters
    ----------
    findings : sequence of Findings
        Findings of the studies, in the order of the report.
    figures : dict of str to list of tuple
        Captions and file names of each study.
    introduction, provenance : str
        Text before and after the summary.
    missing : mapping of str to str, optional
        Studies without findings, with the reasons.
    """
    first_lines = introduction + summary_section(findings) + provenance + _missing_section(missing or {})
    studies = [_study_section(study, figures.get(study.study, [])) for study in findings]
    return first_lines + _verdict_table(findings) + "\n" + "\n".join(studies)


def _missing_section(missing: Mapping[str, str]) -> str:
    """Return a section with the studies that have no findings, or an empty string."""
    lines = [f"{name}: {reason.rstrip('.')}" for name, reason in missing.items()]
    return f"## Missing studies\n\n{markdown_list(lines)}\n" if lines else ""


def _verdict_table(findings: Sequence[Findings]) -> str:
    """Return a table of each study's verdicts under its first (headline) preset, and the total tallies."""
    lines = ["| study | about | verdicts |", "| --- | --- | --- |"]
    for study in findings:
        presets = claim_tables.under_each_preset(study.claims)
        verdicts = next((claim_tables.format_tallies(claims) for claims in presets.values()), "")
        lines.append(f"| [{study.study}](#{study.study}) | {escape_markdown(study.title)} | {verdicts} |")
    page = "## Studies\n\n" + "\n".join(lines) + "\n"
    claims = [claim for study in findings for claim in study.claims]
    presets = claim_tables.under_each_preset(claims)
    if set(presets) <= {""}:
        return f"{page}\nAll claims: {claim_tables.format_tallies(claims)}.\n" if claims else page
    return "\n".join([page, *_tally_sections(findings, presets)])


def _study_section(study: Findings, figures: Sequence[tuple[str, str]]) -> str:
    parts = [f"## {study.study}\n", f"{escape_markdown(study.title)}.\n"]
    parts.append(f"Setting: {escape_markdown(study.setting)}.\n")
    notes = {preset.name: preset.note() for preset in study.presets}
    for name, claims in claim_tables.under_each_preset(study.claims).items():
        if name in notes:
            note = escape_markdown(notes.pop(name))
            parts.append(f"{note}. {claim_tables.format_tallies(claims)}:\n")
        parts.append(markdown_table(*claim_tables.columns(claims)))
    parts += [f"{escape_markdown(note)}.\n" for note in notes.values() if note]
    if study.remarks:
        parts.append(markdown_list(study.remarks))
    for table in study.tables:
        rows = markdown_table([str(name) for name in table.frame.columns], cells(table.frame))
        parts.append(f"{escape_markdown(table.title)}:\n\n{rows}")
    parts += [f"![{caption}]({FIGURES}/{name})\n\n{caption}\n" for caption, name in figures]
    if study.commentary:
        parts.append(f"Commentary:\n\n{markdown_list(study.commentary)}")
    return "\n".join(parts)


def _tally_sections(findings: Sequence[Findings], presets: dict[str, list[Claim]]) -> list[str]:
    """Return sections with the counts, all published numbers, and the choices of each preset.

    *presets* are the claims of *findings* by the name of their preset.
    """
    all_claims = [claim for claims in presets.values() for claim in claims]
    lines = [
        [name, role, tally]
        for name, claims in presets.items()
        for role, tally in claim_tables.verdict_tallies(claims).items()
    ]
    provisional = " All verdicts are provisional, because they need more and longer replications."
    note = provisional if any(study.provisional for study in findings) else ""
    return [
        "## Tallies\n",
        f"{claim_tables.ROLES} The table above uses the first preset.{note}\n",
        markdown_table(["preset", "role of the published numbers", "verdicts"], lines),
        "## All published numbers under each preset\n",
        markdown_table(*claim_tables.side_by_side(all_claims)),
        *_choice_sections(findings),
    ]


def _choice_sections(findings: Sequence[Findings]) -> list[str]:
    presets = {preset.name: preset for study in findings for preset in study.presets}
    parts = ["## Choices of the presets\n"]
    for name, preset in presets.items():
        parts += [
            f"Preset {name}: {escape_markdown(preset.description)}.\n",
            _choice_table(preset),
        ]
        texts = [f"Evidence for it: {text}" for text in preset.evidence]
        texts += [f"Evidence against it: {text}" for text in preset.doubts]
        parts += [markdown_list(texts)] if texts else []
    return parts


def _choice_table(preset: Preset) -> str:
    headings = ["choice", "role", "based on", "candidates", "seeds"]
    lines = [
        [choice.choice, role, ", ".join(choice.looked_at), ", ".join(choice.tried), choice.seeds]
        for role, choices in (("calibrated", preset.calibrated), ("fitted", preset.fitted))
        for choice in choices
    ]
    return markdown_table(headings, lines)


def summary_section(findings: Sequence[Findings]) -> str:
    """Return the summary of the studies that have one, or an empty string."""
    texts = summarise(findings)
    return "## Summary\n\n" + "\n".join(f"{text}\n" for text in texts) + "\n" if texts else ""
