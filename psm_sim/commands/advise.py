"""``psm_sim advise``: the power-save settings of a device, ranked by energy within a bound on the delay."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from dataclasses import replace

from psm_sim.campaign.advice import MAX_REPORT_PERIOD_S, advise
from psm_sim.campaign.chip_currents import compare_modes, currents_at_dtim_3
from psm_sim.campaign.driver_settings import DRIVERS, Setting, settings_of
from psm_sim.commands.shared_options import (
    add_access_point,
    add_format,
    add_replications,
    add_scenario,
    add_seed,
    add_workers,
    integer_between,
    positive_time,
    run_arguments,
)
from psm_sim.common.errors import InputError
from psm_sim.network.chip_profiles import load_profile
from psm_sim.reporting.files.advice_output import write_json, write_table
from psm_sim.reporting.terminal.progress import progress
from psm_sim.simulation import Scenario

HELP = """\
Rank the power-save settings of a device by energy: listen interval, time awake
after traffic, U-APSD, and TWT if the chip has it. Prints the setting to select
and the driver call. Policies that need a new driver are compared as well."""

EPILOG = """\
examples:
  psm_sim advise --profile esp32 --dtim 3 --traffic mqtt --battery 2000mAh --latency 300ms
  psm_sim advise --profile nrf7002 --traffic mqtt:command.period_s=60 --latency 2s
  psm_sim advise --profile esp32-c6 --report-every 15min --battery 2000mAh
  psm_sim advise --trace my.har --latency 100ms

A recommended setting keeps the 99th percentile of the latency of messages in
both directions within --latency. With page views, --latency bounds the mean page
time that power saving adds. Settings whose energy does not differ share a rank."""

_PAGES, _PAUSES = 10, 1
"""Default of ``--pages`` for traces with page views, and for traces of messages only."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("traffic")
    group.add_argument(
        "--traffic",
        "--trace",
        dest="trace",
        metavar="NAME|FILE[:key=...]",
        help="bundled trace, HAR, pcap, UCB trace, page list .csv or profile .toml (default: mqtt)",
    )
    group.add_argument(
        "--report-every",
        type=positive_time,
        metavar="TIME",
        help="instead of --traffic: interval of messages with a reply, e.g. 15min; also compares deep sleep",
    )
    group.add_argument(
        "--pages",
        type=integer_between(1, 10_000),
        metavar="N",
        help=f"number of pages per seed (default: {_PAGES}, or {_PAUSES} without page views)",
    )
    add_seed(group, "first random seed")
    add_replications(group, "number of seeds (default: 8, or 1 if the traffic is the same for every seed)")
    device = add_scenario(parser)
    add_access_point(device, " (default: 100TU)")
    device.add_argument(
        "--driver",
        choices=tuple(DRIVERS),
        help="driver whose settings are compared (default: that of the chip)",
    )
    add_format(parser.add_argument_group("output"), ("table", "json"))
    add_workers(parser, "worker processes (default: all cores)")


def run(arguments: argparse.Namespace) -> int:
    """Compare the settings and print the advice."""
    max_latency_s, every_s = arguments.latency, arguments.report_every
    with redirect_stdout(sys.stderr):
        scenario = _scenario(arguments)
        driver, settings = _settings(arguments, scenario)
        with progress("simulating", "settings") as report:
            advice = advise(
                settings, scenario, max_latency_s, arguments.replications, report, arguments.workers
            )
        modes = compare_modes(scenario, settings, every_s, arguments.workers) if advice.chip else ()
        is_assumed = not arguments.topology and "beacon.dtim_period" not in scenario.settings
        at_dtim_3 = (
            currents_at_dtim_3(scenario, settings, arguments.workers) if advice.chip and is_assumed else {}
        )
        advice = replace(advice, driver=driver, modes=modes, report_every_s=every_s, at_dtim_3=at_dtim_3)
    write = write_json if arguments.format == "json" else write_table
    write(advice, sys.stdout)
    return 0


def _scenario(arguments: argparse.Namespace) -> Scenario:
    default = {} if arguments.topology or arguments.profile else {"beacon.interval_ms": 102.4}
    scenario = run_arguments(arguments, _traffic(arguments), 1, default).scenario()
    pages = arguments.pages or (_PAGES if scenario.workloads()[0].has_pages else _PAUSES)
    return replace(scenario, pages=pages)


def _traffic(arguments: argparse.Namespace) -> str:
    """Return the spec of the trace: ``--traffic``, or ``ping`` with the period of ``--report-every``."""
    every_s = arguments.report_every
    if every_s is None:
        return arguments.trace or "mqtt"
    if arguments.trace is not None:
        raise InputError("--report-every conflicts with --traffic; remove one of them.")
    period_s = min(every_s, MAX_REPORT_PERIOD_S)
    # The spread varies the phase of the reports in the beacon interval.
    times = f"period_s={period_s:g},spread_s={min(5.0, period_s / 10):g},stretch_s={10 * period_s:g}"
    return f"ping:to=internet,{times}"


def _settings(arguments: argparse.Namespace, scenario: Scenario) -> tuple[str, list[Setting]]:
    """Return the name of the driver, and its power-save settings for this access point."""
    profile = load_profile(scenario.profile) if scenario.profile else None
    driver = arguments.driver or (profile.driver if profile else "") or "generic"
    if driver not in DRIVERS:
        raise InputError(
            f"driver.name of profile {scenario.profile} must be one of {', '.join(DRIVERS)}, got {driver!r}."
        )
    topology, longest_doze_ms = scenario.resolve_unseeded_topology(), None
    if arguments.latency is not None and not scenario.workloads()[0].has_pages:
        longest_doze_ms = 1000 * (arguments.latency - topology.round_trip_s)
    has_twt = profile is not None and profile.has_twt
    return driver, settings_of(driver, topology.beacon, has_twt=has_twt, longest_doze_ms=longest_doze_ms)
