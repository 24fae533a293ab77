"""Scores of settings by the published numbers of LPSM and Bounded Slowdown with which they agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from psm_sim.campaign.comparison_task import add_ratios
from psm_sim.campaign.task_runner import Row
from psm_sim.lab.studies.one_setting.task import UPLINKS
from psm_sim.lab.studies.published_claims import Claim, claim_of, published_numbers
from psm_sim.lab.studies.published_experiment_runs import BSD, values_of, with_long_pages
from psm_sim.simulation.preset import Preset

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
