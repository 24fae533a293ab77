"""Traces and policies of the study, fixed before any of its seeds was run."""

from __future__ import annotations

from typing import NamedTuple

from psm_sim.lab.studies.study import Scale


class TraceCase(NamedTuple):
    """Trace of the study with its title and the pages of a full and a quick run.

    If ``pages`` or ``quick_pages`` is None, the scale determines the number of pages.
    """

    trace: str
    title: str
    pages: int | None
    quick_pages: int | None

    def pages_at(self, scale: Scale) -> int:
        """Return the number of pages of a run at a scale."""
        fixed = self.pages if scale.pages >= 100 else self.quick_pages
        return scale.pages if fixed is None else fixed


PAGE_TRACES = (
    TraceCase("ucb", "ucb", None, None),
    TraceCase("ucb:server_delay_ms=650", "ucb, server delay 650 ms", None, None),
    TraceCase("ucb:server_delay_ms=none", "ucb, no server delay", None, None),
    TraceCase("shifting", "shifting", 314, 120),
    TraceCase("modern", "modern", 30, 8),
)
"""Traces of pages; 314 pages are one round of the regimes of ``shifting``."""

PUSH_TRACES = tuple(
    TraceCase(f"pushes:kind={kind}", f"pushes, {kind}", 2, 1)
    for kind in ("poisson", "bursts", "clock", "shift")
)
"""Push traffic, with one page view at the end of each hour."""

PRICES = (0.1, 0.3, 0.5, 1.0, 2.0, 5.0)
IDLE_PRICES = (0.05, 0.1, 0.2, 0.5, 1.0, 3.0)
INTERVALS = (1, 2, 3, 6, 9, 12)

LEARNERS = (
    "listen:learner=cbgz,b=0.03",
    "listen:learner=cbgz,b=0.3",
    "listen:learner=cbgz,b=0.03,weight=10",
    "listen:learner=cbgz2,b=0.003",
    "listen:learner=cbgz2,b=0.03",
    "listen:learner=lasec,b=0.003",
    "listen:learner=lasec,b=0.03",
    "listen:learner=cbgz2,b=0.003,context=false",
    "listen:learner=dkm,R=32",
)
"""Active learners of the ``listen`` policy."""

RULE, LPSM, PSM, BSD = "outstanding", "lpsm", "psm", "bsd:p=1"

PAGE_POLICIES = (
    PSM, "psm:listen_interval=2", "psm:listen_interval=3",
    "bsd:p=2", BSD, "bsd:p=0.5",
    LPSM, "lpsm:gamma=8e-7", "lpsm:gamma=5e-6", "lpsm:loss=inverse", "lpsm:context=outstanding",
    RULE, "outstanding:wait_ms=50", "outstanding:wait_ms=100",
    "listen:learner=random,b=0.1", "listen:learner=random,b=0.3", *LEARNERS,
    *(f"anticipate:price={price:g}" for price in PRICES),
)  # fmt: skip
"""Policies that load pages, including the controls."""

PUSH_POLICIES = (
    *(f"psm:listen_interval={interval}" for interval in INTERVALS),
    BSD, "lpsm:gamma=2e-6", "lpsm:gamma=5e-6", LPSM, RULE,
    "listen:learner=random,b=0.1", "listen:learner=random,b=0.3", *LEARNERS,
    *(f"anticipate:idle_price={price:g}" for price in IDLE_PRICES),
)  # fmt: skip
"""Policies that receive pushes."""


def family_of(policy: str) -> str:
    """Return the family of a policy, which is one curve of the figure."""
    name, _, parameters = policy.partition(":")
    if name == "listen":
        return parameters.partition("learner=")[2].partition(",")[0]
    return name
