"""``psm_sim calibrate``: a chip profile from a recording of the current."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from psm_sim.commands.shared_options import (
    add_force,
    add_format,
    beacon_interval_ms,
    output_option,
    plot_option,
    positive_number,
)
from psm_sim.commands.stderr_messages import print_message
from psm_sim.common.output_files import atomic_write_text, check_outputs

HELP = """\
Estimate the currents and charges of a chip from a recording of its current,
and print which share of the mean each state has."""

EPILOG = """\
examples:
  psm_sim calibrate recording.ppk2 --output chip.toml --plot chip.svg
  psm_sim calibrate log.csv --units ms,mA --supply 3.3

Record an idle station for 60 s at 10 kHz; 10 s suffice where no beacon is lost.
The profile is used with --profile chip.toml."""

_USUAL_V = 3.3  # supply voltage of most bundled profiles


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "recording",
        metavar="RECORDING",
        help="CSV with columns of time and of current or power, .ppk2 or .jls",
    )
    group = parser.add_argument_group("recording")
    group.add_argument(
        "--units",
        type=_units,
        metavar="TIME,LEVEL",
        help="units of a CSV file whose header has none, e.g. ms,mA or s,W",
    )
    group.add_argument(
        "--supply", type=positive_number, metavar="V", help=f"supply voltage (default: {_USUAL_V})"
    )
    group.add_argument(
        "--beacon-interval",
        metavar="TU|TIMEms",
        help="time between beacons, e.g. 100TU or 102.4ms (default: found in the recording)",
    )
    output = parser.add_argument_group("output")
    output.add_argument("--output", metavar="FILE.toml", help="also write a chip profile")
    output.add_argument(
        "--plot", metavar="FILE.svg", help="also plot the recording; FILE.png or .pdf as well"
    )
    add_force(output)
    add_format(output, ("table", "json"))


def run(arguments: argparse.Namespace) -> int:
    """Calibrate, and print where the charge goes."""
    from psm_sim.calibration.estimator import estimate
    from psm_sim.calibration.recording_readers import read_recording
    from psm_sim.calibration.report import compare_with_simulation, describe, mode_of, profile_text, to_dict

    source = Path(arguments.recording)
    output, plot = _outputs(arguments, source)
    interval_ms = beacon_interval_ms(arguments.beacon_interval) if arguments.beacon_interval else None
    supply_v = arguments.supply or _USUAL_V
    recording = read_recording(source, arguments.units, supply_v)
    for warning in recording.warnings:
        print_message(warning)
    result = estimate(recording, interval_ms / 1e3 if interval_ms else None)
    calibration = result.calibration
    lines = describe(calibration)
    mode = mode_of(calibration, supply_v, supply_is_given=arguments.supply is not None)
    if mode:
        lines.append(compare_with_simulation(calibration, mode))
    if output:
        atomic_write_text(output, profile_text(calibration, mode, source.name))
        kind, use = (
            ("profile ", f"use --profile {output}")
            if mode
            else ("", "it is no profile, as there are no beacons")
        )
        print_message(f"Wrote {kind}{output}; {use}")
    if plot:
        from psm_sim.reporting.figures.calibration import draw_calibration
        from psm_sim.reporting.figures.canvas import write_plot

        write_plot(draw_calibration(recording, result, f"{source.name}: {lines[0]}"), plot)
        print_message(f"Wrote {plot}")
    if arguments.format == "json":
        lines = [json.dumps({"calibration": to_dict(calibration), "lines": lines}, indent=2)]
    print("\n".join(lines))  # noqa: T201
    return 0


def _outputs(arguments: argparse.Namespace, source: Path) -> tuple[Path | None, Path | None]:
    """Return the paths of the profile and of the plot, after checks that they can be written."""
    output = None if arguments.output is None else output_option("--output", arguments.output, ".toml")
    plot = None if arguments.plot is None else plot_option(arguments.plot)
    named = [(option, path) for option, path in (("--output", output), ("--plot", plot)) if path]
    check_outputs(named, [source], force=arguments.force)
    return output, plot


def _units(text: str) -> tuple[str, str]:
    from psm_sim.calibration.recording_readers import LEVEL_UNITS, TIME_UNITS

    time, _, level = (part.strip() for part in text.partition(","))
    if time not in TIME_UNITS or level not in LEVEL_UNITS:
        raise argparse.ArgumentTypeError(
            f"must be a unit of time and one of current or power, such as ms,mA or s,W, got {text!r}"
        )
    return time, level
