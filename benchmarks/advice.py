"""Advice of all chips: does an answer name the cheaper setting just beyond the bound?

``python benchmarks/advice.py`` asks ``advise`` for every chip profile, DTIM periods 1, 3 and 10 and bounds
of 100, 300 and 1000 ms. It prints each answer that draws more than ten times the current of a setting that is
at most 25 % beyond the bound, and whether the answer names one that draws no more than ten times as much. It
also prints the CPU time of the answers.
"""

from __future__ import annotations

import argparse
import io
import json
import resource
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from psm_sim.cli import main as psm_sim
from psm_sim.network.chip_profiles import profile_names

DTIM_PERIODS, BOUNDS_MS = (1, 3, 10), (100, 300, 1000)
BEYOND, TIMES = 1.25, 10


def advice_on(profile: str, dtim: int, bound_ms: int, traffic: str) -> dict[str, Any]:
    """Return the advice as in its JSON."""
    options = f"--profile {profile} --dtim {dtim} --latency {bound_ms}ms --traffic {traffic}"
    with redirect_stdout(io.StringIO()) as text:
        if psm_sim(["advise", *options.split(), "--workers", "1", "--format", "json"]):
            raise SystemExit(options)
    values: dict[str, Any] = json.loads(text.getvalue())
    return values


def ratios(advice: dict[str, Any]) -> tuple[float, float]:
    """Return the power of the selected setting, and of the best named one, relative to the best near one."""
    delay = "p99_latency_s" if "p99_latency_s" in advice["rows"][0] else "page_time_added_s"
    rows = [row for row in advice["rows"] if row["verdict"] != "loses messages"]
    near = [row["mean_power_w"] for row in rows if row[delay] <= BEYOND * advice["max_latency_s"]]
    named = [row["mean_power_w"] for row in rows if f"{row['setting'].lower()} " in advice["answer"].lower()]
    best = [row["mean_power_w"] for row in rows if row["setting"] == advice["best"]]
    return max(best, default=np.nan) / min(near, default=np.nan), min(named) / min(near, default=np.nan)


def cpu_s() -> float:
    """Return the CPU time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print one line for each costly answer, and the CPU times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traffic", default="mqtt")
    parser.add_argument("--profile", nargs="*", default=profile_names())
    args = parser.parse_args()
    times_s, costly, silent = [], 0, 0
    for profile in args.profile:
        for dtim in DTIM_PERIODS:
            for bound_ms in BOUNDS_MS:
                start_s = cpu_s()
                advice = advice_on(profile, dtim, bound_ms, args.traffic)
                times_s.append(cpu_s() - start_s)
                best, named = ratios(advice)
                costly, silent = costly + (best > TIMES), silent + (named > TIMES)
                if best > TIMES or times_s[-1] > 10:
                    print(
                        f"{profile}, DTIM {dtim}, {bound_ms} ms: {advice['best']} {best:.3g} times,"
                        f" named {named:.3g} times, {times_s[-1]:.1f} s",
                        flush=True,
                    )
    print(
        f"{len(times_s)} answers: {costly} draw more than {TIMES} times a setting near the bound, {silent} of"
        f" them without naming one. CPU time: median {np.median(times_s):.1f} s, maximum {max(times_s):.1f} s"
    )


if __name__ == "__main__":
    main()
