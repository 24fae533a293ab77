"""Study of one setting for all: how many of LPSM's and of BSD's published numbers a single setting meets."""

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
"""Some settings once more with one connection at a time."""

CANDIDATES = (
    Setting("uniform", "800", True),
    Setting("gamma:2", "two-point:650:0.5", True),
    Setting("exponential", "none", True),
    Setting("gamma:2", "none", True),
)
"""The frontier that the search found on its choosing seed, run again on judging seeds."""

JUDGED = 3
COMMENTARY = join_paragraphs(
    """
    A setting in which replies take long lets LPSM sleep through them without adding much to a page's time,
    and makes BSD stay awake for each of them; one in which they come at once does the opposite.
    """
)


class OneSetting(Study):
    """A grid of settings on a choosing seed, and its best ones again on judging seeds."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one run of every policy for each setting, and for each candidate and judging seed."""
        searched = [SettingTask(setting, scale.pages, CHOOSING[0]) for setting in _grid(scale)]
        return searched + [
            SettingTask(setting, scale.pages, each)
            for setting in CANDIDATES
            for each in _judging(scale, seed)
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return the frontier of what a setting can meet; arguments as for :class:`Study`."""
        every = rows.of("setting")
        searched = score_settings([row for row in every if row["seed"] == CHOOSING[0]])
        best, seeds = score_frontier(searched), _judging(scale, seed)
        judged = score_settings([row for row in every if row["seed"] in seeds])
        return Findings(
            "one-setting",
            "One setting for all: LPSM's published numbers met against BSD's",
            f"{len(_grid(scale))} settings of think times, server delays, files, connections, and"
            f" {len(UPLINKS)} choices after an uplink, {scale.pages} pages, choosing seed {CHOOSING[0]}; the"
            f" candidates again with seeds {seeds[0]} to {seeds[-1]}; think times scaled to static PSM's"
            " energy",
            remarks=_remarks(searched, best, judged),
            commentary=COMMENTARY,
            tables=[
                Table("Frontier of the search: no setting meets more of both", _table(best)),
                Table("The candidates on judging seeds", _table(_same(judged, best))),
                Table(
                    "Best setting of each family of think times and each server delay", _by_family(searched)
                ),
            ],
            provisional=not scale.full,
            figures={"settings": _points(searched, best)},
        )


def _grid(scale: Scale) -> tuple[Setting, ...]:
    """Return the settings searched; of a small scale the candidates and a few of each family."""
    return (*GRID, *SINGLE) if scale.full else tuple(dict.fromkeys((*CANDIDATES, *GRID[::15])))


def _judging(scale: Scale, seed: int) -> range:
    return range(seed + LOOKED_AT, seed + LOOKED_AT + (JUDGED if scale.full else 1))


def _same(judged: Sequence[Score], best: Sequence[Score]) -> list[Score]:
    """Return the judged scores of the frontier's settings; of all candidates where it has none of them."""
    wanted = [score.setting for score in best]
    return [score for score in judged if score.setting in wanted] or list(judged)


def _remarks(searched: Sequence[Score], best: Sequence[Score], judged: Sequence[Score]) -> list[str]:
    lpsm, bsd = (max(score.met[place] for score in searched) for place in (0, 1))
    of_lpsm, of_bsd = len(searched[0].lpsm), len(searched[0].bsd)
    both = max(best, key=lambda score: (sum(score.met), min(score.met)))
    serves = "so one setting serves both" if both.met == (of_lpsm, of_bsd) else "so none serves both"
    recorded = {tuple(score.setting.items()) for score in judged}
    missing = sum(tuple(score.setting.items()) not in recorded for score in best)
    return [
        (
            f"{len(searched)} settings: LPSM's numbers met at most {lpsm} of {of_lpsm}, BSD's at most {bsd}"
            f" of {of_bsd}; together at most {sum(both.met)} of {of_lpsm + of_bsd} ({both.label}), {serves}."
        ),
        "Met by no setting: " + (", ".join(_never(searched)) or "none") + ".",
        f"Of the frontier's {len(best)} settings {len(best) - missing} were run again on judging seeds.",
    ]


def _never(searched: Sequence[Score]) -> list[str]:
    keys = [claim.published.key for claim in (*searched[0].lpsm, *searched[0].bsd)]
    met = {
        claim.published.key
        for score in searched
        for claim in (*score.lpsm, *score.bsd)
        if claim.verdict == "agrees"
    }
    return [key for key in keys if key not in met]


def _table(found: Sequence[Score]) -> pd.DataFrame:
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
        for score in found
    ])  # fmt: skip


def _by_family(searched: Sequence[Score]) -> pd.DataFrame:
    rows: dict[str, Row] = {}
    for think, delay in dict.fromkeys(
        (score.setting["think"], score.setting["server_delay_ms"]) for score in searched
    ):
        mine = [
            score.met
            for score in searched
            if (score.setting["think"], score.setting["server_delay_ms"]) == (think, delay)
        ]
        most = max(mine, key=sum)
        rows.setdefault(str(think), {"think": think})[str(delay)] = f"{most[0]} + {most[1]}"
    return pd.DataFrame(list(rows.values())).fillna("")


def _points(searched: Sequence[Score], best: Sequence[Score]) -> pd.DataFrame:
    return pd.DataFrame([
        {
            "lpsm": score.met[0],
            "bsd": score.met[1],
            "frontier": any(score is each for each in best),
            "setting": score.label,
        }
        for score in searched
    ])  # fmt: skip


STUDY = OneSetting()
