"""JSON output of an advice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim import __version__
from psm_sim.campaign.advice_text import answer, assumptions
from psm_sim.reporting.files.result_json import to_text

if TYPE_CHECKING:
    from psm_sim.campaign.advice import Advice, Row


_MEASURES = (
    "energy_per_page_j",
    "mean_current_ma",
    "battery_days",
    "page_time_s",
    "slowdown",
    "latency",
)
"""Keys of a result that a row has as well."""


def to_dict(advice: Advice, driver: str) -> dict[str, Any]:
    """Return the advice as plain values. Arguments as for :func:`write`."""
    comparison = advice.comparison
    return {
        "psm_sim": __version__,
        **comparison.facts,
        "settings": comparison.settings,
        "pages": comparison.pages,
        "replications": advice.replications,
        "driver": driver,
        "max_latency_s": advice.max_latency_s,
        "answer": " ".join(answer(advice)),
        "best": None if advice.best is None else advice.best.setting.name,
        "tied": [row.setting.name for row in advice.tied],
        "rows": [_row(advice, row) for row in advice.rows],
        "assumptions": assumptions(advice, driver),
    }


def _row(advice: Advice, row: Row) -> dict[str, Any]:
    result, setting = row.result, row.setting
    delay = "page_time_added_s" if advice.has_pages else "p99_latency_s"
    missing = {} if math.isnan(row.missing) else {"missing": row.missing}
    share = setting.dtim_share(advice.comparison.resolved_topology.beacon.dtim_period)
    return {
        "setting": setting.name,
        "policy": setting.policy,
        "driver_calls": list(setting.calls),
        "is_default": setting.is_default,
        "needs_new_driver": setting.is_new,
        "rank": row.rank or None,
        "verdict": row.verdict.value,
        delay: row.delay_s.mean,
        "half_width_95": {delay: row.delay_s.half_width},
        "mean_power_w": row.power_w,
        "group_frames_share": share,
        **missing,
        **{key: value for key, value in result.to_dict().items() if key in _MEASURES},
    }


def write(advice: Advice, driver: str, stream: TextIO) -> None:
    """Write an *advice* for a *driver* to *stream* as one JSON object."""
    stream.write(to_text(to_dict(advice, driver)))
