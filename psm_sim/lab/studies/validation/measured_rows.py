"""Measured hardware: the rows that the validation compares with, and its rule."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

RULE = """\
Rule, fixed before any run: a row agrees if ours differs from the measured value by at most 5.5 % (mean
current at DTIM 3, predicted from DTIM 1 and 10), 3.5 % (mean current of a duty cycle, nothing fitted) or 25 %
(median and 90th percentile of the latency, one loss rate fitted per row). Rows that were known beforehand not
to follow the model are judged like the others, and marked."""


@cache
def measured_rows() -> dict[str, Any]:
    """Return the content of ``measured.toml``."""
    return tomllib.loads(Path(__file__).with_name("measured.toml").read_text(encoding="utf-8"))


def per_cent(ours: float, measured: float) -> float:
    """Return the difference of ours from a measured value, in per cent of it."""
    return 100 * (ours / measured - 1)


def validation_verdict(kind: str, *differences: float) -> str:
    """Return ``agrees`` if no difference, in per cent, is larger than this kind of row tolerates."""
    tolerance = measured_rows()["tolerance"][kind]
    return "agrees" if all(abs(difference) <= tolerance for difference in differences) else "differs"


def tally_verdicts(verdicts: list[str]) -> str:
    """Return in words how many rows agree."""
    return f"{verdicts.count('agrees')} of {len(verdicts)} rows agree"
