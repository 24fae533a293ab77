"""Values of one axis: ``a,b,c``, ``first..last`` or ``first..last:step``, as the texts of parameters."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from psm_sim.common.component_spec import split_commas, strip_parentheses
from psm_sim.common.errors import InputError

MAX_TASKS = 100_000
"""The largest number of tasks of one sweep.

The plan and its rows are held in memory at about 2 kB each, and at the least 0.05 s of a core for a task a
larger one would take days on a machine of a few cores: most likely a step is mistyped.
"""

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::({_NUMBER}))?")


def expand_values(text: str, owner: str) -> tuple[str, ...]:
    """Return the values that *text* stands for; *owner* is the axis, for the errors.

    A range holds its last number if the steps meet it; its step is 1 if it gives none. Its numbers are
    exact decimals: ``0.1..0.3:0.1`` is 0.1, 0.2 and 0.3. A value with commas of its own is wrapped in
    parentheses.

    Raises
    ------
    InputError
        If there is no value, one twice, or a range has no number or more than :data:`MAX_TASKS`.
    """
    found = [value for part in split_commas(text) for value in _part(part.strip(), owner)]
    if not all(found):
        raise InputError(f"{owner} is {text!r}; expected values such as a,b,c or from..to:step.")
    for value in found:
        if found.count(value) > 1 and len(found) < 1000:
            raise InputError(f"{owner}: {value} is given twice; give it once.")
    return tuple(dict.fromkeys(found))


def _part(part: str, owner: str) -> list[str]:
    match = _RANGE.fullmatch(part)
    if not match:
        return [strip_parentheses(part)]
    first, last, step = (Decimal(each or "1") for each in match.groups())
    count = _steps(first, last, step)
    if not 0 < count <= MAX_TASKS:
        raise InputError(
            f"{owner}: the range {part!r} has {max(count, 0)} values; expected FROM..TO:STEP with FROM up to "
            f"TO, a step above 0 and at most {MAX_TASKS} values."
        )
    return [_plain(first + number * step) for number in range(count)]


def _steps(first: Decimal, last: Decimal, step: Decimal) -> int:
    try:
        return int((last - first) // step) + 1 if step > 0 and first <= last else 0
    except InvalidOperation:
        return MAX_TASKS + 1


def _plain(number: Decimal) -> str:
    """Return a number without exponent and without zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
