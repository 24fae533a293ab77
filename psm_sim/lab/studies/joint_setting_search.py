"""Study of how many published numbers of LPSM and BSD agree in a single setting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar

import pandas as pd

from psm_sim.campaign.comparison_task import RunTask, add_ratios
from psm_sim.campaign.parallel_tasks import Row, Rows, Task
from psm_sim.common.component_spec import Spec
from psm_sim.common.hashing import digest_of
from psm_sim.lab.studies.published_claims import Claim, claim_of, published_numbers
from psm_sim.lab.studies.published_experiment_runs import BSD, LPSM, values_of, with_long_pages
from psm_sim.lab.studies.study import CHOOSING, LOOKED_AT, Findings, Scale, Study, Table, join_paragraphs
from psm_sim.simulation.preset import Preset
from psm_sim.simulation.run import prepare
from psm_sim.simulation.scenario import DigestCache, Scenario

UPLINKS = ("one", "restart", "keep")
PSM_J = 3.62
"""Published energy of static PSM in J per page (thesis, figure 2-6 a). Think times are scaled to it."""

_FIRST_MEAN_S = 54.0


@dataclass(frozen=True)
class Setting:
    """Choices about the pages and the server that the sources leave open.

    ``think``, ``server_delay_ms`` and ``files_are_images`` are parameters of the trace. ``connections`` is
    the setting ``browser.connections``.
    """

    think: str
    server_delay_ms: str
    files_are_images: bool
    connections: int = 4

    def scenario(self, pages: int, seed: int, mean_think_s: float) -> Scenario:
        """Return a scenario of *pages* pages sampled with *seed*, with mean think time *mean_think_s*."""
        values = {
            "think": self.think,
            "server_delay_ms": self.server_delay_ms,
            "files_are_images": str(self.files_are_images).lower(),
            "mean_think_s": f"{mean_think_s:.2f}",
        }
        trace = Spec("ucb", tuple(values.items()))
        settings = {} if self.connections == 4 else {"browser.connections": self.connections}
        return Scenario(trace, pages=pages, seed=seed, settings=settings)

    @lru_cache(maxsize=64)  # noqa: B019 (instances are frozen and few, and each seed needs the value)
    def mean_think_s(self, pages: int) -> float:
        """Return the mean think time in s at which static PSM needs the published energy over *pages*."""
        scenario = self.scenario(pages, CHOOSING[0], _FIRST_MEAN_S)
        run = prepare("psm", scenario.resolve_topology()).execute(scenario.workload().pages)
        page_s = run.simulated_s / len(run.page_records)
        return _FIRST_MEAN_S + page_s * (PSM_J / run.energy_per_page_j - 1)


@dataclass(frozen=True)
class SettingTask:
    """Task that runs all policies over the same pages in one setting.

    LPSM runs with every choice after an uplink packet. The rows are those of
    :class:`~psm_sim.campaign.comparison_task.RunTask`, with the plain name of the policy and the choice
    ``uplink``, which is empty for the other policies.
    """

    kind: ClassVar[str] = "setting"

    setting: Setting
    pages: int
    seed: int

    @property
    def labels(self) -> Mapping[str, Any]:
        """Setting as a dictionary."""
        return asdict(self.setting)

    @property
    def weight(self) -> int:
        """Number of pages of all runs."""
        return self.pages * (4 + len(BSD) + len(LPSM) * len(UPLINKS))

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that determines the rows."""
        scenario = self.setting.scenario(self.pages, self.seed, _FIRST_MEAN_S)
        return digest_of([self.kind, scenario.key(cache=cache), PSM_J])

    def run(self) -> list[Row]:
        """Scale the think times, run the policies, and return one row per policy."""
        mean_s = self.setting.mean_think_s(self.pages)
        names = {Spec.parse(name, "policy"): (name, "") for name in ("always-on", "psm", *BSD)}
        for name in LPSM:
            for uplink in UPLINKS:
                names[Spec.parse(name, "policy").with_("uplink", uplink)] = (name, uplink)
        rows = RunTask(tuple(names), self.setting.scenario(self.pages, self.seed, mean_s)).run()
        return [
            {**row, "policy": name, "uplink": uplink, "mean_think_s": mean_s}
            for row, (name, uplink) in zip(rows, names.values(), strict=True)
        ]


