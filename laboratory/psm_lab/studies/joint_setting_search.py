"""Study of how many published numbers of LPSM and BSD agree in a single setting.

Every setting of a coarse grid runs on one choosing seed. The candidates are the settings on the Pareto
frontier of the counts of agreeing numbers. The first one in the order of the grid represents all settings
with equal counts. Settings in which both papers' numbers on static PSM agree are candidates as well, and so
is the headline preset's setting, the best one of an earlier search. All candidates run again on judging
seeds. The commentary states how this rule changed after the first search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from itertools import product
from typing import Any

import pandas as pd

from psm_lab.studies.published_claims import (
    Claim,
    PublishedNumber,
    claim_of,
    count_agreeing,
    published_numbers,
    study_texts,
)
from psm_lab.studies.published_experiment_runs import BSD, LPSM, POLICIES, values_of, with_ratios
from psm_lab.studies.study import CHOOSING, LOOKED_AT, Findings, Scale, Table
from psm_lab.studies.tasks import Row, Rows, Task, compare_policies
from psm_sim.common.component_spec import Spec
from psm_sim.simulation import Scenario
from psm_sim.simulation.preset import Preset
from psm_sim.simulation.run import run_workload
from psm_sim.simulation.table import measure

UPLINKS = (("one", "poll"), ("one", "uplink"), ("restart", "poll"), ("keep", "poll"))
"""Values of ``lpsm:uplink`` and ``lpsm:acks``. ACKs only count as uplink packets with ``uplink=one``."""

NETWORKS: dict[str, dict[str, Any]] = {
    "default": {},
    "one connection": {"browser.connections": 1},
    "ns-2 TCP": {"tcp.segment_bytes": 536, "tcp.delayed_ack": "heartbeat"},
}
"""Settings of the topology by name. FullTcp of ns-2 has segments of 536 B and delays ACKs to a heartbeat."""

PSM_J = 3.62
"""Published energy of static PSM in J per page (thesis, figure 2-6 a). Think times are scaled to it."""

_FIRST_MEAN_S = 54.0


@dataclass(frozen=True)
class Setting:
    """Choices about the pages, the server and TCP that the sources leave open.

    ``network`` is a key of :data:`NETWORKS`. The others are parameters of the trace.
    """

    think: str
    server_delay_ms: str
    files_are_images: bool
    main_delay_ms: str = "none"
    network: str = "default"

    def scenario(self, pages: int, seed: int, mean_think_s: float) -> Scenario:
        """Return a scenario of *pages* pages sampled with *seed*, with mean think time *mean_think_s*."""
        values = {
            "think": self.think,
            "server_delay_ms": self.server_delay_ms,
            "main_delay_ms": self.main_delay_ms,
            "files_are_images": str(self.files_are_images).lower(),
            "mean_think_s": f"{mean_think_s:.2f}",
        }
        trace = Spec("ucb", tuple(values.items()))
        return Scenario(trace, pages=pages, seed=seed, settings=NETWORKS[self.network])

    @lru_cache(maxsize=64)  # noqa: B019 (instances are frozen and few, and each seed needs the value)
    def mean_think_s(self, pages: int) -> float:
        """Return the mean think time in s at which static PSM needs the published energy over *pages*."""
        scenario = self.scenario(pages, CHOOSING[0], _FIRST_MEAN_S)
        row = measure(run_workload("psm", scenario.resolve_topology(), scenario.workload()))
        page_s = row["simulated_s"] / row["pages"]
        return float(_FIRST_MEAN_S + page_s * (PSM_J / row["energy_per_page_j"] - 1))


def run_setting(setting: Setting, pages: int, seed: int) -> list[Row]:
    """Scale the think times of a *setting*, and run all policies over the same pages.

    LPSM runs with every choice of :data:`UPLINKS`. The rows are those of :func:`compare_policies`, with the
    plain name of the policy and the choices ``uplink`` and ``acks``, which are empty for the other policies.
    """
    policies = [Spec.parse(name, "policy") for name in ("always-on", "psm", *BSD)]
    choices = [{"policy": str(policy), "uplink": "", "acks": ""} for policy in policies]
    for name, (uplink, acks) in product(LPSM, UPLINKS):
        policies.append(Spec.parse(name, "policy").with_("uplink", uplink).with_("acks", acks))
        choices.append({"policy": name, "uplink": uplink, "acks": acks})
    scenario = setting.scenario(pages, seed, setting.mean_think_s(pages))
    rows = compare_policies(policies, scenario)
    return [{**row, **choice} for row, choice in zip(rows, choices, strict=True)]


KEYS = (*(field.name for field in fields(Setting)), "uplink", "acks")
STATIC, LEARNED = "one-setting/psm/slowdown", "lpsm-100/lpsm:loss=inverse-log/page_ratio_mean"
"""Numbers of the two papers that contradict each other if no setting agrees with both."""

_DELAYS = {"none": "no server delay", "trace": "server delay of the trace"}
"""Labels of the values of ``server_delay_ms`` that are not numbers."""


def judged_numbers(paper: str) -> list[PublishedNumber]:
    """Return the numbers of a *paper*, ``lpsm`` or ``bsd``, that can agree or differ.

    Static PSM's energy and beacons agree by construction, and every setting keeps BSD's bound. The slowdown
    of static PSM is judged as a mean.
    """
    omitted = ("psm/energy_j", "psm/beacons_j", "psm/slowdown_max")
    studies = {"lpsm": ["lpsm-100"], "bsd": ["one-setting", "bsd-energy"]}[paper]
    numbers = [number for study in studies for number in published_numbers(study)]
    return [each for each in numbers if each.quantity != "bound" and not each.key.endswith(omitted)]


@dataclass(frozen=True)
class Score:
    """Setting with its claims.

    ``setting`` has a value for each of :data:`KEYS`. ``lpsm`` and ``bsd`` are the claims on the numbers of
    lpsm-100 and of bsd-energy, by the keys of the numbers.
    """

    setting: dict[str, object]
    lpsm: dict[str, Claim]
    bsd: dict[str, Claim]

    @property
    def claims(self) -> dict[str, Claim]:
        """All claims by the keys of their numbers."""
        return self.lpsm | self.bsd

    @property
    def met(self) -> tuple[int, int]:
        """Number of agreeing claims of LPSM and of BSD."""
        return len(count_agreeing(self.lpsm.values())), len(count_agreeing(self.bsd.values()))

    @property
    def rank(self) -> tuple[int, int]:
        """Key by which settings are compared, both counts together and then the smaller one."""
        return sum(self.met), min(self.met)

    @property
    def count(self) -> str:
        """Both counts as text."""
        return "{} + {}".format(*self.met)

    @property
    def label(self) -> str:
        """Setting as one line."""
        think, delay, files, main, network, uplink, acks = (self.setting[key] for key in KEYS)
        server = _DELAYS.get(str(delay), f"server {delay} ms")
        if main != "none":
            server += f" (main object {main} ms)"
        counted = "files as images" if files else "files counted right"
        changed = "" if network == "default" else f", {network}"
        return f"think {think}, {server}, {counted}{changed}, uplink {uplink}, acks {acks}"

    @property
    def agrees_on_psm(self) -> bool:
        """Whether :data:`STATIC` and :data:`LEARNED` agree, the numbers of both papers on static PSM."""
        return all(self.claims[key].verdict == "agrees" for key in (STATIC, LEARNED))


def score_settings(rows: Sequence[Row]) -> list[Score]:
    """Return a score for each setting and each choice of :data:`UPLINKS`, from rows of any seeds."""
    names, scores = list(KEYS[:-2]), []
    for setting, group in pd.DataFrame(rows).groupby(names, sort=False):
        runs = with_ratios(group)
        for uplink, acks in UPLINKS:
            values = values_of(runs[runs["uplink"].isin(["", uplink]) & runs["acks"].isin(["", acks])])
            lpsm, bsd = (
                {
                    number.key: claim_of(number, values[number.policy, number.quantity], Preset())
                    for number in judged_numbers(paper)
                }
                for paper in ("lpsm", "bsd")
            )
            scores.append(Score(dict(zip(KEYS, (*setting, uplink, acks), strict=True)), lpsm, bsd))
    return scores


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


THINK = ("mah", "exponential", "gamma:2", "uniform", "lognormal:0.01")
"""Distributions of think times.

