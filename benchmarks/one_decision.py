"""Picture of one decision of ``anticipate``: the law of a reply, and what is done at several prices.

Usage: python benchmarks/one_decision.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from psm_sim.common.csv_output import write_csv
from psm_sim.policies import Frame
from psm_sim.policies.anticipate import Anticipate
from psm_sim.reporting.figures.canvas import new_figure, save_picture
from psm_sim.reporting.style import COLOURS

STEM = Path(__file__).parents[1] / "docs/pictures/one-decision"
PRICES_W = (0.1, 0.5, 1.0, 5.0)
REQUEST_S, SHOWN_S = 100.03, 0.95


def trained(price_w: float) -> Anticipate:
    """Return a policy that has learnt 300 replies, and has just sent a request."""
    random = np.random.default_rng(1)
    policy = Anticipate(price_w=price_w)
    policy.start(0.1)
    for quick in random.random(300) < 2 / 3:
        reply_s = random.normal(0.06, 0.01) if quick else random.normal(0.45, 0.03)
        policy.models["request"].observe(max(0.0, reply_s - 0.004), max(0.004, reply_s))
    policy.sent(REQUEST_S, Frame(0, 340, 300, False, False))
    return policy


def rests(policy: Anticipate) -> list[tuple[float, float, float]]:
    """Return (begins, dozes from, wakes at) of each rest while nothing comes, in s since the request."""
    decisions, now_s = [], REQUEST_S
    while now_s < REQUEST_S + SHOWN_S:
        rest = policy.rest(now_s, now_s - REQUEST_S, None)
        dozes_s = now_s + rest.awake_s
        wakes_s = policy.beacon_grid.time(policy.beacon_grid.after(dozes_s) + rest.beacons - 1)
        decisions.append((now_s - REQUEST_S, dozes_s - REQUEST_S, wakes_s - REQUEST_S))
        now_s = wakes_s
    return decisions


def main() -> None:
    """Draw the picture; the numbers of the law go beside it."""
    figure, (above, below) = new_figure(2, 1, 6.4, 4.0)
    times_s = np.linspace(0, SHOWN_S, 800)
    risen, _ = trained(1.0).models["request"].at(times_s)
    above.plot(1000 * times_s, risen, color=COLOURS[0])
    above.set_ylabel("reply has come\n(probability)")
    for row, price_w in enumerate(reversed(PRICES_W)):
        for begins_s, dozes_s, wakes_s in rests(trained(price_w)):
            below.plot([1000 * begins_s, 1000 * dozes_s], [row, row], color=COLOURS[1], linewidth=6)
            below.plot([1000 * dozes_s, 1000 * wakes_s], [row, row], color=COLOURS[0], linewidth=1)
            below.plot(1000 * wakes_s, row, "o", color=COLOURS[0], markersize=5, zorder=3)
    below.set_yticks(range(len(PRICES_W)), [f"{price_w:g} W" for price_w in reversed(PRICES_W)])
    below.set_ylabel("price of delay")
    below.set_xlabel("time since the request (ms); beacons at 70, 170, ...")
    for axes in (above, below):
        axes.set_xlim(0, 1000 * SHOWN_S)
    save_picture(figure, STEM.with_suffix(".svg"))
    with STEM.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        write_csv(file, ("time_ms", "risen"), zip((1000 * times_s).tolist(), risen.tolist(), strict=True))


if __name__ == "__main__":
    main()
