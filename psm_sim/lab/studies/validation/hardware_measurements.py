"""Measurements of hardware with which the simulator is compared, and the rule of the verdicts."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

RULE = """\
The rule was fixed before any run. A row agrees if the simulated value differs from the measured value by at
most a tolerance. It is 5.5 % for the mean current at DTIM 3, which is predicted from DTIM 1 and 10. It is
3.5 % for the mean current of a duty cycle, where nothing is fitted. It is 25 % for the median and the 90th
percentile of the latency, where one loss rate is fitted per row. Rows that were known beforehand not to fit
the model are judged like the others and are marked."""


@cache
def measured_rows() -> dict[str, Any]:
    """Return the content of ``measured.toml``."""
    return tomllib.loads(Path(__file__).with_name("measured.toml").read_text(encoding="utf-8"))


def per_cent(ours: float, measured: float) -> float:
    """Return the difference of the simulated value *ours* from *measured*, in per cent of *measured*."""
    return 100 * (ours / measured - 1)


def validation_verdict(kind: str, *differences: float) -> str:
    """Return ``agrees`` if no difference exceeds the tolerance of this *kind* of row, or ``differs``.

    *differences* are in per cent.
    """
    tolerance = measured_rows()["tolerance"][kind]
    return "agrees" if all(abs(difference) <= tolerance for difference in differences) else "differs"


def tally_verdicts(verdicts: list[str]) -> str:
    """Return a text with the number of rows that agree."""
    return f"{verdicts.count('agrees')} of {len(verdicts)} rows agree"
