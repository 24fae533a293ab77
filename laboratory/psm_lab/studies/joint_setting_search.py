"""Study of how many published numbers of LPSM and BSD agree in a single setting.

Every setting of a coarse grid runs on one choosing seed. The candidates are the settings on the Pareto
frontier of the counts of agreeing numbers. Of frontier settings with equal counts, only the first one in the
grid is taken. The settings that agree with both papers on static PSM are candidates as well. So is the
setting of the headline preset, which was the best one of an earlier search. All candidates run again on
judging seeds. The commentary states how this rule changed after the first search.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
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

_FIRST_MEAN_S = 54.0  # first guess of the mean think time, which is then scaled


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


def label_of(setting: Mapping[str, object]) -> str:
    """Return a setting, which has a value for each of :data:`KEYS`, as one line of text."""
    think, delay, files, main, network, uplink, acks = (setting[key] for key in KEYS)
    server = _DELAYS.get(str(delay), f"server {delay} ms")
    if main != "none":
        server += f" (main object {main} ms)"
    counted = "files as images" if files else "files counted right"
    changed = "" if network == "default" else f", {network}"
    return f"think {think}, {server}, {counted}{changed}, uplink {uplink}, acks {acks}"


def score(setting: Row, claims: Sequence[Claim]) -> Row:
    """Return the row of a setting with a summary of its claims.

    ``lpsm`` and ``bsd`` are the numbers of agreeing claims, and ``missed`` are the keys of the other claims.
    ``slowdown`` and ``page_time`` are the simulated values of :data:`STATIC` and :data:`LEARNED`.
    """
    agreeing = [claim.published.study for claim in count_agreeing(claims)]
    lpsm = agreeing.count("lpsm-100")
    means = {claim.published.key: claim.ours.mean for claim in claims}
    return {
        **setting,
        "label": label_of(setting),
        "lpsm": lpsm,
        "bsd": len(agreeing) - lpsm,
        "slowdown": means[STATIC],
        "page_time": means[LEARNED],
        "missed": [claim.published.key for claim in claims if claim.verdict != "agrees"],
    }


def score_settings(rows: Sequence[Row]) -> pd.DataFrame:
    """Return a score for each setting and each choice of :data:`UPLINKS`, from rows of any seeds."""
    scores, numbers = [], [*judged_numbers("lpsm"), *judged_numbers("bsd")]
    for setting, group in pd.DataFrame(rows).groupby([*KEYS[:-2]], sort=False):
        runs = with_ratios(group)
        for uplink, acks in UPLINKS:
            values = values_of(runs[runs["uplink"].isin(["", uplink]) & runs["acks"].isin(["", acks])])
            claims = [claim_of(each, values[each.policy, each.quantity], Preset()) for each in numbers]
            scores.append(score(dict(zip(KEYS, (*setting, uplink, acks), strict=True)), claims))
    return pd.DataFrame(scores)


def frontier_of(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the Pareto frontier of both counts, with one setting per pair, the best for LPSM first."""
    pairs = scores.drop_duplicates(["lpsm", "bsd"]).sort_values(["lpsm", "bsd"], ascending=False)
    return pairs[pairs["bsd"] > pairs["bsd"].cummax().shift(fill_value=-1)]


def _best(scores: pd.DataFrame) -> dict[Hashable, Any]:
    """Return the setting with most agreeing numbers. Ties go to the setting whose smaller count is larger."""
    counts = scores[["lpsm", "bsd"]]
    ranks = pd.DataFrame({"sum": counts.sum(axis=1), "least": counts.min(axis=1)})
    best = ranks.sort_values(["sum", "least"], ascending=False).index[:1]
    (row,) = scores.loc[best].to_dict("records")
    return row


def _count(setting: Mapping[Hashable, Any]) -> str:
    return f"{setting['lpsm']} + {setting['bsd']}"


def _agree_on(scores: pd.DataFrame, *keys: str) -> pd.Series[bool]:
    """Return whether each setting agrees with all numbers of these *keys*."""
    return scores["missed"].map(lambda missed: not set(keys).intersection(missed)).astype(bool)


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
# Two networks have fewer settings. The complete grid would take more than twice as long.
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

HEADLINE = label_of({**asdict(CANDIDATES[-1]), "uplink": "one", "acks": "poll"})

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
    """Return the findings on the settings that agree with most numbers."""
    runs, seeds = rows.of("setting"), scale.few(seed + LOOKED_AT, JUDGED)
    searched = score_settings([row for row in runs if row["seed"] == CHOOSING[0]])
    judged = score_settings([row for row in runs if row["seed"] in seeds])
    frontier = frontier_of(searched)
    added = searched.drop(index=frontier.index)
    added = added[_agree_on(added, STATIC, LEARNED) | (added["label"] == HEADLINE)]
    candidates = pd.concat([frontier, added])
    rerun = judged[judged["label"].isin(candidates["label"])]
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
            Table("Candidates on judging seeds", _table(judged if rerun.empty else rerun)),
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
    return GRID if scale.full else tuple(dict.fromkeys((*CANDIDATES, *GRID[::60])))


