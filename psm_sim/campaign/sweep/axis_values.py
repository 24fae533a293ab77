"""Parser of axis values, which are lists (``a,b,c``) and ranges (``first..last:step``)."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from psm_sim.common.component_spec import split_commas, strip_parentheses
from psm_sim.common.errors import InputError

MAX_TASKS = 100_000
"""Maximum number of tasks of a sweep.

The plan and its rows need about 2 kB of memory per task. A task takes at least 0.05 s of one core, and a
larger sweep would take days on a machine with a few cores. Most likely the step of a range is mistyped.
"""

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::({_NUMBER}))?")


def expand_values(text: str, owner: str) -> tuple[str, ...]:
    """Expand a list of values and ranges.

    The default step of a range is 1. A range includes its last number if a step ends on it. Ranges use
    decimal arithmetic, so ``0.1..0.3:0.1`` is exactly 0.1, 0.2 and 0.3. A value that contains commas must
    be enclosed in parentheses.

    Parameters
    ----------
    text : str
        Comma-separated values and ranges.
    owner : str
        Key of the axis, for error messages.

    Returns
    -------
    tuple of str
        Distinct values, in the order of *text*.

    Raises
    ------
    InputError
        If a value is missing or duplicate, or a range has no values or more than :data:`MAX_TASKS`.
    """
    values = [value for part in split_commas(text) for value in _expand_part(part.strip(), owner)]
    if not all(values):
        raise InputError(f"{owner} must be values such as a,b,c or FROM..TO:STEP, got {text!r}.")
    for value in values:
        # counting is quadratic, so long lists are only deduplicated
        if values.count(value) > 1 and len(values) < 1000:
            raise InputError(f"{owner}: duplicate value {value}; specify it once.")
    return tuple(dict.fromkeys(values))


def _expand_part(part: str, owner: str) -> list[str]:
    match = _RANGE.fullmatch(part)
    if not match:
        return [strip_parentheses(part)]
    first, last, step = (Decimal(number or "1") for number in match.groups())
    count = _count_values(first, last, step)
    if not 0 < count <= MAX_TASKS:
        raise InputError(
            f"{owner}: the range {part!r} has {max(count, 0)} values; expected FROM..TO:STEP with "
            f"FROM <= TO, STEP > 0 and at most {MAX_TASKS} values."
        )
    return [_format_decimal(first + index * step) for index in range(count)]


def _count_values(first: Decimal, last: Decimal, step: Decimal) -> int:
    try:
        return int((last - first) // step) + 1 if step > 0 and first <= last else 0
    except InvalidOperation:
        return MAX_TASKS + 1


def _format_decimal(number: Decimal) -> str:
    """Format a number without an exponent and without trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
