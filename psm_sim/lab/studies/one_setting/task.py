"""Settings of the search, and the task that runs every policy in a setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, ClassVar

from psm_sim.campaign.comparison_task import RunTask
from psm_sim.campaign.task_runner import Row
from psm_sim.common.component_spec import Spec
from psm_sim.common.hashing import digest_of
from psm_sim.lab.studies.published_experiment_runs import BSD, LPSM
from psm_sim.lab.studies.study import CHOOSING
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
