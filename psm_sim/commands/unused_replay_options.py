"""Rejection of replay options that have no effect on the given trace, learner or output."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError

_NOMINAL = ("--rate-kbps", "--round-trip-ms", "--connections")


def check_unused(arguments: argparse.Namespace) -> None:
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
    from psm_sim.workload.loading import find_trace, is_page_list

    if is_page_list(find_trace(Spec.parse(arguments.trace, "trace").name)):
        yield ("--seed",), "a page list is not sampled"
    if _is_recording(arguments.trace):
        yield ("--pages", "--seed", *_NOMINAL), "a recording is replayed request by request"
    if arguments.output is None:
        yield ("--other-loss",), "no figure is plotted without --output"
    if not _has_rates(arguments.learner):
        yield ("--horizon",), f"learner {arguments.learner} has no switching rates to choose"


def _is_recording(trace: str) -> bool:
    from psm_sim.workload.loading import find_trace, is_page_list, is_profile

    spec = Spec.parse(trace, "trace")
    path = find_trace(spec.name)
    return not (is_page_list(path) or is_profile(path)) and spec.values.get("workload", "replay") == "replay"


def _has_rates(learner: str) -> bool:
    from psm_sim.common.parameters import parameters_of
    from psm_sim.learning.factory import LEARNERS

    return "rates" in parameters_of(LEARNERS.get(Spec.parse(learner, "learner").name))