The last one is almost constant. Constant think times would give the first request of every page the same
phase in the beacon interval. Counts then depend on milliseconds: a first search found 8 + 5 agreeing numbers
with constant think times, and 3 + 6 if these are 20 ms longer.
"""

DELAYS = (
    "none", "trace", "300", "650", "800", "exponential:150", "exponential:650", "lognormal:650:1",
    "two-point:650:0.5",
)  # fmt: skip
MAIN_DELAYS = ("150", "300", "650", "exponential:150", "exponential:650", "two-point:650:0.5")
"""Server delays of main objects with immediate images.

The thesis names a single delay: "after some delay, the server sends a response and several embedded images".
"""

_SERVERS = (*((delay, "none") for delay in DELAYS), *(("none", delay) for delay in MAIN_DELAYS))
GRID = (
    *(
        Setting(think, delay, files, main)
        for think, (delay, main), files in product(THINK, _SERVERS, (False, True))
    ),
    *(
        Setting(think, delay, False, network="one connection")
        for think, delay in product(("mah", "uniform"), DELAYS[:5])
    ),
    *(
        Setting(think, delay, True, main, "ns-2 TCP")
        for think, (delay, main) in product(("mah", "gamma:2", "uniform"), _SERVERS)
    ),
)

CANDIDATES = (
    Setting("gamma:2", "650", True),
    Setting("gamma:2", "two-point:650:0.5", True),
    Setting("exponential", "none", True),
    Setting("gamma:2", "none", True),
    Setting("mah", "trace", True, network="ns-2 TCP"),
    Setting("uniform", "800", True),
)
"""Candidates that the search found on its choosing seed, and the headline preset's setting."""

