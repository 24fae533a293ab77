"""Names and fixed style indices of policies in figures."""

from __future__ import annotations

from psm_sim.common.component_spec import split_commas

_NAMES = {
    "always-on": "no power saving",
    "psm": "static PSM",
    "lpsm:loss=inverse-log": "LPSM 1/log T",
    "lpsm:loss=inverse": "LPSM 1/T",
    "inverse-log": "LPSM 1/log T",
    "inverse": "LPSM 1/T",
}
_ORDER = (
    "psm",
    "lpsm:loss=inverse-log",
    "lpsm:loss=inverse",
    "bsd:p=1",
    "bsd:p=0.5",
    "bsd:p=0.2",
    "bsd:p=0.1",
    "always-on",
)


def name_of(policy: str) -> str:
    """Return the display name of a policy spec, or of a loss of LPSM."""
    if policy in _NAMES:
        return _NAMES[policy]
    kind, _, parameters = policy.partition(":")
    return " ".join([kind.upper(), *split_commas(parameters)]).replace("=", " = ") if parameters else kind


def two_line_name(policy: str) -> str:
    """Return the display name in two lines, for narrow bars."""
    return name_of(policy).replace(" ", "\n", 1)


def style_index(policy: str) -> int:
    """Return the index of the colour, marker and line style of a policy, from 0 to 7."""
    if policy == "hindsight, no delay":
        return len(_ORDER) - 1
    if policy in _ORDER:
        return _ORDER.index(policy)
    return sum(policy.encode()) % len(_ORDER)
