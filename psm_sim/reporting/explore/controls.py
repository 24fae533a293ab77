"""Controls of the interactive page, one for each of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from psm_sim.common.errors import InputError
from psm_sim.common.input_files import bundled_names
from psm_sim.policies import POLICIES
from psm_sim.reporting.explore.settings import PAGES, Settings


class _Control(NamedTuple):
    """Title, explanation and usual values of a control."""

    title: str
    explanation: str
    values: tuple[str, ...] = ()


_CONTROLS = {
    "trace": _Control("trace", "Web pages, or the messages of a device, that the station loads."),
    "profile": _Control("chip", "Measured power of a radio. 'none' is the power in the published studies."),
    "round_trip_ms": _Control(
        "round-trip time (ms)",
        "Time from the access point to the server and back, without queueing. The command sets half of it as "
        "the latency of each direction.",
        ("2", "10", "20", "40", "80", "160", "320", "640"),
    ),
    "dtim": _Control(
        "DTIM period (beacons)",
        "Number of beacon intervals from one DTIM beacon to the next, set at the access point. The baseline "
        "psm wakes for DTIM beacons.",
        ("1", "2", "3", "5", "10"),
    ),
    "policies": _Control(
        "policies", "Sleep policies to compare. The baselines always-on and psm are always there."
    ),
    "price": _Control(
        "price of delay (W)",
        "Energy that the policy anticipate spends to avoid one second of delay, in joules. A higher price "
        "means less delay.",
        ("0.01", "0.03", "0.1", "0.3", "1", "3", "10", "30", "100"),
    ),
    "pages": _Control(
        "pages", "Number of pages of each seed. Without pages, the number of periods with messages.", PAGES
    ),
    "seeds": _Control(
        "seeds",
        "Number of independent samples of the trace. Intervals need at least 2.",
        ("1", "3", "5", "10"),
    ),
    "seed": _Control("first seed", "Another seed samples other pages.", tuple(map(str, range(1, 11)))),
}


def make_controls(settings: Settings) -> dict[str, Any]:
    """Return the controls with these initial values, by the names of the fields of :class:`Settings`."""
    from bokeh.models.widgets.inputs import MultiChoice, Select

    choices = {
        "trace": bundled_names("traces"),
        "profile": ["", *bundled_names("topologies/profiles")],
        "policies": list(POLICIES.names()),
    }
    controls: dict[str, Any] = {}
    for name, control in _CONTROLS.items():
        value = getattr(settings, name)
        initial = value if isinstance(value, tuple) else (value,)
        options = list(dict.fromkeys([*(choices.get(name, control.values)), *initial]))
        common: dict[str, Any] = {"name": name, "title": control.title, "sizing_mode": "stretch_width"}
        common["description"] = control.explanation
        if isinstance(value, tuple):
            controls[name] = MultiChoice(value=list(value), options=options, **common)
        else:
            texts: list[Any] = [(option, option or "none") for option in options]
            controls[name] = Select(value=value, options=texts, **common)
    return controls


def read_controls(controls: Mapping[str, Any]) -> Settings:
    """Return the values of the controls.

    Raises
    ------
    InputError
        If a value is not one of the choices. A policy that is a file would run code, so other values are
        not accepted from a browser.
    """
    values: dict[str, Any] = {}
    for name, control in controls.items():
        value = control.value
        options = [option if isinstance(option, str) else option[0] for option in control.options]
        for text in value if isinstance(value, list) else [value]:
            if text not in options:
                raise InputError(f"{control.title} must be one of {', '.join(options)}, got {text!r}.")
        values[name] = tuple(value) if isinstance(value, list) else value
    return Settings(**values)