HEADLINE = {**asdict(CANDIDATES[-1]), "uplink": "one", "acks": "poll"}

JUDGED = 10
"""Number of judging seeds. With three, most intervals are wider than the tolerance."""


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one run of every policy for each setting, and for each candidate and judging seed."""
    runs = [(setting, CHOOSING[0]) for setting in _grid(scale)]
    runs += product(CANDIDATES, scale.few(seed + LOOKED_AT, JUDGED))
    return [
        Task(
            "setting",
            run_setting,
            {"setting": setting, "pages": scale.pages, "seed": number},
            scale.pages * (2 + len(POLICIES) + len(LPSM) * (len(UPLINKS) - 1)),
            asdict(setting),
        )
        for setting, number in runs
    ]


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return the settings that agree with most numbers."""
    runs, seeds = rows.of("setting"), scale.few(seed + LOOKED_AT, JUDGED)
    searched = score_settings([row for row in runs if row["seed"] == CHOOSING[0]])
    judged = score_settings([row for row in runs if row["seed"] in seeds])
    frontier = score_frontier(searched)
    candidates = frontier + [
        score
        for score in searched
        if score not in frontier and (score.agrees_on_psm or score.setting == HEADLINE)
    ]
    settings = [score.setting for score in candidates]
    rerun = [score for score in judged if score.setting in settings]
    return Findings(
        **study_texts("one-setting"),
        setting=f"{len(_grid(scale))} settings of think times, server delays, files and TCP,"
        f" {len(UPLINKS)} choices after an uplink, {scale.pages} pages, choosing seed {CHOOSING[0]};"
        f" the candidates again with seeds {seeds[0]} to {seeds[-1]}; think times scaled to static PSM's"
        " energy",
        remarks=[
            describe_static_psm(searched, judged),
            *_remarks(searched, candidates, rerun),
            f"{len(rerun)} of {len(candidates)} candidates ran again on judging seeds.",
        ],
        tables=[
            Table("Candidates on the choosing seed", _table(candidates)),
            Table("Candidates on judging seeds", _table(rerun or judged)),
            Table("Best setting with each choice (LPSM + BSD)", _by_choice(searched)),
            Table(
                "Slowdown of static PSM, and page time of LPSM with 1/log T relative to static PSM's,"
                " over all settings with the server delay",
                _by_delay(searched),
            ),
        ],
        provisional=not scale.full,
        figures={"settings": _points(searched, frontier)},
    )


def _grid(scale: Scale) -> tuple[Setting, ...]:
    """Return the searched settings; at a small scale the candidates and a few settings of each family."""
    return GRID if scale.full else tuple(dict.fromkeys((*CANDIDATES, *GRID[::30])))


