"""``python -m psm_lab replay``: a learner on recorded network activity, without a simulator."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.commands.shared_options import (
    add_force,
    add_format,
    add_pages,
    add_seed,
    integer_between,
)
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.reporting.terminal.progress import progress

if TYPE_CHECKING:
    from psm_lab.replay.replay_config import ReplayConfig
    from psm_lab.replay.trace_replay import ReplayedClient

HELP = """\
Run a learner on network activity without a simulator, as in the trace study of
the thesis. The bytes of a request arrive at a constant rate from its start to
its end. The learner chooses its polling times and learns from the buffered
bytes. Reports the losses of the learner and of each expert, and the regret, in
nats."""

EPILOG = """\
A recording is replayed request by request with the recorded times. The bundled
traces are pages without times; --rate-kbps and --round-trip-ms set nominal
times.

examples:
  python -m psm_lab replay --trace ucb
  python -m psm_lab replay --trace home.tr.gz:clients=3 --max-gap-s 1000
  python -m psm_lab replay --learner fixed-share:alpha=0.01 --format json
  python -m psm_lab replay --loss inverse-log:gamma=1e-5 --output figures"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of trace, learner and output."""
    _add_trace(parser)
    _add_learner(parser)
    add_format(parser, ("table", "json"))
    parser.add_argument(
        "--output",
        metavar="DIR",
        help="write replay.json and figures to this folder; each of several clients has a subfolder",
    )
    add_force(parser)


def _add_trace(parser: argparse.ArgumentParser) -> None:
    from psm_lab.replay.network_activity import NominalTransfers

    parser.add_argument(
        "--trace",
        default="ucb",
        metavar="NAME|FILE[:key=value,...]",
        help="network activity: a bundled trace, a recording or a page list (default: %(default)s)",
    )
    add_pages(parser, "number of pages, unless the trace is a recording")
    add_seed(parser, "random seed")
    parser.add_argument(
        "--max-gap-s",
        metavar="S",
        help="longest idle period; longer ones are shortened to S (default: no limit)",
    )
    _add_parameters(parser, NominalTransfers)


def _add_learner(parser: argparse.ArgumentParser) -> None:
    from psm_lab.replay.replay_config import PollingGrid

    parser.add_argument(
        "--learner",
        default="learn-alpha",
        metavar="NAME",
        help="static-expert, fixed-share:alpha=RATE, learn-alpha or FILE.py:CLASS (default: %(default)s)",
    )
    parser.add_argument(
        "--loss",
        default="inverse",
        metavar="NAME|FORMULA|FILE.py:CLASS",
        help="loss of a polling time, in nats (default: %(default)s)",
    )
    parser.add_argument(
        "--gamma", metavar="G", help="latency weight of the loss (default: 1e-7, as in the thesis)"
    )
    parser.add_argument(
        "--horizon",
        type=integer_between(1, 10**9),
        default=27_000,
        metavar="N",
        help="number of polls for which learn-alpha chooses its switching rates (default: %(default)s)",
    )
    parser.add_argument(
        "--polls",
        type=integer_between(1, 10**9),
        metavar="N",
        help="stop after N polls (default: stop at the last byte)",
    )
    _add_parameters(parser, PollingGrid)


def _add_parameters(parser: argparse.ArgumentParser, cls: type) -> None:
    """Add an option for each documented parameter of *cls*."""
    from psm_sim.common.parameters import parameters_of

    for name, each in parameters_of(cls).items():
        help_text = f"{each.help}{f', in {each.unit}' if each.unit else ''} (default: {each.default:g})"
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="X", help=help_text)


def run(arguments: argparse.Namespace) -> int:
    """Run the replay and report it; write the figures if there is an output folder."""
    from psm_lab.replay.network_activity import NominalTransfers
    from psm_lab.replay.trace_replay import replay_trace
    from psm_lab.reporting import replay_output
    from psm_sim.reporting.files.result_folder import usable_folder

    _check_unused(arguments)
    folder = usable_folder(arguments.output) if arguments.output is not None else None
    if folder is not None:
        _check_files(folder, arguments)
    config = _make_config(arguments)
    with redirect_stdout(sys.stderr), progress("polling", "bytes") as callback:
        clients = replay_trace(
            arguments.trace,
            config,
            pages=arguments.pages,
            seed=arguments.seed,
            nominal=_build_from_options(NominalTransfers, arguments, "nominal times"),
            history=folder is not None,
            progress=callback,
        )
    values = replay_output.to_dict(arguments.trace, arguments.seed, config, clients)
    replay_output.write(values, arguments.format, sys.stdout)
    if folder is not None:
        _write(folder, values, clients)
    return 0


