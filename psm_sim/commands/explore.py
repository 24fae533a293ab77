"""``psm_sim explore``: interactive page in the browser."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from psm_sim.commands import run as run_command
from psm_sim.commands.shared_options import add_workers, integer_between, is_given
from psm_sim.common.errors import InputError

if TYPE_CHECKING:
    from psm_sim.common.component_spec import Spec
    from psm_sim.common.progress import Progress
    from psm_sim.simulation import Comparison, References, Scenario

HELP = """\
Open a page in the browser that simulates while you change trace, chip, network
and policies. It shows energy against delay, the timeline of a page, a
conclusion, and the command line that gives the same numbers."""

EPILOG = """\
The page is served on this computer only. Its address contains a random token
and is printed. Ctrl-C ends the server.

examples:
  psm_sim explore
  psm_sim explore --trace my.har --profile pixel-5
  psm_sim explore --policy my.py:EveryThird --policy lpsm --no-browser --port 5006
  psm_sim explore --static page --trace ucb"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the initial settings and of the server."""
    initial = parser.add_argument_group("initial settings")
    initial.add_argument(
        "--trace",
        default="ucb",
        metavar="NAME|FILE[:key=...]",
        help="trace to choose besides the bundled ones (default: %(default)s)",
    )
    initial.add_argument(
        "--policy",
        action="append",
        metavar="NAME[:key=...]",
        help="policy to choose besides the built-in ones, or FILE.py:CLASS; repeatable "
        "(default: bsd, lpsm and anticipate)",
    )
    initial.add_argument("--profile", default="", metavar="CHIP", help="measured power profile of a chip")
    server = parser.add_argument_group("server")
    server.add_argument(
        "--port",
        type=integer_between(1, 65_535),
        default=0,
        metavar="N",
        help="port on 127.0.0.1 (default: a free one)",
    )
    server.add_argument("--no-browser", action="store_true", help="print the address only")
    static = parser.add_argument_group("static page")
    static.add_argument(
        "--static",
        metavar="FOLDER",
        help="write a page with a grid of settings, which needs no server, to FOLDER/index.html, and exit; "
        "--trace and --profile limit the grid, and --policy replaces the policies of its first comparison",
    )
    add_workers(parser, "worker processes of --static (default: all cores)")


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until the command is interrupted, or write the static page."""
    if arguments.static is not None:
        return _write_static(arguments)
    from psm_sim.policies import make_policy
    from psm_sim.reporting.explore.server import Simulator, serve
    from psm_sim.reporting.explore.settings import Settings, fitting_sizes

    policies = tuple(arguments.policy or Settings().policies)
    sizes = fitting_sizes(arguments.trace)
    settings = Settings(arguments.trace, arguments.profile, policies=policies, **sizes)
    for policy in _parse(settings.arguments)[0]:  # reports wrong options before the server starts
        make_policy(policy)
    with TemporaryDirectory(prefix="psm_sim-") as folder:
        announce = partial(_announce, link=None if arguments.no_browser else Path(folder, "explore.html"))
        serve(Simulator(compare_arguments, settings), arguments.port, announce)
    return 0


def _write_static(arguments: argparse.Namespace) -> int:
    """Write the page of ``--static``."""
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.policies import make_policy
    from psm_sim.reporting.explore.static import ControlGrid, usable_page, write_static_page
    from psm_sim.reporting.files.result_folder import usable_folder
    from psm_sim.reporting.terminal.progress import progress

    for option in ("--port", "--no-browser"):
        if is_given(option, arguments.argv):
            raise InputError(f"{option} has no effect with --static; remove it.")
    path = usable_page(usable_folder(arguments.static, "--static"))
    given = {
        "traces": [arguments.trace] if is_given("--trace", arguments.argv) else None,
        "profiles": [arguments.profile] if is_given("--profile", arguments.argv) else None,
        "policies": arguments.policy,
    }
    grid = ControlGrid(**{name: values for name, values in given.items() if values is not None})
    for policy in _parse(grid.settings[0].arguments)[0]:  # reports wrong options before the workers start
        make_policy(policy)
    with progress("simulating", "settings") as report:
        write_static_page(path, grid, compare_arguments, arguments.workers, report)
    print_message(f"Wrote {path}", "")
    return 0


def _announce(address: str, link: Path | None) -> None:
    """Print the address, and open it in the browser through the file *link*, unless *link* is None.

    The address contains a secret token. Other users of the computer can see the browser's arguments, but
    cannot read the file.
    """
    print(f"{address}\nPress Ctrl-C to end the server.", flush=True)  # noqa: T201
    if link:
        import webbrowser

        link.touch(0o600)
        link.write_text(f'<meta http-equiv="refresh" content="0; url={address}">', encoding="utf-8")
        # The call runs in a thread, because a browser in a terminal blocks it until the browser is closed.
        threading.Thread(target=webbrowser.open, args=(link.as_uri(),), daemon=True).start()


def compare_arguments(arguments: Sequence[str], progress: Progress) -> Comparison:
    """Simulate the arguments of ``psm_sim`` as the command line does, in this process."""
    from psm_sim.simulation import run_comparison

    policies, scenario, references, replications = _parse(arguments)
    return run_comparison(policies, scenario, replications, progress, 1, references)


def _parse(arguments: Sequence[str]) -> tuple[list[Spec], Scenario, References, int]:
    parser = argparse.ArgumentParser()
    run_command.add_arguments(parser)
    options = parser.parse_args(arguments, argparse.Namespace(argv=arguments))
    policies, scenario, references, _ = run_command.parse(options)
    return policies, scenario, references, options.replications