def _remarks(searched: Sequence[Score], candidates: Sequence[Score], rerun: Sequence[Score]) -> list[str]:
    lpsm, bsd = (max(score.met[index] for score in searched) for index in (0, 1))
    n_lpsm, n_bsd = len(searched[0].lpsm), len(searched[0].bsd)
    best = max(candidates, key=lambda score: score.rank)
    again = "".join(
        f" On judging seeds it has {score.count}." for score in rerun if score.setting == best.setting
    )
    if rerun:
        top = max(rerun, key=lambda score: score.rank)
        again += f" The best candidate there has {top.count} ({top.label})."
    missed = [
        key
        for key in searched[0].claims
        if not any(score.claims[key].verdict == "agrees" for score in searched)
    ]
    return [
        (
            f"In {len(searched)} settings at most {lpsm} of LPSM's {n_lpsm} numbers agree, and at most {bsd}"
            f" of BSD's {n_bsd}. Together at most {sum(best.met)} of {n_lpsm + n_bsd} agree, {best.count}"
            f" ({best.label}).{again}"
            f" {'One' if best.met == (n_lpsm, n_bsd) else 'No'} setting serves both."
        ),
        f"These numbers agree in no setting: {', '.join(missed) or 'none'}.",
    ]


def _table(scores: Sequence[Score]) -> pd.DataFrame:
    return pd.DataFrame([
        {
            **score.setting,
            "LPSM: agree": f"{score.met[0]} of {len(score.lpsm)}",
            "BSD: agree": f"{score.met[1]} of {len(score.bsd)}",
            "do not agree": ", ".join(
                key.partition("/")[2] for key, claim in score.claims.items() if claim.verdict != "agrees"
            ),
        }
        for score in scores
    ])  # fmt: skip


def describe_static_psm(searched: Sequence[Score], judged: Sequence[Score]) -> str:
    """Return whether a setting agrees with both papers on static PSM.

    Parameters
    ----------
    searched, judged : sequence of Score
        Scores on the choosing seed and on judging seeds, at least one of the first.
    """
    pairs = [(score.claims[STATIC], score.claims[LEARNED]) for score in searched]
    slowdown, page_time = (claim.published for claim in pairs[0])
    ratios = [learned.ours.mean for static, learned in pairs if static.verdict == "agrees"]
    slowdowns = [static.ours.mean for static, learned in pairs if learned.verdict == "agrees"]
    both = [score.setting for score in searched if score.agrees_on_psm]
    again = [score for score in judged if score.setting in both]
    verdict = "A setting agrees" if any(score.agrees_on_psm for score in again) else "No setting agrees"
    text = (
        f"{verdict} with both papers on static PSM on judging seeds. On the choosing seed static PSM has its"
        f" published slowdown ({slowdown}) in {len(ratios)} of {len(searched)} settings. LPSM with 1/log T"
        f" then takes {_range(ratios)} times its page time ({page_time} published). This page time agrees in"
        f" {len(slowdowns)} settings. The slowdown is then {_range(slowdowns)}."
    )
    for score in again:
        text += (
            f" Both agree with {score.label}. On judging seeds this setting has a slowdown of"
            f" {score.claims[STATIC].ours.mean:.2f} and a page time of {score.claims[LEARNED].ours.mean:.2f}."
        )
    return text


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}" if values else "unknown"


def _best(scores: Iterable[Score]) -> str:
    return max(scores, key=lambda score: score.rank).count


def _by_choice(searched: Sequence[Score]) -> pd.DataFrame:
    return pd.DataFrame([
        {
            "choice": key,
            "value": value,
            "best": _best(score for score in searched if score.setting[key] == value),
        }
        for key in KEYS
        for value in dict.fromkeys(score.setting[key] for score in searched)
    ])  # fmt: skip


def _by_delay(searched: Sequence[Score]) -> pd.DataFrame:
    keys = ("server_delay_ms", "main_delay_ms")
    groups: dict[tuple[object, ...], list[Score]] = {}
    for score in searched:
        groups.setdefault(tuple(score.setting[key] for key in keys), []).append(score)
    return pd.DataFrame([
        {
            **dict(zip(keys, delays, strict=True)),
            "slowdown of psm": _range([score.claims[STATIC].ours.mean for score in scores]),
            "page time of LPSM / psm": _range([score.claims[LEARNED].ours.mean for score in scores]),
            "best (LPSM + BSD)": _best(scores),
        }
        for delays, scores in groups.items()
    ])  # fmt: skip


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
