"""Energy and delay of ``anticipate`` on every kind of pages and every radio of the benchmark.

``python benchmarks/anticipate.py`` runs it at several prices, static PSM and LPSM with the judging seeds,
and writes the means and the picture of README. No parameter of ``anticipate`` was chosen on these seeds; the
default price of 0.25 was chosen on seeds 1 to 3, 501, 601 and 602. ``--draw`` draws the stored means.
"""

from __future__ import annotations

import argparse
import csv
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

from psm_sim.campaign.benchmark.cases import radio_settings
from psm_sim.common.csv_output import write_csv
from psm_sim.common.input_files import bundled_dir
from psm_sim.reporting.figures.canvas import add_legend, new_figure, save_picture
from psm_sim.reporting.style import MARKERS, series_style
from psm_sim.simulation import Scenario, run_comparison

STEM = Path(__file__).parents[1] / "docs/pictures/pages-by-radio"
SEEDS = range(70001, 70011)
PAGES = {"ucb": 40, "shifting": 150, "modern": 5, "recorded": 5}
TITLES = {
    "ucb": "pages of 1996 (ucb)",
    "shifting": "short pages (shifting)",
    "modern": "pages of today (modern)",
    "recorded": "five recorded pages",
}
RADIOS = ("three-node", "esp32-c3", "cyw43439", "nrf7002")
LABELS = {"three-node": "published card"}
PRICES = (0.1, 0.25, 1, 10)
POLICIES = ("psm", "lpsm", *(f"anticipate:price={price:g}" for price in PRICES))
COLUMNS = ("pages", "radio", "seed", "policy", "energy_j", "slowdown")

ENERGY_TICKS = (0.1, 0.2, 0.5, 1, 2)


def run(case: tuple[int, str, str]) -> list[tuple[object, ...]]:
    """Return a row per policy."""
    seed, pages, radio = case
    trace = str(bundled_dir("traces") / "recorded.har.gz") if pages == "recorded" else pages
    chip = {} if radio == "three-node" else radio_settings(radio)
    scenario = Scenario(trace, "modern" if chip else radio, PAGES[pages], seed, chip)
    return [
        (pages, radio, seed, policy, result.energy_per_page_j, result.slowdown.mean)
        for policy, result in zip(POLICIES, run_comparison(POLICIES, scenario).runs, strict=True)
    ]


def stored() -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return the mean energy in J per page and the mean slowdown by pages, radio and policy."""
    pairs: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    with STEM.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = row["pages"], row["radio"], row["policy"]
            pairs.setdefault(key, []).append((float(row["energy_j"]), float(row["slowdown"])))
    return {key: tuple(np.mean(rows, axis=0).tolist()) for key, rows in pairs.items()}


def draw(rows: list[tuple[object, ...]]) -> None:
    """Write the rows, then draw their means: a line over the prices per radio, and a mark for LPSM."""
    with STEM.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        write_csv(file, COLUMNS, rows)
    figure, panels = new_figure(2, 2, 7.2, 6.0)
    means = stored()
    for panel, pages in zip(panels, PAGES, strict=True):
        for index, radio in enumerate(RADIOS):
            colour = series_style(index).colour
            psm_j, psm_slowdown = means[pages, radio, "psm"]
            curve = np.array([means[pages, radio, policy] for policy in POLICIES[2:]])
            label = LABELS.get(radio, radio)
            panel.plot(curve[:, 0] / psm_j, curve[:, 1], marker=MARKERS[0], color=colour, label=label)
            lpsm_j, lpsm_slowdown = means[pages, radio, "lpsm"]
            panel.plot(lpsm_j / psm_j, lpsm_slowdown, MARKERS[1], color=colour)
            panel.plot(1, psm_slowdown, "x", color=colour)
        panel.set_title(TITLES[pages])
        panel.set_xscale("log")
        panel.set_xticks(ENERGY_TICKS, map(str, ENERGY_TICKS))
        panel.minorticks_off()
        panel.set_xlabel("energy relative to static PSM")
        panel.set_ylabel("slowdown")
    add_legend(
        figure, panels[0], "dots: anticipate at prices 0.1, 0.25, 1 and 10; square: LPSM; cross: static PSM"
    )
    save_picture(figure, STEM.with_suffix(".svg"))


def table() -> str:
    """Return the ranges over the radios by pages and price, relative to static PSM and LPSM."""
    means = stored()
    lines = ["| pages | price | energy / psm | slowdown - psm | energy / lpsm | delay / lpsm |"]
    lines.append("|---|---|---|---|---|---|")
    for pages, price in product(PAGES, PRICES):
        rows = []
        for radio in RADIOS:
            joules, slowdown = means[pages, radio, f"anticipate:price={price:g}"]
            (psm_j, psm), (lpsm_j, lpsm) = means[pages, radio, "psm"], means[pages, radio, "lpsm"]
            rows.append((joules / psm_j, slowdown - psm, joules / lpsm_j, (slowdown - 1) / (lpsm - 1)))
        ranges = [(min(values), max(values)) for values in zip(*rows, strict=True)]
        cells = (
            f"{low:{sign}.2f} to {high:{sign}.2f}"
            for (low, high), sign in zip(ranges, ("", "+", "", ""), strict=True)
        )
        lines.append(f"| {pages} | {price:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="draw the stored runs")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="number of seeds")
    arguments = parser.parse_args()
    if arguments.draw:
        with STEM.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
            draw([tuple(row.values()) for row in csv.DictReader(file)])
    else:
        with ProcessPoolExecutor() as pool:
            results = list(pool.map(run, product(SEEDS[: arguments.seeds], PAGES, RADIOS)))
        draw([row for rows in results for row in rows])
    print(table())


if __name__ == "__main__":
    main()
