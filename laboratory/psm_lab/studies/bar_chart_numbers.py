"""Data of the bar charts: energy by radio state, slowdown, and published values of each policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from psm_lab.studies.published_claims import PublishedNumber, published_numbers
from psm_sim.common.summary_stats import confidence_interval


def mean_energy_by_state(frame: pd.DataFrame, best: Sequence[float], study: str) -> pd.DataFrame:
    """Return the mean energy of each policy by radio state, with the published values, in J per page.

    The result has the published energies as ``published_j`` and ``published_beacons_j``, and the ends of a
    published range of savings as ``published_low_j`` and ``published_high_j``. Missing values are NaN.

    Parameters
    ----------
    frame : DataFrame
        Runs, one row per policy and replication, with ``awake_j``, ``asleep_j`` and ``beacons_j``.
    best : sequence of float
        Energy of the offline optimum without delay in J per page, one value per replication.
    study : str
        Study whose published numbers are added.
    """
    states = ["awake_j", "asleep_j", "beacons_j"]
    bars = frame.groupby("policy", sort=False)[states].mean().reset_index()
    published = _published_by_key(study)
    psm_j = float(bars.loc[bars["policy"] == "psm", states].to_numpy().sum())
    saved = [published.get((policy, "energy_saved")) for policy in bars["policy"]]
    return bars.assign(
        hindsight_j=confidence_interval(best).mean,
        published_j=_values(bars, published, "energy_j"),
        published_beacons_j=_values(bars, published, "beacons_j"),
        published_low_j=[psm_j * (1 - number.high) if number and number.high else np.nan for number in saved],
        published_high_j=[psm_j * (1 - number.low) if number and number.low else np.nan for number in saved],
    )


def slowdown_numbers(frame: pd.DataFrame, study: str) -> pd.DataFrame:
    """Return each policy's slowdown and its page time relative to static PSM, with the published ratios.

    *frame* has the runs, one row per policy and replication. *study* names the study whose published
    numbers are added.
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
    return bars.assign(published=_values(bars, _published_by_key(study), "page_ratio_mean"))


def _published_by_key(study: str) -> dict[tuple[str, str], PublishedNumber]:
    return {(number.policy, number.quantity): number for number in published_numbers(study)}


def _values(
    bars: pd.DataFrame, published: dict[tuple[str, str], PublishedNumber], quantity: str
) -> list[float]:
    numbers = [published.get((policy, quantity)) for policy in bars["policy"]]
    return [np.nan if number is None or number.value is None else number.value for number in numbers]