def _check_files(folder: Path, arguments: argparse.Namespace) -> None:
    """Raise InputError if a file in *folder* would replace an input, or another file without ``--force``."""
    from psm_lab.replay.figure_columns import FIGURES
    from psm_sim.common.output_files import check_outputs
    from psm_sim.workload.loading import find_trace

    trace = find_trace(Spec.parse(arguments.trace, "trace").name)
    texts = (arguments.trace, arguments.learner, arguments.loss)
    inputs = [trace, *(file for text in texts for file in Spec(text).files())]
    folders = [folder, *sorted(folder.glob("client-*"))]
    paths = [folder / "replay.json", *(each / f"{name}.svg" for each in folders for name in FIGURES)]
    outputs = [("--output", path) for path in paths]
    check_outputs(outputs, inputs, force=arguments.force)


_NOMINAL = ("--rate-kbps", "--round-trip-ms", "--connections")


def _check_unused(arguments: argparse.Namespace) -> None:
    """Reject options that would have no effect.

    Raises
    ------
    InputError
        If there is such an option. The message states the option and the reason.
    """
    present = {argument.partition("=")[0] for argument in arguments.argv if argument.startswith("--")}
    for options, reason in _unused_options(arguments):
        for option in options:
            if option in present:
                raise InputError(f"{option} has no effect because {reason}; remove it.")


def _unused_options(arguments: argparse.Namespace) -> Iterator[tuple[tuple[str, ...], str]]:
    from psm_lab.replay.activity_loading import is_recording
    from psm_sim.workload.loading import find_trace, trace_format

    trace = Spec.parse(arguments.trace, "trace")
    if trace_format(find_trace(trace.name)) == "page list":
        yield ("--seed",), "a page list is not sampled"
    if is_recording(trace):
        yield ("--pages", "--seed", *_NOMINAL), "a recording is replayed request by request"
    if arguments.output is None:
        yield ("--force",), "no file is written without --output"
    if not _has_rates(arguments.learner):
        yield ("--horizon",), f"learner {arguments.learner} has no switching rates to choose"


def _has_rates(learner: str) -> bool:
    from psm_lab.replay.replay_config import LEARNERS
    from psm_sim.common.parameters import parameters_of

    return "rates" in parameters_of(LEARNERS.get(Spec.parse(learner, "learner").name))


def _make_config(arguments: argparse.Namespace) -> ReplayConfig:
    from psm_lab.replay.replay_config import PollingGrid, ReplayConfig
    from psm_sim.common.parameters import Parameter

    gamma = arguments.gamma
    gap = Parameter("max_gap_s", None, at_least=0, at_most=1e9, optional=True, kind=float)
    return ReplayConfig(
        loss=arguments.loss,
        gamma=None if gamma is None else Parameter("gamma", 0.0, above=0, at_most=1e12).read(gamma, "replay"),
        learner=arguments.learner,
        horizon=arguments.horizon,
        clock=_build_from_options(PollingGrid, arguments, "experts"),
        polls=arguments.polls,
        max_gap_s=None if arguments.max_gap_s is None else gap.read(arguments.max_gap_s, "replay"),
    )


def _build_from_options(cls: type, arguments: argparse.Namespace, owner: str) -> Any:
    """Return an instance of *cls* whose parameters are those of the options."""
    from psm_sim.common.parameters import build, parameters_of

    texts = {name: getattr(arguments, name) for name in parameters_of(cls)}
    return build(cls, {name: text for name, text in texts.items() if text is not None}, owner)


def _write(folder: Path, values: dict[str, Any], clients: list[ReplayedClient]) -> None:
    from psm_lab.replay.figure_columns import FIGURES
    from psm_lab.reporting.figures.figure_registry import draw
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.common.output_files import replace_files
    from psm_sim.reporting.figures.canvas import save_picture
    from psm_sim.reporting.files.result_json import to_text

    with replace_files(folder) as draft:
        (draft / "replay.json").write_text(to_text(values), encoding="utf-8", newline="\n")
        for number, client in enumerate(clients, start=1):
            subfolder = draft / ("" if len(clients) == 1 else f"client-{number}")
            subfolder.mkdir(exist_ok=True)
            for name, columns in FIGURES.items():
                save_picture(draw(name, columns(client))[0], subfolder / f"{name}.svg")
    print_message(f"Wrote replay.json and figures to {folder}", "")
