"""First lines of the reports, and the rules of their verdicts."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from psm_lab.reporting import claim_tables
from psm_lab.studies import ACTIVE_STUDIES, FIELD, OWN, STUDIES, VALIDATIONS


class Introduction(NamedTuple):
    """Title and first paragraphs of a report, and the rule of its verdicts."""

    title: str
    text: str
    rule: str = claim_tables.RULE


PUBLISHED = Introduction(
    "Published and simulated results",
    """\
This report repeats the power-saving results of two sources. They are C. Monteleoni's thesis (Learning with
Online Constraints, 2006, section 2.5.4) and the Bounded Slowdown paper by R. Krashinsky and H. Balakrishnan
(MobiCom 2002). The pages are synthetic and are sampled from published distributions.""",
)
_LEARNERS_TITLE = "Published claims on online active learners"
_LEARNERS = """\
This report tests what five sources claim about learners that query labels, and adds controls of our own. The
problems are those of the sources, or named replacements. A column "reference" has the results of an
independent program.

- [000] C. Monteleoni, Learning with Online Constraints, thesis, 2006, chapters 3 and 4
- [001] E. Moroshko and K. Crammer, Selective Sampling with Drift
- [002] N. Cesa-Bianchi, C. Gentile and L. Zaniboni, Worst-Case Analysis of Selective Sampling for
  Linear-Threshold Algorithms
- [003] A. Farhangfar, thesis
- [004] S. Dasgupta, A. Kalai and C. Monteleoni, Analysis of Perceptron-Based Active Learning"""
_VALIDATION = """\
Mean currents and latencies measured by others, compared with those of the simulator. The sources are listed
with each study, and with each row in `psm_lab/studies/measured.toml`."""
_OWN = Introduction(
    "Studies of psm_sim",
    """\
These studies repeat no published experiment. Their claims, if any, were fixed before the first run, and
claims that fail are reported like the others.""",
    "The remarks of the study state the rule of the verdicts.",
)
_FIELD = Introduction(
    "Published results of the field",
    """\
This report compares psm_sim with published results on power saving that are not those of its two main papers.
The commentary states which settings changed before the last run, and no value was fitted to a published
number.""",
)


def introduction_of(names: Collection[str]) -> Introduction:
    """Return the introduction of the report on the studies *names*."""
    from psm_lab.studies.active.learner_trials import RULE as LEARNERS_RULE
    from psm_lab.studies.validation import RULE as VALIDATION_RULE

    groups = (
        (OWN, _OWN),
        (FIELD, _FIELD),
        ({**STUDIES, **OWN, **FIELD}, PUBLISHED),
        (VALIDATIONS, Introduction("Measured and simulated hardware", _VALIDATION, VALIDATION_RULE)),
        (ACTIVE_STUDIES, Introduction(_LEARNERS_TITLE, _LEARNERS, LEARNERS_RULE)),
    )
    names = set(names)
    for studies, introduction in groups:
        if names <= set(studies):
            return introduction
    rules = {
        "Published power savings": ({**STUDIES, **FIELD}, claim_tables.RULE),
        "Measured hardware": (VALIDATIONS, VALIDATION_RULE),
        "Active learners": (ACTIVE_STUDIES, LEARNERS_RULE),
    }
    rule = "\n\n".join(f"{title}. {rule}" for title, (group, rule) in rules.items() if names & set(group))
    return Introduction("Studies of psm_sim", "This report has studies of several groups.", rule)
