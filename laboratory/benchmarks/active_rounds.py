"""Cost of a round of the learners that ask for labels, and of the scan over the sphere.

``python benchmarks/active_rounds.py`` prints processor microseconds per round at d = 10, the minimum and the
median of repeated passes, in a batch and with single calls of ask and tell. It also prints the time of
NumPy's products of the same size, and the points per second of the scan of the sphere study.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from psm_lab.active import make_selective
from psm_lab.active.sphere_instances import first_hits, sphere_points, unit_vector

D, ROUNDS, REPEATS = 10, 5_000, 15
FIRST = ("perceptron", "dkm:R=16", "cbgz:b=0.5", "coin-perceptron")
SECOND = ("cbgz2:b=0.5", "lasec-ss", "bbq:kappa=0.33")


def microseconds(work: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Return the least and the median time of one of *rounds* done by *work*, in microseconds."""
    spent = []
    for _ in range(REPEATS):
        begun = time.process_time()
        work()
        spent.append((time.process_time() - begun) / rounds * 1e6)
    return min(spent), statistics.median(spent)


def in_a_batch(name: str, instances: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    """Return a pass of one call."""
    return lambda: make_selective(name, D).run(instances, y)


def one_by_one(name: str, instances: np.ndarray, y: np.ndarray) -> Callable[[], None]:
    """Return a pass of single asks and tells."""
    rows, labels = list(instances), y.tolist()

    def work() -> None:
        sampler = make_selective(name, D)
        for x, label in zip(rows, labels, strict=True):
            if sampler.ask(x).query:
                sampler.tell(x, label)

    return work


def rounds() -> None:
    """Print one line per sampler: a separable stream on the sphere with 5 % of the labels flipped."""
    rng = np.random.default_rng(1)
    points, u = rng.normal(size=(ROUNDS, D)), rng.normal(size=D)
    y = np.where(points @ u >= 0, 1, -1) * np.where(rng.random(ROUNDS) < 0.05, -1, 1)
    print(f"{'':22}{'batch us':>16}{'alone us':>16}   (best, median)")
    for name in (*FIRST, *SECOND):
        batch = microseconds(in_a_batch(name, points, y))
        alone = microseconds(one_by_one(name, points, y))
        print(f"{name:22}{batch[0]:8.2f}{batch[1]:8.2f}{alone[0]:8.2f}{alone[1]:8.2f}")
    rows, w, matrix = list(points), u, np.eye(D)
    print("{:22}{:8.2f}{:8.2f}".format("x.w alone", *microseconds(lambda: [x.dot(w) for x in rows])))
    print("{:22}{:8.2f}{:8.2f}".format("P x alone", *microseconds(lambda: [matrix.dot(x) for x in rows])))


def scan() -> None:
    """Print the points per second of DKM's scan over the sphere, and how many were seen."""
    for features in (5, 10, 50):
        seen, begun = 0, time.process_time()
        for seed in range(5):
            rng = np.random.default_rng(seed)
            target = unit_vector(rng, features)
            sampler = make_selective(f"dkm:R=16,s1={features**-0.5}", features)
            draw = sphere_points(rng, target)
            seen += first_hits(sampler.learner, sampler.rule, target, draw, (1e-9,), 400_000).seen
        rate = seen / (time.process_time() - begun)
        print(f"sphere, d = {features:<3}  {rate / 1e6:.2f} million points per second ({seen:,} points)")


if __name__ == "__main__":
    rounds()
    scan()
