"""``psm_sim learners``: tests of published claims about active learners."""

from __future__ import annotations

import argparse

from psm_sim.commands import reproduce

HELP = """\
Test published claims about online active learners on the problems of the papers: mistake
bounds, label complexity and comparisons, with 95 % confidence intervals and a verdict
(agrees, open, differs) by a predefined rule."""

EPILOG = """\
studies: sphere, patience, worst-case, text-like, ocr, drift, isal-1d, isal-planes,
isal-pool, trees, lmu. Without a name, or with 'all', all studies run. text-like, ocr and
a part of drift require a data set of digits: pip install 'psm_sim[studies]'

examples:
  psm_sim learners worst-case --quick
  psm_sim learners all --output reports/learners"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    reproduce.add_arguments(
        parser, quick="run fewer replications of smaller problems, which takes a few minutes"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the studies and report their results."""
    from psm_sim.lab.reporting.pages.learners import INTRODUCTION
    from psm_sim.lab.studies import load_study
    from psm_sim.lab.studies.active import ACTIVE_STUDIES
    from psm_sim.lab.studies.active.trials import RULE

    names = reproduce.select_studies(arguments.studies, list(ACTIVE_STUDIES))
    studies = {name: load_study(name, ACTIVE_STUDIES, "psm_sim.lab.studies.active") for name in names}
    return reproduce.run_studies(arguments, studies, "learners", introduction=INTRODUCTION, rule=RULE)
