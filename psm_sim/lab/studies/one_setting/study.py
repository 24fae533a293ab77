"""Study of how many published numbers of LPSM and BSD agree in a single setting."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pandas as pd

from psm_sim.campaign.task_runner import Row, Rows, Task
from psm_sim.lab.studies.one_setting.agreement_scores import Score, score_frontier, score_settings
from psm_sim.lab.studies.one_setting.task import UPLINKS, Setting, SettingTask
from psm_sim.lab.studies.study import CHOOSING, LOOKED_AT, Findings, Scale, Study, Table, join_paragraphs

THINK = ("mah", "exponential", "gamma:2", "uniform", "constant")
DELAYS = (
    "none", "trace", "300", "650", "800", "exponential:150", "exponential:650", "lognormal:650:1",
    "two-point:650:0.5",
)  # fmt: skip
GRID = tuple(Setting(think, delay, files) for think, delay, files in product(THINK, DELAYS, (False, True)))
SINGLE = tuple(Setting(think, delay, False, 1) for think, delay in product(("mah", "uniform"), DELAYS[:5]))
"""Settings that are also searched with a single connection."""

CANDIDATES = (
    Setting("uniform", "800", True),
    Setting("gamma:2", "two-point:650:0.5", True),
    Setting("exponential", "none", True),
    Setting("gamma:2", "none", True),
)
"""Frontier of the search on its choosing seed. It runs again on judging seeds."""

JUDGED = 3
COMMENTARY = join_paragraphs(
    """
    If replies take long, LPSM sleeps through them and adds little to the page time, but BSD stays awake for
    each reply. If replies arrive at once, the opposite is true.
    """
)


class OneSetting(Study):
    """Grid of settings on a choosing seed, and its best settings on judging seeds."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one run of every policy for each setting, and for each candidate and judging seed.

        *scale* and *seed* as for :class:`Study`.
        """
        search = [SettingTask(setting, scale.pages, CHOOSING[0]) for setting in _grid(scale)]
        return search + [
            SettingTask(setting, scale.pages, number)
            for setting in CANDIDATES
            for number in _judging_seeds(scale, seed)
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return the settings that agree with most numbers; arguments as for :class:`Study`."""
        setting_rows = rows.of("setting")
        searched = score_settings([row for row in setting_rows if row["seed"] == CHOOSING[0]])
        frontier, seeds = score_frontier(searched), _judging_seeds(scale, seed)
        judged = score_settings([row for row in setting_rows if row["seed"] in seeds])
        return Findings(
            "one-setting",
            "Agreement of a single setting with the published numbers of LPSM and BSD",
            f"{len(_grid(scale))} settings of think times, server delays, files, connections, and"
            f" {len(UPLINKS)} choices after an uplink, {scale.pages} pages, choosing seed {CHOOSING[0]}; the"
            f" candidates again with seeds {seeds[0]} to {seeds[-1]}; think times scaled to static PSM's"
            " energy",
            remarks=_remarks(searched, frontier, judged),
            commentary=COMMENTARY,
            tables=[
                Table("Frontier of the search: no setting meets more of both", _table(frontier)),
                Table("The candidates on judging seeds", _table(_select_frontier(judged, frontier))),
                Table(
                    "Best setting of each family of think times and each server delay", _by_family(searched)
                ),
            ],
            provisional=not scale.full,
            figures={"settings": _points(searched, frontier)},
        )


def _grid(scale: Scale) -> tuple[Setting, ...]:
    """Return the searched settings; at a small scale the candidates and a few settings of each family."""
    return (*GRID, *SINGLE) if scale.full else tuple(dict.fromkeys((*CANDIDATES, *GRID[::15])))


def _judging_seeds(scale: Scale, seed: int) -> range:
    return range(seed + LOOKED_AT, seed + LOOKED_AT + (JUDGED if scale.full else 1))


def _select_frontier(judged: Sequence[Score], frontier: Sequence[Score]) -> list[Score]:
    """Return the judged scores of the frontier's settings, or all judged scores if there are none."""
    settings = [score.setting for score in frontier]
    return [score for score in judged if score.setting in settings] or list(judged)


def _remarks(searched: Sequence[Score], frontier: Sequence[Score], judged: Sequence[Score]) -> list[str]:
    lpsm, bsd = (max(score.met[index] for score in searched) for index in (0, 1))
    n_lpsm, n_bsd = len(searched[0].lpsm), len(searched[0].bsd)
    best = max(frontier, key=lambda score: (sum(score.met), min(score.met)))
    result = "One setting serves both" if best.met == (n_lpsm, n_bsd) else "No setting serves both"
    rerun = {tuple(score.setting.items()) for score in judged}
    missing = sum(tuple(score.setting.items()) not in rerun for score in frontier)
    return [
        (
            f"In {len(searched)} settings at most {lpsm} of LPSM's {n_lpsm} numbers agree, and at most {bsd}"
            f" of BSD's {n_bsd}. Together at most {sum(best.met)} of {n_lpsm + n_bsd} agree ({best.label})."
            f" {result}."
        ),
        "These numbers agree in no setting: " + (", ".join(_missed_keys(searched)) or "none") + ".",
        f"{len(frontier) - missing} of the frontier's {len(frontier)} settings ran again on judging seeds.",
    ]


def _missed_keys(searched: Sequence[Score]) -> list[str]:
    keys = [claim.published.key for claim in (*searched[0].lpsm, *searched[0].bsd)]
    met = {
        claim.published.key
        for score in searched
        for claim in (*score.lpsm, *score.bsd)
        if claim.verdict == "agrees"
    }
    return [key for key in keys if key not in met]


def _table(scores: Sequence[Score]) -> pd.DataFrame:
    return pd.DataFrame([
        {
            **score.setting,
            "LPSM's met": f"{score.met[0]} of {len(score.lpsm)}",
            "BSD's met": f"{score.met[1]} of {len(score.bsd)}",
            "not met": ", ".join(
                claim.published.key.partition("/")[2]
                for claim in (*score.lpsm, *score.bsd)
                if claim.verdict != "agrees"
            ),
        }
        for score in scores
    ])  # fmt: skip


def _by_family(searched: Sequence[Score]) -> pd.DataFrame:
    rows: dict[str, Row] = {}
    for think, delay in dict.fromkeys(
        (score.setting["think"], score.setting["server_delay_ms"]) for score in searched
    ):
        counts = [
            score.met
            for score in searched
            if (score.setting["think"], score.setting["server_delay_ms"]) == (think, delay)
        ]
        best = max(counts, key=sum)
        rows.setdefault(str(think), {"think": think})[str(delay)] = f"{best[0]} + {best[1]}"
    return pd.DataFrame(list(rows.values())).fillna("")


def _points(searched: Sequence[Score], frontier: Sequence[Score]) -> pd.DataFrame:
    return pd.DataFrame([
        {
            "lpsm": score.met[0],
            "bsd": score.met[1],
            "frontier": any(score is other for other in frontier),
            "setting": score.label,
        }
        for score in searched
    ])  # fmt: skip


STUDY = OneSetting()
