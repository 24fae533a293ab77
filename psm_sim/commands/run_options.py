"""Options shared by a run and a sweep: policies, pages and scenario."""

from __future__ import annotations

import argparse

from psm_sim.commands.shared_options import add_pages, add_seed, integer_between
from psm_sim.common.bundled_files import bundled_names


def add_policies_and_pages(parser: argparse.ArgumentParser) -> None:
    """Add the options of the policies and of the pages that they load."""
    group = parser.add_argument_group("what to simulate")
    group.add_argument(
        "--policy",
        action="append",
        metavar="NAME[:key=value,...]",
        help="sleep policy, or FILE.py:CLASS; repeatable (default: lpsm)",
    )
    group.add_argument(
        "--loss",
        metavar="NAME|FORMULA|FILE.py:CLASS",
        help="loss of every lpsm policy; a formula may use I (buffered bytes), T (ms slept), Ti (candidate "
        "ms) and gamma",
    )
    group.add_argument(
        "--preset",
        metavar="NAME",
        help=f"named configuration ({', '.join(bundled_names('presets'))}) of trace, policy and topology"
        " parameters; explicit options override it",
    )
    group.add_argument(
        "--trace",
        default="ucb",
        metavar="NAME|FILE[:key=value,...]",
        help="bundled trace or file: UCB .tr, .tr.gz or text, HAR, BU log, capture .pcap or .pcapng, page "
        "list .csv, profile .toml (default: %(default)s)",
    )
    group.add_argument(
        "--workload",
        choices=("replay", "sample"),
        help="replay the pages of a recording, or sample pages from distributions fitted to it; same as "
        "--trace FILE:workload=... (default: replay)",
    )
    group.add_argument(
        "--clients",
        metavar="all|N|ID",
        help="clients of a recording: all, the N busiest, or one; several are simulated separately and "
        "averaged; same as --trace FILE:clients=... (default: the busiest, or all for sampling)",
    )
    group.add_argument(
        "--client",
        metavar="ADDRESS",
        help="IP address of the client in a capture; same as --trace FILE:client=... (default: the private "
        "address with the most packets)",
    )
    add_pages(group, "number of pages")
    group.add_argument(
        "--max-page-s",
        metavar="S",
        help="longest simulated time of a page in seconds; a longer page fails and is reported; same as "
        "--set browser.max_page_s=S",
    )
    add_seed(group, "random seed")


def add_scenario(parser: argparse.ArgumentParser) -> None:
    """Add the options of the network and the device."""
    group = parser.add_argument_group("network and device")
    group.add_argument(
        "--topology",
        default="three-node",
        metavar="NAME|FILE.toml",
        help="network topology (default: %(default)s)",
    )
    group.add_argument(
        "--profile",
        default="",
        metavar="CHIP",
        help="measured power profile of a chip; see 'psm_sim list profiles'",
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a topology parameter, e.g. links.wired.latency_ms=80; repeatable",
    )
    group.add_argument(
        "--battery",
        metavar="CAPACITY",
        help="battery capacity, e.g. 2000mAh; adds the estimated battery life in days; requires a supply"
        " voltage, which every profile has",
    )


def add_comparison(parser: argparse.ArgumentParser) -> None:
    """Add the options of replications, reference policy and baselines."""
    group = parser.add_argument_group("comparison")
    group.add_argument(
        "--replications",
        type=integer_between(1, 10_000),
        metavar="N",
        help="number of seeds, from SEED on; adds 95 %% confidence intervals, with differences paired by "
        "seed (default: 1, or 10 without any options)",
    )
    group.add_argument(
        "--against",
        metavar="POLICY",
        help="reference policy for relative energy and slowdown (default: psm)",
    )
    group.add_argument(
        "--no-baselines",
        action="store_true",
        help="do not run the baselines always-on and psm",
    )


def add_observation(group: argparse._ActionsContainer) -> None:
    """Add ``--capture`` and ``--timeline``."""
    group.add_argument(
        "--capture",
        metavar="FILE.pcap",
        help="write a Wireshark capture of the 802.11 frames with radiotap headers; several policies write"
        " FILE-POLICY.pcap each",
    )
    group.add_argument(
        "--timeline",
        metavar="FILE.json",
        help="write radio states, decisions, pages and transfers as a Chrome trace for Perfetto; several"
        " policies write FILE-POLICY.json each",
    )
