"""Judging: the claims held against the rows, trace by trace."""

from __future__ import annotations

import numpy as np
import pandas as pd

from psm_sim.lab.studies.listening.claims import CLAIMS, Claim
from psm_sim.lab.studies.listening.settings import INTERVALS, PAGE_TRACES, PUSH_TRACES

_TITLES = {place.trace: place.title for place in (*PAGE_TRACES, *PUSH_TRACES)}


def judge_claims(runs: pd.DataFrame, matched: pd.DataFrame) -> pd.DataFrame:
    """Return one row per claim and trace: each condition's interval, and the verdict.

    Parameters
    ----------
    runs
        The rows of all policies, traces and seeds.
    matched
        The rows of random listening, with the learner that each ``matches``.
    """
    found = [
        _judged(claim, trace, runs[runs["trace"] == trace], matched[matched["trace"] == trace])
        for claim in CLAIMS
        for trace in claim.traces or [place.trace for place in PAGE_TRACES]
    ]
    return pd.DataFrame(found)


def _judged(claim: Claim, trace: str, runs: pd.DataFrame, matched: pd.DataFrame) -> dict[str, object]:
    ours, others = rows_of_policy(runs, claim.policy), _others(claim, runs, matched)
    found = [condition.found(ours, others) for condition in claim.conditions]
    verdicts = [each.verdict(value) for each, value in zip(claim.conditions, found, strict=True)]
    worst = "differs" if "differs" in verdicts else "open" if "open" in verdicts else "agrees"
    texts = [f"{each.words} {value:.3f}" for each, value in zip(claim.conditions, found, strict=True)]
    words = {"claim": f"{claim.number}. {claim.words}", "trace": _TITLES[trace]}
    return {**words, "found": "; ".join(texts), "verdict": worst}


def rows_of_policy(runs: pd.DataFrame, policy: str) -> pd.DataFrame:
    """Return the rows of one policy on one trace, by seed."""
    return runs[runs["policy"] == policy].set_index("seed").sort_index()


def _others(claim: Claim, runs: pd.DataFrame, matched: pd.DataFrame) -> pd.DataFrame:
    if claim.against == "matched":
        return matched[matched["matches"] == claim.policy].set_index("seed").sort_index()
    if claim.against == "interval":
        return at_equal_delay(runs, rows_of_policy(runs, claim.policy))
    return rows_of_policy(runs, claim.against)


def at_equal_delay(runs: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Return what fixed listen intervals would need at our delays, interpolated for each seed.

    Between two intervals the energy falls as one over the delay, so it is interpolated over that.

    Parameters
    ----------
    runs
        The rows of one trace, the fixed intervals among them.
    ours
        The rows of the policy that is compared, by seed.
    """
    fixed = [rows_of_policy(runs, f"psm:listen_interval={interval}") for interval in reversed(INTERVALS)]
    rates = np.array([1 / each["delay_s"].to_numpy() for each in fixed])
    energies = np.array([each["above_j_per_h"].to_numpy() for each in fixed])
    delays_s = ours["delay_s"].to_numpy()
    needed = [
        np.interp(1 / delay_s, rates[:, place], energies[:, place]) for place, delay_s in enumerate(delays_s)
    ]
    return pd.DataFrame({"above_j_per_h": needed, "delay_s": delays_s}, index=ours.index)