def _remarks(searched: pd.DataFrame, candidates: pd.DataFrame, rerun: pd.DataFrame) -> list[str]:
    n_lpsm, n_bsd = (len(judged_numbers(paper)) for paper in ("lpsm", "bsd"))
    best = _best(candidates)
    same = rerun[rerun["label"] == best["label"]].to_dict("records")
    again = "".join(f" On judging seeds it has {_count(each)}." for each in same)
    if not rerun.empty:
        top = _best(rerun)
        again += f" The best candidate there has {_count(top)} ({top['label']})."
    missed = set.intersection(*map(set, searched["missed"]))
    return [
        (
            f"In {len(searched)} settings at most {searched['lpsm'].max()} of LPSM's {n_lpsm} numbers agree,"
            f" and at most {searched['bsd'].max()} of BSD's {n_bsd}. Together at most"
            f" {best['lpsm'] + best['bsd']} of {n_lpsm + n_bsd} agree, {_count(best)}"
            f" ({best['label']}).{again}"
            f" {'No' if best['missed'] else 'One'} setting serves both."
        ),
        (
            "These numbers agree in no setting:"
            f" {', '.join(key for key in searched['missed'].iloc[0] if key in missed) or 'none'}."
        ),
    ]


def _table(scores: pd.DataFrame) -> pd.DataFrame:
    n_lpsm, n_bsd = (len(judged_numbers(paper)) for paper in ("lpsm", "bsd"))
    missed = scores["missed"].map(lambda keys: ", ".join(key.partition("/")[2] for key in keys))
    columns = {
        "LPSM: agree": scores["lpsm"].map(f"{{}} of {n_lpsm}".format),
        "BSD: agree": scores["bsd"].map(f"{{}} of {n_bsd}".format),
        "do not agree": missed,
    }
    return scores[[*KEYS]].assign(**columns)


def describe_static_psm(searched: pd.DataFrame, judged: pd.DataFrame) -> str:
    """Return whether a setting agrees with both papers on static PSM.

    Parameters
    ----------
    searched, judged : DataFrame
        Scores on the choosing seed (at least one row), and on the judging seeds.
    """
    published = {each.key: each for paper in ("lpsm", "bsd") for each in judged_numbers(paper)}
    ratios = searched["page_time"][_agree_on(searched, STATIC)]
    slowdowns = searched["slowdown"][_agree_on(searched, LEARNED)]
    both = searched["label"][_agree_on(searched, STATIC, LEARNED)]
    again = judged[judged["label"].isin(both)]
    verdict = "A setting agrees" if _agree_on(again, STATIC, LEARNED).any() else "No setting agrees"
    text = (
        f"{verdict} with both papers on static PSM on judging seeds. On the choosing seed static PSM has its"
        f" published slowdown ({published[STATIC]}) in {len(ratios)} of {len(searched)} settings. LPSM with"
        f" 1/log T then takes {_range(ratios)} times its page time ({published[LEARNED]} published). This"
        f" page time agrees in {len(slowdowns)} settings. The slowdown is then {_range(slowdowns)}."
    )
    for each in again.to_dict("records"):
        text += (
            f" Both agree with {each['label']}. On judging seeds this setting has a slowdown of"
            f" {each['slowdown']:.2f} and a page time of {each['page_time']:.2f}."
        )
    return text


def _range(values: pd.Series[float]) -> str:
    return "unknown" if values.empty else f"{values.min():.2f} to {values.max():.2f}"


def _by_choice(searched: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {"choice": key, "value": value, "best": _count(_best(scores))}
        for key in KEYS
        for value, scores in searched.groupby(key, sort=False)
    )


def _by_delay(searched: pd.DataFrame) -> pd.DataFrame:
    keys = ["server_delay_ms", "main_delay_ms"]
    return pd.DataFrame(
        {
            **dict(zip(keys, delays, strict=True)),
            "slowdown of psm": _range(scores["slowdown"]),
            "page time of LPSM / psm": _range(scores["page_time"]),
            "best (LPSM + BSD)": _count(_best(scores)),
        }
        for delays, scores in searched.groupby(keys, sort=False)
    )


def _points(searched: pd.DataFrame, frontier: pd.DataFrame) -> pd.DataFrame:
    points = searched[["lpsm", "bsd"]].assign(frontier=searched.index.isin(frontier.index))
    return points.assign(setting=searched["label"])
