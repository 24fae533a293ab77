"""Which interpolation between published quantiles gives back the published means.

Run ``python benchmarks/interpolation.py``. It prints, for each table of ``traces/ucb.toml``, the mean under
linear and log-linear interpolation beside the published one: the measurement behind the file's choices.
"""

from __future__ import annotations

from dataclasses import replace

from psm_sim.common.input_files import bundled_dir
from psm_sim.workload.distributions import QuantileDistribution
from psm_sim.workload.trace_profile import read_profile

THINK = ((60, 14.4), (300, 29.2), (1000, 52.9), (3600, 105.0))
"""Limits in seconds, and the published means of the think times up to them (Mah 1997)."""


def main() -> None:
    """Print the comparison."""
    tables = read_profile(bundled_dir("traces") / "ucb.toml").tables
    print(f"{'mean of':<28}{'published':>10}{'linear':>10}{'log':>10}  chosen")
    for name, published in (("reply_bytes", 7231.0), ("request_bytes", 337.0), ("think_s", 1804.0)):
        _row(name, published, tables[name], None)
    for limit, published in THINK:
        _row(f"think_s up to {limit} s", published, tables["think_s"], limit)


def _row(words: str, published: float, table: QuantileDistribution, limit: float | None) -> None:
    means = []
    for interpolation in ("linear", "log"):
        other = replace(table, interpolation=interpolation)
        upto = 1.0 if limit is None else other.probability(limit)
        means.append(float(other.integral(upto)) / upto)
    print(f"{words:<28}{published:>10.4g}{means[0]:>10.5g}{means[1]:>10.5g}  {table.interpolation}")


if __name__ == "__main__":
    main()
