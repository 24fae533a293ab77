"""Numbers of the bar charts: energy by radio state of each policy."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.estimates import interval


def mean_states(frame: pd.DataFrame, best: Sequence[float]) -> pd.DataFrame:
    """Return the joules per page of each policy by radio state, and hindsight's best without delay.

    *frame* has one row per policy and replication, *best* hindsight's joules per page in each replication.
    """
    states = ["awake_j", "asleep_j", "beacons_j"]
    bars = frame.groupby("policy", sort=False)[states].mean().reset_index()
    return bars.assign(hindsight_j=interval(best).mean)
