"""Options of a run that a sweep has too: policies, pages and scenario."""

from __future__ import annotations

import argparse

from psm_sim.bundled_files import bundled_names
from psm_sim.commands.arguments import add_pages, add_seed, whole_number


def add_policies_and_pages(parser: argparse.ArgumentParser) -> None:
    """Declare ``--policy``, ``--trace``, ``--workload`` and ``--clients``."""
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAME[:key=value,...]",
        help="the policy that decides when the radio sleeps: a name, or FILE.py:CLASS; can be repeated, the "
        "results stand side by side (default: lpsm)",
    )
    parser.add_argument(
        "--trace",
        default="ucb",
        metavar="NAME[:key=value,...] or FILE",
        help="the pages: a bundled trace, or a file: UCB .tr, .tr.gz or showtrace text, HAR, BU log, capture "
        ".pcap or .pcapng, page list .csv, profile .toml (default: %(default)s)",
    )
    parser.add_argument(
        "--workload",
        choices=("replay", "sample"),
        help="of a recording: replay a client's pages in their order, or draw pages from distributions "
        "fitted to it; short for --trace FILE:workload=... (default: replay)",
    )
    parser.add_argument(
        "--clients",
        metavar="all, N or ID",
        help="of a recording: all clients, the N busiest or one; each is simulated on its own, and several "
        "are averaged; short for --trace FILE:clients=... (default: the busiest, or all to sample from)",
    )
    parser.add_argument(
        "--client",
        metavar="ADDRESS",
        help="of a capture: the IP address of the client; short for --trace FILE:client=... (default: the "
        "private address with most packets)",
    )


def add_scenario(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a scenario beside its trace, and ``--loss``."""
    parser.add_argument(
        "--topology",
        default="three-node",
        metavar="NAME or FILE.toml",
        help="the scenario (default: %(default)s)",
    )
    parser.add_argument(
        "--profile",
        default="",
        metavar="CHIP",
        help="a measured chip, laid over the topology: its power, charge per beacon and time to wake; see"
        " 'psm_sim profiles'",
    )
    parser.add_argument(
        "--battery",
        metavar="2000mAh",
        help="the charge of the battery: the days that it lasts stand under the table; needs the supply"
        " voltage, which every profile has",
    )
    parser.add_argument(
        "--preset",
        metavar="NAME",
        help=f"a named configuration ({', '.join(bundled_names('presets'))}): its trace, policy and"
        " topology parameters replace the defaults; what is given explicitly overrides them",
    )
    parser.add_argument(
        "--loss",
        metavar='NAME, "formula" or FILE.py:CLASS',
        help="the loss of every lpsm given; a formula has I (bytes held), T (ms slept), Ti (candidate ms) "
        "and gamma",
    )
    parser.add_argument(
        "--max-page-s",
        metavar="S",
        help="longest simulated time of a page in seconds; a page over it has failed, is reported with its"
        " reason, and the next one is asked for; short for --set browser.max_page_s=S",
    )
    add_pages(parser, "number of pages")
    add_seed(parser, "the seed of everything drawn")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="key=value",
        help="override one key of the topology, e.g. links.wired.latency_ms=80; can be repeated",
    )


def add_comparing(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("comparison")
    group.add_argument(
        "--replications",
        type=whole_number(1, 10_000),
        metavar="N",
        help="run the seeds SEED to SEED+N-1; means with 95 %% intervals, differences paired by seed "
        "(default: 1; 10 if no option at all is given)",
    )
    group.add_argument(
        "--against",
        metavar="POLICY",
        help="the policy that energy and slowdown are compared with (default: psm)",
    )
    group.add_argument(
        "--no-baselines",
        action="store_true",
        help="leave out always-on and psm, which stand above the policies otherwise",
    )
    group.add_argument(
        "--workers",
        type=whole_number(1, 1024),
        metavar="N",
        help="processes for several seeds or clients; the numbers do not depend on it (default: all cores)",
    )


def add_watching(parser: argparse.ArgumentParser) -> None:
    """Declare ``--capture`` and ``--timeline``."""
    parser.add_argument(
        "--capture",
        metavar="FILE.pcap",
        help="write what a sniffer beside the station hears, for Wireshark: 802.11 frames with radiotap"
        " headers; of several policies FILE-POLICY.pcap each",
    )
    parser.add_argument(
        "--timeline",
        metavar="FILE.json",
        help="write the radio's states, decisions, pages and transfers as a Chrome trace, which Perfetto"
        " opens; of several policies FILE-POLICY.json each",
    )
