"""Advice of all chips: does an answer name a cheaper setting just beyond the bound?

``python benchmarks/advice.py`` asks ``advise`` for every chip profile, DTIM periods 1, 3 and 10 and bounds of
100, 300 and 1000 ms, without the policies that need a new driver. It counts the answers that draw more than
ten times the current of a setting that is at most 25 % beyond the bound, and those that do not name one that
draws at most ten times as much. It prints each of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

from psm_sim.campaign.advice import Advice, DelayVerdict, advise, choose, verdict_of
from psm_sim.campaign.driver_settings import NEW_DRIVER, settings_of
from psm_sim.network.chip_profiles import load_profile, profile_names
from psm_sim.reporting.advice_sentences import answer
from psm_sim.simulation import Scenario
from psm_sim.simulation.preset import present_network

DTIM_PERIODS, BOUNDS_S = (1, 3, 10), (0.1, 0.3, 1.0)
BEYOND, TIMES = 1.25, 10


def advices(profile: str, dtim_period: int, traffic: str) -> Iterator[Advice]:
    """Yield the advice for each bound."""
    keys = {**present_network(profile, {}), "beacon.dtim_period": dtim_period}
    scenario, chip = Scenario(traffic, pages=1, settings=keys, profile=profile), load_profile(profile)
    beacon = scenario.resolve_topology().beacon
    settings = settings_of(chip.driver or "generic", beacon, has_twt=chip.has_twt)
    advice = advise([each for each in settings if each.needs != NEW_DRIVER], scenario, workers=1)
    for bound_s in BOUNDS_S:
        rows = [
            row
            if row.verdict is DelayVerdict.LOSES
            else replace(row, verdict=verdict_of(row.delay_s, bound_s))
            for row in advice.rows
        ]
        choice = choose([replace(row, rank=0) for row in rows], dtim_period, bound_s)
        yield Advice(**vars(choice), comparison=advice.comparison, max_latency_s=bound_s)


def ratios(advice: Advice) -> tuple[float, float]:
    """Return the power of the selected setting, and of the best named one, relative to the best near one."""
    text = " ".join(answer(advice)).lower()
    bound_s = (advice.max_latency_s or 0.0) * BEYOND
    rows = [row for row in advice.rows if row.verdict is not DelayVerdict.LOSES]
    near_w = min(row.power_w for row in rows if row.delay_s.mean <= bound_s or row is advice.nearest)
    named_w = min(row.power_w for row in rows if f"{row.setting.name.lower()} " in text or row is advice.best)
    return (advice.best.power_w if advice.best else 0.0) / near_w, named_w / near_w


def main() -> None:
    """Print the costly answers, and how many there are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traffic", default="mqtt")
    parser.add_argument("--profile", nargs="*", default=profile_names())
    args = parser.parse_args()
    count = costly = silent = 0
    for profile in args.profile:
        for dtim_period in DTIM_PERIODS:
            for advice in advices(profile, dtim_period, args.traffic):
                best, named = ratios(advice)
                count, costly, silent = count + 1, costly + (best > TIMES), silent + (named > TIMES)
                if best > TIMES:
                    where = f"{profile}, DTIM {dtim_period}, {1000 * (advice.max_latency_s or 0):g} ms"
                    print(f"{where}: selected {best:.3g} times, named {named:.3g} times", flush=True)
    print(f"{count} answers: {costly} select more than {TIMES} times, {silent} name no better one")


if __name__ == "__main__":
    main()