QUANTITIES = (
    "energy_j", "beacons_j", "slowdown", "page_ratio_mean", "page_ratio_long", "page_ratio_max",
    "energy_saved", "time_saved",
)  # fmt: skip
CALIBRATING = ("lpsm-100/psm/energy_j", "lpsm-100/psm/beacons_j")
KEYS = ("think", "server_delay_ms", "files_are_images", "connections", "uplink")


@dataclass(frozen=True)
class Score:
    """Setting with its claims.

    ``setting`` has a value for each of :data:`KEYS`. ``lpsm`` and ``bsd`` are the claims on the numbers of
    lpsm-100 and of bsd-energy.
    """

    setting: dict[str, object]
    lpsm: tuple[Claim, ...]
    bsd: tuple[Claim, ...]

    @property
    def met(self) -> tuple[int, int]:
        """Number of agreeing claims of LPSM and of BSD."""
        lpsm, bsd = (sum(claim.verdict == "agrees" for claim in claims) for claims in (self.lpsm, self.bsd))
        return lpsm, bsd

    @property
    def label(self) -> str:
        """Setting as one line."""
        think, delay, files, connections, uplink = (self.setting[key] for key in KEYS)
        counted = "files as images" if files else "files counted right"
        return f"think {think}, server {delay} ms, {counted}, {connections} connections, uplink {uplink}"


def score_settings(rows: Sequence[Row]) -> list[Score]:
    """Return a score for each setting and each choice after an uplink packet, from rows of any seeds."""
    frame = add_ratios(pd.DataFrame(rows), "psm", ("seed", *KEYS[:-1]))
    frame = frame.assign(energy_saved=1 - frame["energy_ratio"], time_saved=1 - frame["page_ratio_mean"])
    scores = []
    for values, group in frame.groupby(list(KEYS[:-1]), sort=False):
        runs = with_long_pages(group)
        for uplink in UPLINKS:
            selected = runs[runs["uplink"].isin(["", uplink])]
            scores.append(_score(dict(zip(KEYS, (*values, uplink), strict=True)), selected))
    return scores


def _score(setting: dict[str, object], frame: pd.DataFrame) -> Score:
    values = values_of(frame, QUANTITIES)
    always, bsd = (values[policy, "energy_j"] for policy in ("always-on", BSD[0]))
    values[BSD[0], "always_on_ratio"] = [above / below for above, below in zip(always, bsd, strict=True)]
    return Score(setting, _claims("lpsm-100", values), _claims("bsd-energy", values))


def _claims(study: str, values: dict[tuple[str, str], list[float]]) -> tuple[Claim, ...]:
    """Judge the numbers of a study that can agree or differ.

    Static PSM's energy and beacons agree by construction, and every setting keeps BSD's bound.
    """
    numbers = [
        number
        for number in published_numbers(study)
        if number.quantity != "bound" and number.key not in CALIBRATING
    ]
    return tuple(claim_of(number, values[number.policy, number.quantity], Preset()) for number in numbers)


def score_frontier(scores: Iterable[Score]) -> list[Score]:
    """Return the Pareto frontier of both counts, with one setting per pair, the best for LPSM first."""
    by_met: dict[tuple[int, int], Score] = {}
    for score in scores:
        by_met.setdefault(score.met, score)
    frontier = [
        score
        for (lpsm, bsd), score in by_met.items()
        if not any(a >= lpsm and b >= bsd and (a, b) != (lpsm, bsd) for a, b in by_met)
    ]
    return sorted(frontier, key=lambda score: score.met, reverse=True)


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
                Table("Pareto frontier of the search", _table(frontier)),
                Table("Candidates on judging seeds", _table(_select_frontier(judged, frontier))),
                Table(
                    "Best setting for each distribution of think times and each server delay (LPSM + BSD)",
                    _by_family(searched),
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
            "LPSM: agree": f"{score.met[0]} of {len(score.lpsm)}",
            "BSD: agree": f"{score.met[1]} of {len(score.bsd)}",
            "do not agree": ", ".join(
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
