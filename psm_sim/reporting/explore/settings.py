"""Settings of the interactive page, their controls, and the command line that they stand for."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.input_files import bundled_names
from psm_sim.policies import POLICIES
from psm_sim.workload import load_workloads

PAGE_COUNTS = ("1", "2", "5", "10", "20", "40", "80", "150")
"""Numbers of pages to choose from; the best known schedule is computed for at most 150."""

DEFAULT = "default"
"""Value of a parameter that keeps the default of the policy."""

MEDIAN = "median"
"""Page of the timelines with the median slowdown under ``psm``."""

PARAMETERS = {
    "price": ("anticipate", "price", {"price", "price_w", "slowdown", "delay_ms"}),
    "bound": ("bsd", "p", {"p"}),
    "gamma": ("lpsm", "gamma", {"gamma"}),
    "switching_rate": ("lpsm", "alpha", {"alpha", "learner"}),
}
"""Controls of parameters: the policy, its parameter, and the parameters that override the control."""

# Limits of a comparison: pages, objects and idle seconds. Four policies load 600 objects in half a second.
_USUAL_PAGES, _MAX_OBJECTS, _MAX_IDLE_S = 40, 600, 3600.0


@dataclass(frozen=True)
class Settings:
    """Values of the controls, as texts.

    Attributes
    ----------
    trace, profile : str
        Trace, and chip profile; an empty profile keeps the power of the topology.
    round_trip_ms : str
        Round-trip time between access point and server, in ms.
    dtim : str
        DTIM period, in beacons.
    policies : tuple of str
        Compared policies.
    price, bound, gamma, switching_rate : str
        Values of policy parameters, see :data:`PARAMETERS`. ``"default"`` keeps the default of the policy.
    pages, seeds, seed : str
        Number of pages, number of seeds, and first seed.
    page : str
        Number of the page whose timelines are shown; ``"median"`` selects the page of the median slowdown.
    """

    trace: str = "ucb"
    profile: str = ""
    round_trip_ms: str = "40"
    dtim: str = "1"
    policies: tuple[str, ...] = ("bsd", "lpsm", "anticipate")
    price: str = "0.25"
    bound: str = "1"
    gamma: str = DEFAULT
    switching_rate: str = DEFAULT
    pages: str = "40"
    seeds: str = "5"
    seed: str = "1"
    page: str = MEDIAN

    @property
    def arguments(self) -> list[str]:
        """The arguments of ``psm_sim`` that simulate these settings."""
        pairs = [("policy", policy) for policy in self.completed_policies]
        pairs += [("trace", self.trace), ("profile", self.profile), ("dtim", self.dtim)]
        pairs += [("set", f"links.wired.latency_ms={float(self.round_trip_ms) / 2:g}")]
        pairs += [("pages", self.pages), ("seed", self.seed), ("replications", self.seeds)]
        return [argument for name, value in pairs if value for argument in (f"--{name}", value)]

    @property
    def completed_policies(self) -> tuple[str, ...]:
        """The policies with the parameters from the controls, such as ``"bsd:p=1"``."""
        return tuple(dict.fromkeys(map(self._completed, self.policies or ("psm",))))

    @property
    def command(self) -> str:
        """The command line, quoted for a shell."""
        return shlex.join(["python", "-m", "psm_sim", *self.arguments])

    def has_effect(self, control: str) -> bool:
        """Return whether a *control* of :data:`PARAMETERS` changes any of the policies."""
        return any(_accepts(Spec.parse(policy, "policy"), control) for policy in self.policies)

    def _completed(self, policy: str) -> str:
        """Return a policy with the parameters from the controls."""
        spec = Spec.parse(policy, "policy")
        values = {name: getattr(self, name) for name in PARAMETERS if _accepts(spec, name)}
        for name, value in values.items():
            if value != DEFAULT:
                spec = spec.with_(PARAMETERS[name][1], value)
        return str(spec) if values else policy


def _accepts(spec: Spec, control: str) -> bool:
    """Return whether the policy has the parameter of *control*, and does not set it itself."""
    policy, _, own = PARAMETERS[control]
    return spec.name == policy and not own & set(spec.values)


@cache
def fitting_sizes(trace: str) -> dict[str, str]:
    """Return ``pages`` and ``seeds`` for a trace, so that the simulation takes seconds.

    ``pages`` is 1 without page views, because one period of messages takes minutes to hours. ``seeds`` is 1
    if the trace is the same for every seed.

    Raises
    ------
    InputError
        If the trace cannot be loaded.
    """
    first, second = (load_workloads(trace, _USUAL_PAGES, seed)[0] for seed in (1, 2))
    objects = sum(page.objects for page in first.pages)
    idle_s = sum(page.think_s for page in first.pages)
    share = min(1.0, _MAX_OBJECTS / objects, _MAX_IDLE_S / max(idle_s, 1.0)) if objects else 0.0
    pages = [number for number in PAGE_COUNTS if int(number) <= share * _USUAL_PAGES]
    is_same = (first.pages, first.messages) == (second.pages, second.messages)
    return {
        "pages": max(pages, key=int, default=PAGE_COUNTS[0]),
        "seeds": "1" if is_same else Settings().seeds,
    }


class _Control(NamedTuple):
    """Title, explanation and usual values of a control."""

    title: str
    explanation: str
    values: tuple[str, ...] = ()


# The values surround the default in steps of a factor of 2 to 10, so that few of them cover a wide range.
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
        "price of delay",
        "Seconds that the policy anticipate stays awake to avoid one second of delay. A higher price means "
        "less delay.",
        ("0.01", "0.03", "0.1", "0.25", "0.5", "1", "3", "10", "30", "100"),
    ),
    "bound": _Control(
        "bound p of BSD",
        "The policy bsd delays a reply by at most p round-trip times. With a smaller p, the radio stays "
        "awake longer.",
        ("0.05", "0.1", "0.2", "0.5", "1", "2", "5"),
    ),
    "gamma": _Control(
        "gamma of LPSM",
        "Weight of latency against energy in the loss from which the policy lpsm learns.",
        (DEFAULT, "0.000001", "0.00001", "0.0001", "0.001", "0.01"),
    ),
    "switching_rate": _Control(
        "learner of LPSM",
        "Learner of the polling times. Learn-alpha learns the switching rate, Fixed-share has a given one, "
        "and Static-expert never switches.",
        (DEFAULT, "0", "0.0001", "0.001", "0.01", "0.1", "0.5"),
    ),
    "pages": _Control(
        "pages",
        "Number of pages of each seed. Without pages, the number of periods with messages.",
        PAGE_COUNTS,
    ),
    "seeds": _Control(
        "seeds",
        "Number of independent samples of the trace. Intervals need at least 2.",
        ("1", "3", "5", "10"),
    ),
    "seed": _Control("first seed", "Another seed samples other pages.", tuple(map(str, range(1, 11)))),
    "page": _Control(
        "page of the timelines",
        "Page of the first seed. 'median' is the page with the median slowdown under psm.",
        (MEDIAN, *map(str, range(1, 21))),
    ),
}


def _text_of(name: str, option: str) -> str:
    """Return the text that a control shows for an option."""
    if name != "switching_rate":
        return option or "none"
    return {DEFAULT: "Learn-alpha", "0": "Static-expert"}.get(option, f"Fixed-share {option}")


def controls_of(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return a control for each field of :class:`Settings`, by the name of the field.

    A control has a title, an explanation, its options as pairs of a value and a text, and its initial values.
    """
    choices = {
        "trace": bundled_names("traces"),
        "profile": ["", *bundled_names("topologies/profiles")],
        "policies": POLICIES.names(),
    }
    controls = {}
    for name, control in _CONTROLS.items():
        value = getattr(settings, name)
        is_multiple = isinstance(value, tuple)
        values = list(value) if is_multiple else [value]
        options = dict.fromkeys([*choices.get(name, control.values), *values])
        controls[name] = {
            "title": control.title,
            "explanation": control.explanation,
            "options": [(option, _text_of(name, option)) for option in options],
            "values": values,
            "is_multiple": is_multiple,
        }
    return controls


def read_settings(controls: Mapping[str, Mapping[str, Any]], chosen: Mapping[str, list[str]]) -> Settings:
    """Return the settings that a browser has *chosen* from the options of the *controls*.

    Raises
    ------
    InputError
        If a value is not an option, so that a browser cannot make the server open or run a file.
    """
    settings: dict[str, Any] = {}
    for name, control in controls.items():
        options, values = [option for option, _ in control["options"]], chosen.get(name, [])
        if not set(values) <= set(options) or not (control["is_multiple"] or len(values) == 1):
            raise InputError(f"{control['title']} must be one of {', '.join(options)}, got {values!r}.")
        settings[name] = tuple(dict.fromkeys(values)) if control["is_multiple"] else values[0]
    return Settings(**settings)
