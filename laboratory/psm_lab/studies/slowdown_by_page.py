"""Study of each page's slowdown against its time without power saving (thesis, figure 2-8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from psm_lab.studies.published_claims import study_texts
from psm_lab.studies.published_experiment_runs import LONG_PAGE_SHARE, PRESETS
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task, comparison_task
from psm_sim.simulation import Scenario
from psm_sim.simulation.preset import load_preset

POLICIES = ("psm", "bsd:p=1", "bsd:p=0.5", "lpsm:loss=inverse-log", "lpsm:loss=inverse")
BANDS = {"under 1 s": 1.0, "1 to 2 s": 2.0, "2 to 3 s": 3.0, "over 3 s": np.inf}
"""Upper limit of each band of page times in seconds."""


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one comparison of every policy under the headline preset."""
    preset = load_preset(PRESETS[0])
    policies = tuple(preset.policy_spec(policy) for policy in ("always-on", *POLICIES))
    trace, pages = preset.trace_spec(), scale.long_pages
    return [comparison_task(policies, Scenario(trace, pages=pages, seed=seed, settings=preset.settings))]


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return slowdowns by page, and their means by page time."""
    always_on, *runs = (np.array(row["page_times_s"]) for row in rows.of("run"))
    slowdowns = pd.DataFrame({policy: run / always_on for policy, run in zip(POLICIES, runs, strict=True)})
    tenth = round(LONG_PAGE_SHARE * len(slowdowns))
    order = np.argsort(always_on, kind="stable")
    shortest, longest = (slowdowns.iloc[part].mean() for part in (order[:tenth], order[-tenth:]))
    texts = [f"{policy} {shortest[policy]:.2f} and {longest[policy]:.2f}" for policy in POLICIES]
    return Findings(
        **study_texts("slowdown-by-page"),
        setting=f"preset {PRESETS[0]}, {scale.long_pages} pages, seed {seed}",
        remarks=[f"Mean slowdown of the shortest and of the longest tenth of the pages: {', '.join(texts)}."],
        tables=[Table("Mean slowdown by page time without power saving", _bands(slowdowns, always_on))],
        presets=[load_preset(PRESETS[0])],
        figures={
            "pages": slowdowns.assign(always_on_time_s=always_on).melt(
                "always_on_time_s", var_name="policy", value_name="slowdown"
            )
        },
    )


def _bands(slowdowns: pd.DataFrame, always_on_s: NDArray[np.float64]) -> pd.DataFrame:
    bands = pd.Series(pd.cut(always_on_s, [0.0, *BANDS.values()], labels=list(BANDS)))
    means = slowdowns.groupby(bands, observed=True).mean().map("{:.2f}".format)
    counts = bands.value_counts()
    columns = {band: f"{band} ({counts[band]} pages)" for band in BANDS}
    return means.T.rename(columns=columns).rename_axis("policy").reset_index()
