"""The time left: right within a factor of two after a tenth of the work; and batches that are worth it."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from psm_sim.campaign.sweep.eta import BATCH_S, EtaEstimator
from psm_sim.common.random_streams import random_stream

PACES_S = {"psm": 0.002, "bsd": 0.003, "lpsm": 0.02}
"""Seconds per page, ten times as many for the one as for the other."""


def finished(workers: int, seed: int) -> tuple[list[tuple[float, str, int, float]], float]:
    """Return 600 tasks on workers that never idle, as (end, policy, pages, seconds), and the end of the last.

    A task takes its policy's pace times its pages, times what the machine does besides: 0.5 to 2 times.
    """
    random = random_stream(seed, "tasks", 0)
    policies = random.choice(list(PACES_S), size=600)
    pages = random.choice([20, 100], size=600)
    noise = np.clip(random.lognormal(0, 0.3, size=600), 0.5, 2)
    free = [0.0] * workers
    found = []
    for policy, count, factor in zip(policies, pages, noise, strict=True):
        took_s = PACES_S[policy] * int(count) * float(factor)
        end_s = heapq.heappop(free) + took_s
        heapq.heappush(free, end_s)
        found.append((end_s, str(policy), int(count), took_s))
    return sorted(found), max(free)


@pytest.mark.parametrize("workers", [1, 2, 16])
@pytest.mark.parametrize("seed", range(20))
def test_the_time_left_is_right_within_a_factor_of_two(workers: int, seed: int) -> None:
    """From a tenth of the work on until nine tenths, though tasks differ by a factor of 200."""
    tasks, over_s = finished(workers, seed)
    remaining = EtaEstimator([(policy, pages) for _, policy, pages, _ in tasks], workers)
    assert remaining.left_s is None
    total_s, done_s = sum(task[3] for task in tasks), 0.0
    for end_s, policy, pages, took_s in tasks:
        remaining.done(policy, pages, took_s)
        done_s += took_s
        if 0.1 * total_s <= done_s <= 0.9 * total_s:
            assert 0.5 * (over_s - end_s) < (remaining.left_s or 0.0) < 2 * (over_s - end_s)
    assert remaining.left_s == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("job_s", "jobs", "workers", "expected"),
    [(0.01, 10_000, 2, 100), (0.01, 80, 2, 10), (0.3, 10_000, 2, 3), (5.0, 10_000, 2, 1), (0.01, 3, 16, 1)],
)
def test_a_batch_is_a_second_of_work(job_s: float, jobs: int, workers: int, expected: int) -> None:
    """Fewer jobs at the end, so that each worker has some; one until a pace is known."""
    remaining = EtaEstimator([("psm", 100)] * (jobs + 1), workers)
    assert remaining.jobs_at_once(jobs) == 1
    remaining.done("psm", 100, job_s)
    assert remaining.jobs_at_once(jobs) == expected
    assert remaining.jobs_at_once(0) == 1
    assert expected * job_s <= max(BATCH_S, job_s)
