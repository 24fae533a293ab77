"""Processor time of the learners that choose from pools: OPTNBDT, planes, pools and LMU.

Run ``python benchmarks/active_pools.py``. The first table sets the opt-feature list beside brute force over
the last level of a tree of depth 2, both in plain Python as the paper counts it and vectorised.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from psm_lab.active.data.simulated_neuron import SimulatedNeuron
from psm_lab.active.data.sky_segmentation_images import synthetic_sky_set
from psm_lab.active.linear_separator import fit_linear
from psm_lab.active.lmu_image_selection import Lmu
from psm_lab.active.naive_bayes import NaiveBayes
from psm_lab.active.optimal_bayes_tree import best_tree
from psm_lab.active.plane_learner import PlaneLearner
from psm_lab.active.pool_learner import PoolLearner


def milliseconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the least processor time of some calls, in ms."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def model(features: int, values: int = 4) -> NaiveBayes:
    """Return a random naive Bayes model."""
    rng = np.random.default_rng(features)
    tables = tuple(rng.dirichlet(np.ones(values), 2) for _ in range(features))
    return NaiveBayes(np.array([0.5, 0.5]), tables)


def brute_force(tables: list[list[list[float]]]) -> float:
    """Return the value of the best tree of depth 2, every test tried for every last node."""
    best = 0.0
    for first, (minus, plus) in enumerate(tables):
        value = 0.0
        for down, up in zip(minus, plus, strict=True):
            rest = (table for second, table in enumerate(tables) if second != first)
            pairs = (zip(*table, strict=True) for table in rest)
            value += max(sum(max(down * q, up * p) for q, p in each) for each in pairs)
        best = max(best, 0.5 * value)
    return best


def vectorised(known: NaiveBayes) -> float:
    """Return the same with numpy, all last nodes at once."""
    plus, minus = known.padded()
    ups, downs = 0.5 * plus[..., None, None], 0.5 * minus[..., None, None]
    right = np.maximum(ups * plus, downs * minus).sum(axis=-1)
    np.einsum("fvf->fv", right)[:] = 0
    return float(right.max(axis=2).sum(axis=1).max())


def trees() -> None:
    """Print times of OPTNBDT at depth 2, for features of 4 values."""
    print(
        f"{'features':>8}{'list and tree, ms':>20}{'brute force, ms':>18}{'ratio':>8}{'vectorised, ms':>16}"
    )
    for features in (12, 24, 48, 96):
        known = model(features)
        tables = [table.tolist() for table in known.tables]
        assert abs(best_tree(known, 2)[1] - brute_force(tables)) < 1e-12  # noqa: S101
        assert abs(vectorised(known) - brute_force(tables)) < 1e-12  # noqa: S101
        ours, brute = (
            milliseconds(partial(best_tree, known, 2)),
            milliseconds(partial(brute_force, tables)),
        )
        fast = milliseconds(partial(vectorised, known))
        print(f"{features:>8}{ours:>20.1f}{brute:>18.1f}{brute / ours:>8.2f}{fast:>16.2f}")


def labels() -> None:
    """Print times of one label: a fit, a query and a fit with planes and from a pool, an image."""
    neuron, rng = SimulatedNeuron(), np.random.default_rng(1)
    x = neuron.population.draw(rng, 10_000)
    y = neuron.truth(x)
    photographs = synthetic_sky_set(rng, 30)
    lines = {
        "linear fit, 200 instances of 9 features": (lambda: fit_linear(x[:200], y[:200]), 1),
        "ISALg, 200 labels": (
            lambda: PlaneLearner("isalg", neuron.population).run(_answer(neuron), 200),
            200,
        ),
        "MU, pool of 10 000, 100 labels": (lambda: PoolLearner(x).run(y.__getitem__, 100), 100),
        "LMU, first of 30 images": (lambda: Lmu([each.features for each in photographs]).ask(), 1),
    }
    for words, (work, count) in lines.items():
        print(f"{words:<42}{milliseconds(work, 3) / count:>10.2f} ms{' per label' if count > 1 else ''}")


def _answer(neuron: SimulatedNeuron) -> Callable[[np.ndarray], int]:
    return lambda x: int(neuron.truth(x[None])[0])


if __name__ == "__main__":
    trees()
    labels()
