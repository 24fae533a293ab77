"""Study of the patience R of DKM, which stops querying too early if R is too small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from psm_lab.active import make_selective
from psm_lab.active.sphere_instances import first_hits, sphere_points, unit_vector
from psm_lab.active.theorem_bounds import dkm_patience
from psm_lab.studies.active.learner_trials import direction, frame_of, is_full, judge_claim
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task
from psm_sim.common.random_streams import random_stream

NAME = "patience"
LEVELS = (0.1, 0.03, 0.01, 0.003, 0.001)
"""Errors at which the labels are counted."""
THEORY = math.ceil(dkm_patience(5000, 0.05))
CASES = ((10, 3), (10, 5), (10, 8), (10, 16), (10, THEORY), (50, 8), (50, 16))
"""Dimension and R of each case, up to the R of the theorem for 5000 labels and delta = .05."""


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one trial per case and target."""
    points = 2_000_000 if is_full(scale) else 100_000
    return [
        Task("arrivals", arrivals_of, {"features": d, "R": R, "points": points, "seed": number}, weight=d)
        for d, R in CASES
        for number in range(seed, seed + 2 * scale.replications)
    ]


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return the share of runs that reach the error, and its paired difference from R = 16."""
    frame = frame_of(rows, "arrivals")
    columns = [f"to {level:g}" for level in LEVELS]
    table = frame.groupby(["d", "R"], sort=False)[[*columns, "labels to 0.001"]].mean().reset_index()
    last = frame.pivot_table(index="seed", columns=["d", "R"], values="to 0.001")
    pairs = ((10, 3), (10, 5), (50, 8))
    return Findings(
        NAME,
        "DKM with small R stops querying too early",
        f"uniform sphere, s1 = 1/sqrt(d), {2 * scale.replications} targets from seed {seed}",
        remarks=[f"The R of Theorem 5 for 5000 labels and delta = .05 is {THEORY}."],
        commentary=["The R of Theorem 5 is safe, but it needs more labels than R = 16, which suffices here."],
        tables=[Table("Share of the runs that reach an error, and their mean number of labels", table)],
        claims=[
            judge_claim(
                direction(
                    NAME, f"R = {R} - 16, d = {d}", "share that reaches .001", "thesis, 4.6.3", side=-1
                ),
                last[d, R] - last[d, 16],
            )
            for d, R in pairs
        ],
    )


def arrivals_of(features: int, R: int, points: int, seed: int) -> list[dict[str, Any]]:
    """Return whether one run reaches each error, and its number of labels until the smallest one.

    Parameters
    ----------
    features : int
        Number of dimensions d.
    R : int
        Patience.
    points : int
        Maximum number of points.
    seed : int
        Seed of the target and the points.
    """
    target = unit_vector(random_stream(seed, f"target {features}"), features)
    sampler = make_selective(f"dkm:R={R},s1={features**-0.5}", features)
    draw = sphere_points(random_stream(seed, f"patience {features} {R}"), target)
    hits = first_hits(sampler.learner, sampler.rule, target, draw, LEVELS, points)
    reached = {
        f"to {level:g}": float(not pd.isna(labels)) for level, labels in zip(LEVELS, hits.labels, strict=True)
    }
    return [{"d": features, "R": R, "seed": seed, **reached, "labels to 0.001": hits.labels[-1]}]
