"""Study of each page's slowdown against its time without power saving (thesis, figure 2-8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from psm_lab.studies.published_experiment_runs import MAX_PAGES, PRESETS
from psm_lab.studies.study import Findings, Scale, Study, Table
from psm_lab.studies.tasks import Rows, RunTask, Task
from psm_sim.simulation.preset import load_preset
from psm_sim.simulation.scenario import Scenario

POLICIES = ("psm", "bsd:p=1", "bsd:p=0.5", "lpsm:loss=inverse-log", "lpsm:loss=inverse")
COMMENTARY = (
    'The published "negligible slowdown for longer transfers" is judged in lpsm-100, on the longest tenth.',
    "Under this preset replies take 0.8 s, and the transfer of the bytes takes almost no time.",
)
BANDS_S = (0.0, 1.0, 2.0, 3.0, np.inf)


class SlowdownByPage(Study):
    """One run of every policy under the headline preset, page by page."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one comparison with *seed*; *scale* as for :class:`Study`."""
        preset = load_preset(PRESETS[0])
        policies = tuple(preset.policy_spec(policy) for policy in ("always-on", *POLICIES))
        trace, pages = preset.trace_spec(), scale.long_pages
        return [RunTask(policies, Scenario(trace, pages=pages, seed=seed, settings=preset.settings))]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return slowdowns by page, and their means by page time; arguments as for :class:`Study`."""
        by_policy = {row["policy"]: row["page_times_s"] for row in rows.of("run")}
        preset = load_preset(PRESETS[0])
        reference = np.array(by_policy["always-on"])
        pages = pd.concat(
            pd.DataFrame(
                {
                    "policy": policy,
                    "always_on_time_s": reference,
                    "slowdown": np.array(by_policy[str(preset.policy_spec(policy))]) / reference,
                }
            )
            for policy in POLICIES
        )
        return Findings(
            "slowdown-by-page",
            "Slowdown of each page against its time without power saving (figure 2-8)",
            f"preset {preset.name}, {scale.long_pages} pages, seed {seed}",
            remarks=_tenths_remark(pages),
            commentary=COMMENTARY,
            tables=[Table("Mean slowdown by page time without power saving", _bands(pages))],
            presets=[preset],
            figures={"pages": pages},
        )


def _bands(pages: pd.DataFrame) -> pd.DataFrame:
    names = ["under 1 s", "1 to 2 s", "2 to 3 s", "over 3 s"]
    band = pd.cut(pages["always_on_time_s"], BANDS_S, labels=names)
    means = pages.groupby(["policy", band], sort=False, observed=True)["slowdown"].mean().unstack()
    counts = (band[pages["policy"] == POLICIES[0]]).value_counts()
    table = means.reindex(columns=[name for name in names if name in means]).map("{:.2f}".format)
    table.columns = [f"{name} ({counts[name]} pages)" for name in table.columns]
    return table.reset_index()


def _tenths_remark(pages: pd.DataFrame) -> list[str]:
    """Return a remark that compares the slowdown of the longest and the shortest tenth of the pages."""
    order = pages.groupby("policy", sort=False)["always_on_time_s"].rank(method="first", pct=True)
    means = {tenth: pages[mask].groupby("policy")["slowdown"].mean() for tenth, mask in (
        ("shortest", order <= MAX_PAGES), ("longest", order > 1 - MAX_PAGES))}  # fmt: skip
    texts = [f"{name} {means['shortest'][name]:.2f} and {means['longest'][name]:.2f}" for name in POLICIES]
    return [f"Mean slowdown of the shortest and of the longest tenth of the pages: {', '.join(texts)}."]


STUDY = SlowdownByPage()
