"""``psm_sim sweep export``: the table of a sweep as CSV or Parquet."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

from psm_sim.commands.shared_options import add_force, output_option
from psm_sim.common.errors import InputError

HELP = """\
Write the table of a sweep as CSV or Parquet, with one row per task and one column per
parameter and measure. Rows are sorted by policy, scenario and seed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the table and the output file."""
    parser.usage = "%(prog)s FILE [options]"
    parser.add_argument("table", metavar="FILE", help="table written by a sweep")
    parser.add_argument(
        "--to",
        metavar="FILE",
        help="output file ending in .csv or .parquet (default: CSV on standard output)",
    )
    add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the rows of this version of psm_sim; return 1 if some rows cannot be read."""
    from psm_sim import __version__
    from psm_sim.campaign.sweep.results import table_rows
    from psm_sim.campaign.sweep.table import open_table
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.common.csv_output import write_csv_records
    from psm_sim.common.output_files import atomic_write_text, check_outputs

    source, target = Path(arguments.table), None
    if arguments.to is not None:
        target = output_option("--to", arguments.to, ".csv", ".parquet")
        check_outputs([("--to", target)], [source], force=arguments.force)
    elif arguments.force:
        raise InputError("--force has no effect without --to; remove it.")
    with open_table(source, new=False) as table:
        rows = table.current_rows()
    others = sorted({row.version for row in table.rows} - {__version__})
    if others and not rows:
        raise InputError(
            f"{source} has no task of version {__version__}, only of {', '.join(others)}; run the sweep"
            " again, or use that version of psm_sim."
        )
    records = table_rows(rows)
    if target is None:
        write_csv_records(sys.stdout, records)
    elif target.suffix.lower() == ".parquet":
        _write_parquet(target, records)
    else:
        text = io.StringIO()
        write_csv_records(text, records)
        atomic_write_text(target, text.getvalue())
    remarks = [f"Wrote {target}"] if target else []
    remarks += [f"Tasks of version {name} are not shown." for name in others]
    remarks += (
        [f"{source} is damaged: {table.damage}. The rows that can be read are shown."] if table.damage else []
    )
    for line in remarks:
        print_message(line, "")
    return 1 if table.damage else 0


def _write_parquet(path: Path, records: list[dict[str, object]]) -> None:
    from psm_sim.common.output_files import atomic_write

    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{str(path)!r} requires pyarrow; install it with pip install 'psm_sim[parquet]', or use a name"
            " that ends in .csv."
        ) from None
    with atomic_write(path) as file:
        pq.write_table(pa.Table.from_pylist(records), file)
