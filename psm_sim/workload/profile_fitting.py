"""Fitting of a trace profile to a recording, in the format of ``traces/ucb.toml``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.formatting import pluralize
from psm_sim.common.output_files import atomic_write_text
from psm_sim.common.parameters import parameters_of
from psm_sim.workload.distributions import QuantileDistribution
from psm_sim.workload.page_sampler import PageSampling
from psm_sim.workload.recordings.recording import PageRecording
from psm_sim.workload.trace_profile import REQUIRED_KEYS, Profile, berkeley_profile

PROBABILITIES = np.array(
    [0, 0.01, 0.02, *np.arange(1, 19) / 20, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 1]
)
"""Cumulative probabilities of the fitted quantiles, as in the published tables."""


def fit_profile(recording: PageRecording, name: str, clients: NDArray[np.intp] | None = None) -> Profile:
    """Fit a profile to the pages of the clients with the indices *clients*, or of all clients.

    Main and embedded objects have separate tables. Tables for missing quantities are copied from the
    published Berkeley tables, and the remark of the profile lists them. The UCB format, for example, has no
    request sizes, and a single page has no think time. *name* becomes the name of the profile.
    """
    pages = (
        np.ones(recording.pages, dtype=bool) if clients is None else np.isin(recording.page_client, clients)
    )
    counts, is_main = recording.objects_per_page, recording.is_main
    selected = np.repeat(pages, counts)
    think_s, delays_us = recording.think_s[pages], recording.delay_us[selected]
    requests = recording.request_bytes
    samples: dict[str, NDArray[Any]] = {
        "main_bytes": recording.size[is_main & selected],
        "image_bytes": recording.size[~is_main & selected],
        "think_s": think_s[~np.isnan(think_s)],
        "request_bytes": np.empty(0) if requests is None else requests[selected & (requests > 0)],
        "server_delay_s": delays_us[delays_us >= 0] / 1e6,
    }
    tables, missing = {"files_per_page": exact_quantiles(counts[pages])}, []
    for table, values in samples.items():
        if values.size:
            tables[table] = fit_quantiles(values)
        elif table == "image_bytes":
            tables[table] = tables["main_bytes"]
        elif table in REQUIRED_KEYS:
            tables[table] = berkeley_profile().tables[table]
            missing.append(table)
    count = pluralize(int(pages.sum()), "page")
    remark = f"synthetic pages, sampled from distributions fitted to {count} of {name}"
    if missing:
        remark += f"; {' and '.join(missing)} from published tables, because the trace lacks them"
    # Disable the limit of think times if every think time exceeds the default limit.
    limit_s = parameters_of(PageSampling)["max_think_s"].default
    defaults = {"max_think_s": "none"} if tables["think_s"].probability(limit_s) == 0 else {}
    return Profile(name, remark, True, recording.format, tables, defaults)


def fit_quantiles(values: NDArray[Any]) -> QuantileDistribution:
    """Return the distribution of *values*, with the interpolation whose mean is closest to theirs."""
    values = np.asarray(values, dtype=float)
    points = np.quantile(values, PROBABILITIES)
    tables = [QuantileDistribution(PROBABILITIES, points, "linear")]
    # Heavy tails are closer to a straight line in log(value), which requires values above 0.
    if points[0] > 0:
        tables.append(QuantileDistribution(PROBABILITIES, points, "log"))
    return min(tables, key=lambda table: abs(table.mean - values.mean()))


def exact_quantiles(counts: NDArray[np.int64]) -> QuantileDistribution:
    """Return the empirical distribution of integers as a step function."""
    values, times = np.unique(counts, return_counts=True)
    probabilities = np.cumsum(times) / counts.size
    probabilities[-1] = 1.0
    return QuantileDistribution(probabilities, values.astype(float), "step")


def write_profile(path: Path, profile: Profile) -> None:
    """Write a profile as TOML. :func:`~psm_sim.workload.trace_profile.read_profile` returns equal tables."""
    facts = {"name": profile.name, "remark": profile.remark, "source": profile.source}
    text = "".join(f"{key} = {_quote(value)}\n" for key, value in facts.items())
    text += f"synthetic = {str(profile.synthetic).lower()}\n"
    if profile.defaults:
        text += "\n[parameters]\n" + "".join(
            f"{key} = {_quote(value)}\n" for key, value in profile.defaults.items()
        )
    for name, table in profile.tables.items():
        points = zip(table.probabilities.tolist(), table.values.tolist(), strict=True)
        rows = "".join(f"  [{p!r}, {value!r}],\n" for p, value in points)
        text += f'\n[{name}]\ninterpolation = "{table.interpolation}"\nquantiles = [\n{rows}]\n'
    atomic_write_text(path, text)


def _quote(text: str) -> str:
    # Undecodable bytes of a file name are surrogates in Python. TOML has neither these nor a plain DEL.
    text = text.encode("utf-8", "backslashreplace").decode()
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
