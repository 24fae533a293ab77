"""Numbers of the bar charts: energy by radio state and slowdown of each policy, with the published values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from psm_sim.lab.studies.published import PublishedNumber, published_numbers
from psm_sim.summary_stats import confidence_interval


def mean_energy_by_state(frame: pd.DataFrame, best: Sequence[float], study: str) -> pd.DataFrame:
    """Return the joules per page of each policy by radio state, beside what was published.

    Parameters
    ----------
    frame
        The runs, one row per policy and replication, with ``awake_j``, ``asleep_j`` and ``beacons_j``.
    best
        Hindsight's least energy without delay in J per page, one per replication.
    study
        The study whose published numbers are added: ``published_j`` and ``published_beacons_j``, and the
        ends of a published range, ``published_low_j`` and ``published_high_j``; nan where there are none.
    """
    states = ["awake_j", "asleep_j", "beacons_j"]
    bars = frame.groupby("policy", sort=False)[states].mean().reset_index()
    known = _known(study)
    psm_j = float(bars.loc[bars["policy"] == "psm", states].to_numpy().sum())
    saved = [known.get((policy, "energy_saved")) for policy in bars["policy"]]
    return bars.assign(
        hindsight_j=confidence_interval(best).mean,
        published_j=_values(bars, known, "energy_j"),
        published_beacons_j=_values(bars, known, "beacons_j"),
        published_low_j=[psm_j * (1 - each.high) if each and each.high else np.nan for each in saved],
        published_high_j=[psm_j * (1 - each.low) if each and each.low else np.nan for each in saved],
    )


def slowdown_numbers(frame: pd.DataFrame, study: str) -> pd.DataFrame:
    """Return the slowdown of each policy, and its page times over static PSM's beside the published ones.

    *frame* has the runs, one row per policy and replication; *study* names the published numbers.
    """
    rows = []
    for policy, group in frame.groupby("policy", sort=False):
        slowdown, over_psm = (
            confidence_interval(group["slowdown"]),
            confidence_interval(group["page_ratio_mean"]),
        )
        rows.append({
            "policy": policy,
            "slowdown": slowdown.mean,
            "half_width": slowdown.half_width,
            "over_psm": over_psm.mean,
            "over_psm_half_width": over_psm.half_width,
        })  # fmt: skip
    bars = pd.DataFrame(rows)
    return bars.assign(published=_values(bars, _known(study), "page_ratio_mean"))


def _known(study: str) -> dict[tuple[str, str], PublishedNumber]:
    return {(number.policy, number.quantity): number for number in published_numbers(study)}


def _values(bars: pd.DataFrame, known: dict[tuple[str, str], PublishedNumber], quantity: str) -> list[float]:
    found = [known.get((policy, quantity)) for policy in bars["policy"]]
    return [np.nan if each is None or each.value is None else each.value for each in found]
