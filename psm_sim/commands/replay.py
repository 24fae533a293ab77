"""``python -m psm_sim replay``: the trace study, a learner over network activity itself."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.commands.arguments import add_format, add_pages, add_seed, whole_number
from psm_sim.reporting.terminal.progress import progress

if TYPE_CHECKING:
    from psm_sim.replay.replay_config import ReplayConfig
    from psm_sim.replay.trace_replay import ReplayedClient

HELP = """\
How does a learner follow real network activity? The bytes of each request are
spread evenly from its start to its end; the learner polls at its own times and
learns from the bytes held. This is the trace study of the thesis, without a
simulator. It reports the losses of the learner and of each expert, and regret,
in nats."""

EPILOG = """\
A recording is replayed request by request, with its own times. The bundled
traces are pages without times; nominal times come from --rate-kbps and
--round-trip-ms.

examples:
  psm_sim replay --trace ucb
  psm_sim replay --trace home.tr.gz --clients 3 --max-gap-s 1000
  psm_sim replay --learner fixed-share:alpha=0.01 --round-ms 100 --format json
  psm_sim replay --loss inverse-log:gamma=1e-5 --pages 500 --output figures"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: trace, learner and output."""
    _add_trace(parser)
    _add_learner(parser)
    add_format(parser)
    parser.add_argument(
        "--output",
        metavar="DIR",
        help="also write replay.json, and figures as PNG, SVG and CSV, to this folder; with several "
        "clients, to one folder for each",
    )
    parser.add_argument(
        "--other-loss",
        default="inverse-log:gamma=1e-5",
        metavar="LOSS",
        help="the second loss in the figure of sleep times (default: %(default)s; the published losses' "
        "gammas differ by a factor of 100, too)",
    )


def _add_trace(parser: argparse.ArgumentParser) -> None:
    from psm_sim.workload.modem_transfer_times import NominalTransfers

    parser.add_argument(
        "--trace",
        default="ucb",
        metavar="NAME[:key=value,...] or FILE",
        help="the network activity: a bundled trace, a recording, or a page list (default: %(default)s)",
    )
    parser.add_argument(
        "--clients",
        metavar="K",
        help="of a recording: the K busiest, all, or one client's identifier (default: the busiest)",
    )
    add_pages(parser, "number of pages of a trace that is no recording")
    add_seed(parser, "the seed of everything drawn")
    parser.add_argument(
        "--max-gap-s", metavar="S", help="cut a longer silence to this, in s (default: not cut)"
    )
    _add_parameters(parser, NominalTransfers)


def _add_learner(parser: argparse.ArgumentParser) -> None:
    from psm_sim.replay.polling_clock import PollingGrid

    parser.add_argument(
        "--learner",
        default="learn-alpha",
        metavar="NAME",
        help="static-expert, fixed-share:alpha=RATE, learn-alpha, learn-alpha:compiled=yes or auto (with "
        "psm_sim[fast]), or FILE.py:CLASS (default: %(default)s)",
    )
    parser.add_argument(
        "--loss",
        default="inverse",
        metavar='NAME, "formula" or FILE.py:CLASS',
        help="the cost of a polling time, in nats (default: %(default)s)",
    )
    parser.add_argument(
        "--gamma", metavar="G", help="the loss's weight of latency (default: 1e-7, as in the thesis's study)"
    )
    parser.add_argument(
        "--horizon",
        type=whole_number(1, 10**9),
        default=27_000,
        metavar="N",
        help="polls for which learn-alpha's switching rates are chosen (default: %(default)s)",
    )
    parser.add_argument(
        "--polls",
        type=whole_number(1, 10**9),
        metavar="N",
        help="stop after N polls (default: at the last byte)",
    )
    _add_parameters(parser, PollingGrid)


def _add_parameters(parser: argparse.ArgumentParser, cls: type) -> None:
    """Declare an option for each documented parameter of *cls*."""
    from psm_sim.parameters import parameters_of

    for name, each in parameters_of(cls).items():
        words = f"{each.help}{f', in {each.unit}' if each.unit else ''} (default: {each.default:g})"
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="X", help=words)


def run(arguments: argparse.Namespace) -> int:
    """Replay and report; draw the figures if there is an output folder."""
    from psm_sim.commands.replay_options import check_unused
    from psm_sim.replay.trace_replay import replay_trace
    from psm_sim.reporting.files import replay_files as replay_report
    from psm_sim.reporting.files.result_folder import usable_folder
    from psm_sim.user_code import redirect_stdout_to_stderr
    from psm_sim.workload.modem_transfer_times import NominalTransfers

    folder = usable_folder(arguments.output) if arguments.output is not None else None
    check_unused(arguments)
    method = _method(arguments, arguments.loss, arguments.gamma)
    other = None if folder is None else _method(arguments, arguments.other_loss, None)
    with redirect_stdout_to_stderr(), progress("Polling") as told:
        clients = replay_trace(
            arguments.trace,
            method,
            pages=arguments.pages,
            seed=arguments.seed,
            clients=arguments.clients,
            nominal=_made(NominalTransfers, arguments, "nominal times"),
            history=folder is not None,
            progress=told,
        )
    values = replay_report.to_dict(arguments.trace, arguments.seed, method, clients)
    replay_report.write(values, arguments.format, sys.stdout)
    if folder is not None and other is not None:
        _write(folder, values, clients, other)
    return 0


def _method(arguments: argparse.Namespace, loss: str, gamma: str | None) -> ReplayConfig:
    from psm_sim.parameter_values import Parameter
    from psm_sim.replay.polling_clock import PollingGrid
    from psm_sim.replay.replay_config import ReplayConfig

    gap = Parameter("max_gap_s", None, at_least=0, at_most=1e9, optional=True)
    return ReplayConfig(
        loss=loss,
        gamma=None if gamma is None else Parameter("gamma", 0.0, above=0, at_most=1e12).read(gamma, "replay"),
        learner=arguments.learner,
        horizon=arguments.horizon,
        clock=_made(PollingGrid, arguments, "experts"),
        polls=arguments.polls,
        max_gap_s=None if arguments.max_gap_s is None else gap.read(arguments.max_gap_s, "replay"),
    )


def _made(cls: type, arguments: argparse.Namespace, owner: str) -> Any:
    """Return an instance of *cls* with the parameters that were given as options."""
    from psm_sim.parameters import build, parameters_of

    given = {name: getattr(arguments, name) for name in parameters_of(cls)}
    return build(cls, {name: text for name, text in given.items() if text is not None}, owner)


def _write(folder: Path, values: dict[str, Any], clients: list[ReplayedClient], other: ReplayConfig) -> None:
    from psm_sim.commands.messages import print_message
    from psm_sim.files.atomic_directory import replace_directory
    from psm_sim.replay.trace_replay import replay_activity
    from psm_sim.reporting.figures.replay import write_figures as replay_figures
    from psm_sim.reporting.files.result_json import to_text

    told = []
    with replace_directory(folder) as made:
        (made / "replay.json").write_text(to_text(values), encoding="utf-8", newline="\n")
        for number, client in enumerate(clients, start=1):
            mine = "" if len(clients) == 1 else f"client-{number}"
            second = replay_activity(client.activity, other, history=True)
            written = replay_figures.write_figures(made / mine, client, second)
            stems = ", ".join(sorted({path.stem for path in written}))
            told.append(f"Written to {folder / mine}: {stems} (.png, .svg, .csv)")
    for line in told:
        print_message(line, "")
