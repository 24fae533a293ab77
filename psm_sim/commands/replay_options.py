"""Options of a replay that its trace, learner or output do not use: refused by name, never ignored."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from psm_sim.component_spec import Spec
from psm_sim.errors import InputError

_NOMINAL = ("--rate-kbps", "--round-trip-ms", "--connections")


def check_unused(arguments: argparse.Namespace) -> None:
    """Refuse an option that was given and would change nothing.

    Raises
    ------
    InputError
        Naming the option and the reason.
    """
    given = {word.partition("=")[0] for word in arguments.words if word.startswith("--")}
    for options, why in _unused(arguments):
        for option in options:
            if option in given:
                raise InputError(f"{option} is given, but {why}; leave it out.")


def _unused(arguments: argparse.Namespace) -> Iterator[tuple[tuple[str, ...], str]]:
    from psm_sim.workload.loading import find_trace, is_page_list

    if is_page_list(find_trace(Spec.parse(arguments.trace, "trace").name)):
        yield ("--seed",), "nothing is drawn from a page list"
    if _is_recorded(arguments.trace):
        yield ("--pages", "--seed", *_NOMINAL), "a recording is replayed request by request as it was"
    if arguments.output is None:
        yield ("--other-loss",), "without --output no figure is drawn"
    if not _takes_rates(arguments.learner):
        yield ("--horizon",), f"learner {arguments.learner} does not choose switching rates by it"


def _is_recorded(trace: str) -> bool:
    from psm_sim.workload.loading import find_trace, is_page_list, is_profile

    spec = Spec.parse(trace, "trace")
    path = find_trace(spec.name)
    return not (is_page_list(path) or is_profile(path)) and spec.values.get("workload", "replay") == "replay"


def _takes_rates(learner: str) -> bool:
    from psm_sim.learning.factory import LEARNERS
    from psm_sim.parameters import parameters_of

    return "rates" in parameters_of(LEARNERS.get(Spec.parse(learner, "learner").name))
