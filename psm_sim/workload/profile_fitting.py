"""Fit of a trace profile to a recording: its quantiles, in the form of ``traces/ucb.toml``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.array_types import FloatArray
from psm_sim.files.atomic_file import atomic_write_text
from psm_sim.parameters import parameters_of
from psm_sim.workload.page_sampling import PageSampling
from psm_sim.workload.quantile_distribution import QuantileDistribution
from psm_sim.workload.recordings.recording import Recording
from psm_sim.workload.trace_profile import Profile, berkeley_profile

PROBABILITIES = np.array(
    [0, 0.01, 0.02, *np.arange(1, 19) / 20, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 1]
)
"""The cumulative probabilities at which quantiles are taken: those of the published tables."""


def fit_profile(recording: Recording, name: str, clients: NDArray[np.intp] | None = None) -> Profile:
    """Fit a profile to the pages of some clients, or of all.

    Main and embedded objects have tables of their own; think times and server delays are those in the
    recording. What it does not hold at all (requests in the UCB format, think times of a single page) is
    taken from the published Berkeley tables, and the remark says so.

    Parameters
    ----------
    recording : Recording
        The recorded pages.
    name : str
        The name of the profile, usually the file's.
    clients : ndarray, shape (k,), optional
        The indices of the clients whose pages count; all by default.
    """
    pages = (
        np.ones(recording.pages, dtype=bool) if clients is None else np.isin(recording.page_client, clients)
    )
    counts = recording.objects_per_page
    kept = np.repeat(pages, counts)
    is_main = np.zeros(recording.size.size, dtype=bool)
    is_main[recording.first[:-1]] = True
    tables = {
        "files_per_page": exact_quantiles(counts[pages]),
        "main_bytes": fit_quantiles(recording.size[is_main & kept]),
    }
    images = recording.size[~is_main & kept]
    tables["image_bytes"] = fit_quantiles(images) if images.size else tables["main_bytes"]
    borrowed = _borrow(tables, recording, pages, kept)
    remark = f"synthetic pages, drawn from distributions fitted to {int(pages.sum())} pages of {name}"
    if borrowed:
        remark += f"; {' and '.join(borrowed)} from published tables, as the trace does not tell"
    return Profile(name, remark, True, tables, recording.format, _defaults(tables["think_s"]))


def _defaults(think_s: QuantileDistribution) -> dict[str, str]:
    """Return the parameters that the profile needs: no limit where every think time is over the usual one."""
    limit = parameters_of(PageSampling)["max_think_s"].default
    return {"max_think_s": "none"} if think_s.probability(limit) == 0 else {}


def fit_quantiles(values: NDArray[Any]) -> QuantileDistribution:
    """Return the quantiles of some numbers, with the interpolation that keeps their mean best."""
    values = np.asarray(values, dtype=float)
    points = np.quantile(values, PROBABILITIES)
    tables = [QuantileDistribution(PROBABILITIES, points, "linear")]
    # A heavy tail is closer to a straight line in log(value), which a value of 0 does not have.
    if points[0] > 0:
        tables.append(QuantileDistribution(PROBABILITIES, points, "log"))
    return min(tables, key=lambda table: abs(table.mean - values.mean()))


def exact_quantiles(counts: NDArray[np.int64]) -> QuantileDistribution:
    """Return the exact distribution of whole numbers, as steps."""
    values, times = np.unique(counts, return_counts=True)
    probabilities = np.cumsum(times) / counts.size
    probabilities[-1] = 1.0
    return QuantileDistribution(probabilities, values.astype(float), "step")


def write_profile(path: Path, profile: Profile) -> None:
    """Write a profile that reads back to equal tables."""
    facts = {"name": profile.name, "remark": profile.remark, "source": profile.source}
    text = "".join(f"{key} = {_quoted(value)}\n" for key, value in facts.items())
    text += f"synthetic = {str(profile.synthetic).lower()}\n"
    if profile.defaults:
        text += "\n[parameters]\n" + "".join(
            f"{key} = {_quoted(value)}\n" for key, value in profile.defaults.items()
        )
    for name, table in profile.tables.items():
        points = zip(table.probabilities.tolist(), table.values.tolist(), strict=True)
        rows = "".join(f"  [{p!r}, {value!r}],\n" for p, value in points)
        text += f'\n[{name}]\ninterpolation = "{table.interpolation}"\nquantiles = [\n{rows}]\n'
    atomic_write_text(path, text)


def _borrow(
    tables: dict[str, QuantileDistribution],
    recording: Recording,
    pages: NDArray[np.bool_],
    kept: NDArray[np.bool_],
) -> list[str]:
    """Add the tables that a recording can lack, and return the names of those taken from elsewhere."""
    borrowed = []
    think = recording.think_s[pages]
    known: dict[str, FloatArray] = {"think_s": think[~np.isnan(think)]}
    known["request_bytes"] = np.empty(0)
    if recording.request_bytes is not None:
        requests = recording.request_bytes[kept]
        known["request_bytes"] = requests[requests > 0].astype(float)
    for name, values in known.items():
        if values.size:
            tables[name] = fit_quantiles(values)
        else:
            tables[name] = berkeley_profile().tables[name]
            borrowed.append(name)
    delays = recording.delay_us[kept]
    if (delays >= 0).any():
        tables["server_delay_s"] = fit_quantiles(delays[delays >= 0] / 1e6)
    return borrowed


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else _code(c) for c in escaped) + '"'


def _code(character: str) -> str:
    # TOML has no surrogates, by which Python stands for the bytes of a name that is no UTF-8.
    number = ord(character)
    return f"\\\\x{number & 0xFF:02x}" if 0xD800 <= number < 0xE000 else f"\\U{number:08x}"
