"""Terminal tables of the findings of studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from psm_lab.reporting import claim_tables
from psm_sim.reporting.columns import text_column
from psm_sim.reporting.terminal.console import console_on, print_table

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from psm_lab.studies.study import Findings


def write_findings(
    findings: Sequence[Findings],
    stream: TextIO,
    rule: str = claim_tables.RULE,
    missing: Mapping[str, str] | None = None,
) -> None:
    """Write the claims, tables and remarks of each study.

    Parameters
    ----------
    findings : sequence of Findings
        Findings of the studies, in printing order.
    stream : text file
        Output stream.
    rule : str
        Explanation of the verdicts.
    missing : mapping of str to str, optional
        Studies without findings, with the reasons.
    """
    from rich.text import Text

    with console_on(stream) as console:
        for study in findings:
            console.print(Text(f"{study.study}: {study.title}", style="bold"))
            console.print(Text(study.setting))
            notes = {preset.name: preset.note() for preset in study.presets}
            for name, claims in claim_tables.under_each_preset(study.claims).items():
                console.print()
                console.print(Text(notes.get(name, ""), style="italic"), end="\n" if name else "")
                headings, rows = claim_tables.columns(claims, without=["source"])
                _print_table(console, headings, rows)
            for table in study.tables:
                console.print()
                console.print(Text(table.title, style="italic"))
                _print_table(console, list(map(str, table.frame.columns)), cells(table.frame))
            console.print()
            for line in [f"* {remark}" for remark in (*study.summary, *study.remarks)] + _commentary(study):
                console.print(Text(line))
            console.print()
        lines = [f"No result for {name}: {reason.rstrip('.')}." for name, reason in (missing or {}).items()]
        for line in [*_footer(findings, rule), *lines]:
            console.print(Text(line))


def _print_table(console: Console, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    columns = list(zip(*rows, strict=True)) or [() for _ in headings]
    print_table(console, [text_column(*each) for each in zip(headings, columns, strict=True)])


def _footer(findings: Sequence[Findings], rule: str) -> list[str]:
    """Return the verdict counts of each preset, and the explanation of verdicts and roles."""
    all_claims = [claim for study in findings for claim in study.claims]
    presets = claim_tables.under_each_preset(all_claims)
    lines = [
        f"{f'Preset {name}, {len(claims)} published numbers' if name else f'{len(claims)} claims'}: "
        f"{claim_tables.format_tallies(claims)}."
        for name, claims in presets.items()
    ]
    if any(study.provisional for study in findings):
        lines.append("Provisional verdicts need more replications. Run without --quick.")
    roles = [claim_tables.ROLES] if any(presets) else []
    return [*lines, rule, *roles] if all_claims else []


def _commentary(findings: Findings) -> list[str]:
    lines = [f"* {sentence}" for sentence in findings.commentary]
    return ["Commentary:", *lines] if lines else []


def cells(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the cells of a table as text."""
    return [tuple(cell(value) for value in row) for row in frame.itertuples(index=False, name=None)]


def cell(value: Any) -> str:
    """Return a value as text: floats with four significant digits, and an empty string for None and NaN."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or value != value:
        return ""
    return f"{value:.4g}" if type(value) is float else str(value)
