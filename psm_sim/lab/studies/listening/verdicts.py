"""Verdicts on the claims, trace by trace."""

from __future__ import annotations

import numpy as np
import pandas as pd

from psm_sim.lab.studies.listening.claims import CLAIMS, Claim
from psm_sim.lab.studies.listening.settings import INTERVALS, PAGE_TRACES, PUSH_TRACES

_TITLES = {case.trace: case.title for case in (*PAGE_TRACES, *PUSH_TRACES)}


def judge_claims(runs: pd.DataFrame, matched: pd.DataFrame) -> pd.DataFrame:
    """Return one row per claim and trace, with the interval of each condition and the verdict.

    Parameters
    ----------
    runs : DataFrame
        Rows of all policies, traces and seeds.
    matched : DataFrame
        Rows of random listening, with the learner that each row ``matches``.
    """
    lines = [
        _judge(claim, trace, runs[runs["trace"] == trace], matched[matched["trace"] == trace])
        for claim in CLAIMS
        for trace in claim.traces or [case.trace for case in PAGE_TRACES]
    ]
    return pd.DataFrame(lines)


def _judge(claim: Claim, trace: str, runs: pd.DataFrame, matched: pd.DataFrame) -> dict[str, object]:
    policy, other = rows_of_policy(runs, claim.policy), _other_rows(claim, runs, matched)
    intervals = [condition.interval(policy, other) for condition in claim.conditions]
    verdicts = [test.verdict(value) for test, value in zip(claim.conditions, intervals, strict=True)]
    worst = "differs" if "differs" in verdicts else "open" if "open" in verdicts else "agrees"
    texts = [f"{test.label} {value:.3f}" for test, value in zip(claim.conditions, intervals, strict=True)]
    labels = {"claim": f"{claim.number}. {claim.text}", "trace": _TITLES[trace]}
    return {**labels, "found": "; ".join(texts), "verdict": worst}


def rows_of_policy(runs: pd.DataFrame, policy: str) -> pd.DataFrame:
    """Return the rows of a *policy* in *runs*, which are those of one trace, by seed."""
    return runs[runs["policy"] == policy].set_index("seed").sort_index()


def _other_rows(claim: Claim, runs: pd.DataFrame, matched: pd.DataFrame) -> pd.DataFrame:
    if claim.against == "matched":
        return matched[matched["matches"] == claim.policy].set_index("seed").sort_index()
    if claim.against == "interval":
        return at_equal_delay(runs, rows_of_policy(runs, claim.policy))
    return rows_of_policy(runs, claim.against)


def at_equal_delay(runs: pd.DataFrame, policy: pd.DataFrame) -> pd.DataFrame:
    """Return the energy of fixed listen intervals at the delays of a policy, interpolated for each seed.

    Between two intervals the energy is linear in the inverse of the delay, so it is interpolated over it.

    Parameters
    ----------
    runs : DataFrame
        Rows of one trace, including the fixed intervals.
    policy : DataFrame
        Rows of the compared policy, by seed.
    """
    fixed = [rows_of_policy(runs, f"psm:listen_interval={interval}") for interval in reversed(INTERVALS)]
    rates = np.array([1 / interval["delay_s"].to_numpy() for interval in fixed])
    energies = np.array([interval["above_j_per_h"].to_numpy() for interval in fixed])
    delays_s = policy["delay_s"].to_numpy()
    needed = [
        np.interp(1 / delay_s, rates[:, index], energies[:, index]) for index, delay_s in enumerate(delays_s)
    ]
    return pd.DataFrame({"above_j_per_h": needed, "delay_s": delays_s}, index=policy.index)
