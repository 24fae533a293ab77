"""Presets, and the arguments of a run.

A preset sets parameters of the trace, the policies and the topology, and states the evidence for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, safe_repr
from psm_sim.common.input_files import bundled_dir, bundled_names, read_toml
from psm_sim.common.parameters import parameters_of
from psm_sim.common.registry import unknown_name_error
from psm_sim.network import Topology, load_topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.topology import (
    check_effects,
    check_settings,
    flatten_keys,
    topology_keys,
    unknown_key_error,
)
from psm_sim.policies import POLICIES, Policy
from psm_sim.policies.factory import PolicyLike, with_loss
from psm_sim.simulation.comparison import References
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload
from psm_sim.workload.page_list import as_workload


@dataclass(frozen=True)
class PresetChoice:
    """Parameter of a preset for which no source states a value, and how the value was chosen.

    Attributes
    ----------
    choice : str
        Name of the parameter.
    looked_at : tuple of str
        Published numbers that the choice is based on, as study, policy and quantity. Example:
        ``"bsd-energy/psm/slowdown*"`` with the wildcard ``*``.
    tried : tuple of str
        Values that were tried.
    seeds : str
        Seeds of the runs that the choice is based on.
    values : mapping of str to float
        Calibrated value of the parameter for each study; empty if it is not calibrated.
    """

    choice: str
    looked_at: tuple[str, ...]
    tried: tuple[str, ...] = ()
    seeds: str = ""
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Preset:
    """Defaults that override the program's defaults. Explicit arguments override the preset.

    ``calibrated`` and ``fitted`` list the parameters for which no source states a value. ``evidence`` lists
    statements that support the preset, and ``doubts`` statements against it.
    """

    name: str = ""
    description: str = ""
    trace: str = "ucb"
    trace_parameters: dict[str, Any] = field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    calibrated: tuple[PresetChoice, ...] = ()
    fitted: tuple[PresetChoice, ...] = ()
    evidence: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def trace_spec(self, trace: str | Spec | None = None, **changes: Any) -> Spec:
        """Return the spec of *trace*, or of the preset's own trace if *trace* is None.

        The trace parameters of the preset apply only to the preset's own trace. *changes* override them. The
        value None in *changes* restores the default of the trace.
        """
        spec = Spec.of(trace or self.trace, "trace")
        return spec.with_defaults({**self.trace_parameters, **changes} if spec.name == self.trace else {})

    def policy_spec(self, policy: str | Spec) -> Spec:
        """Return *policy* with the preset's parameters for it as defaults.

        Parameters that have no effect in *policy* are omitted.
        """
        spec = Spec.of(policy, "policy")
        defaults = self.policies.get(spec.name, {})
        if not defaults or not spec.items:
            return spec.with_defaults(defaults)
        parameters = parameters_of(POLICIES.get(spec.name))
        values = {name: each.default for name, each in parameters.items()} | defaults | spec.values
        conditions = {name: each.requires for name, each in parameters.items()}
        acting = {
            name: value
            for name, value in defaults.items()
            if (condition := conditions.get(name)) is None or condition.is_met(values)
        }
        return spec.with_defaults(acting)

    def calibration(self, study: str) -> dict[str, float]:
        """Return the parameters that are calibrated for a study, with their values."""
        return {choice.choice: choice.values[study] for choice in self.calibrated if study in choice.values}

    def note(self) -> str:
        """Return one line that names the fitted and calibrated parameters; empty if there are none."""
        notes = [
            f"{', '.join(choice.choice for choice in choices)} {verb}"
            f" {', '.join(dict.fromkeys(pattern for choice in choices for pattern in choice.looked_at))}"
            for verb, choices in (("fitted to", self.fitted), ("calibrated to", self.calibrated))
            if choices
        ]
        return f"preset {self.name}: {'; '.join(notes)}" if notes else ""

    def history(self) -> dict[str, Any]:
        """Return the description, choices, evidence and doubts as strings, lists and dictionaries."""
        return {
            "description": self.description,
            **{
                role: [_plain(choice) for choice in choices]
                for role, choices in (("calibrated", self.calibrated), ("fitted", self.fitted))
            },
            "for": list(self.evidence),
            "against": list(self.doubts),
        }


def load_preset(name: str | Path | None) -> Preset:
    """Load a bundled preset, or a preset file whose name ends in ``.toml``. None returns an empty preset.

    Raises
    ------
    InputError
        If the preset does not exist or is invalid.
    """
    if name is None:
        return Preset()
    name = str(name)
    path = Path(name) if name.endswith(".toml") else bundled_dir("presets") / f"{name}.toml"
    names = bundled_names("presets")
    if not name.endswith(".toml") and name not in names:
        raise unknown_name_error("preset", name, [*names, "FILE.toml"])
    table = read_toml(path, "preset")
    _check_tables(table, path)
    check_settings(table.get("settings", {}), str(path))
    for key in ("calibrated", "fitted"):
        table[key] = tuple(_choice(entry, f"{path}: {key}") for entry in table.get(key, ()))
    for key in ("evidence", "doubts"):
        table[key] = tuple(table.get(key, ()))
    return Preset(name=name, **table)


def _check_tables(table: Mapping[str, Any], path: Path) -> None:
    """Reject unknown keys and values of a wrong type."""
    keys = {key.name: key for key in fields(Preset) if key.name != "name"}
    for key, value in table.items():
        if key not in keys:
            raise InputError(f"{path}: unknown preset key {key!r}; expected {', '.join(keys)}.")
        expected: type = str if key in _STRINGS else list if key in _LISTS else dict
        parts = value.values() if key == "policies" and isinstance(value, dict) else ()
        if not isinstance(value, expected) or not all(isinstance(part, dict) for part in parts):
            raise InputError(f"{path}: {key} must be {_KINDS[expected]}, got {value!r}.")


_STRINGS = ("description", "trace")
_LISTS = ("calibrated", "fitted", "evidence", "doubts")
_KINDS: dict[type, str] = {
    str: "a string",
    list: "a list",
    dict: "a table (for policies: a table of tables)",
}


def _choice(entry: Any, where: str) -> PresetChoice:
    if not isinstance(entry, dict) or "choice" not in entry:
        raise InputError(f"{where} must be tables with the key 'choice', got {entry!r}.")
    valid = [key.name for key in fields(PresetChoice)]
    for key in entry:
        if key not in valid:
            raise InputError(f"{where}: {unknown_name_error('key', key, valid)}")
    values: dict[str, Any] = dict(entry)
    for key in ("looked_at", "tried"):
        values[key] = tuple(values.get(key, ()))
    return PresetChoice(**values)


def _plain(choice: PresetChoice) -> dict[str, Any]:
    facts = {"choice": choice.choice, "looked_at": list(choice.looked_at), "tried": list(choice.tried)}
    return {**facts, "seeds": choice.seeds, **({"values": dict(choice.values)} if choice.values else {})}


@dataclass
class RunArguments:
    """Arguments that define the scenario and the policies of a run, from the command line or from Python.

    The arguments are those of :func:`psm_sim.simulate`; None and an empty string select their defaults.
    *where* is the name of the settings in error messages, such as ``"--set"``.

    Raises
    ------
    InputError
        If an argument has a wrong type, or the preset is invalid.
    """

    trace: Any
    topology: Any
    pages: int
    seed: int
    settings: Mapping[str, Any] | None = None
    preset: str | Path | None = None
    profile: str | Path | None = None
    battery: str | None = None
    loss: str | None = None
    clients: str | int | None = None
    _: KW_ONLY
    where: str = "settings"

    def __post_init__(self) -> None:
        topology, settings = self.topology, self.settings
        if not isinstance(topology, (str, Path, Topology, Mapping, type(None))):
            raise InputError(
                "topology must be a name, a .toml file, a dictionary of keys or a Topology, "
                f"got {safe_repr(topology)}."
            )
        if not (settings is None or isinstance(settings, Mapping)):
            raise InputError(f"settings must be a dictionary of topology keys, got {safe_repr(settings)}.")
        self._preset = load_preset(self.preset)

    @property
    def preset_name(self) -> str:
        """Name of the preset; empty for none."""
        return self._preset.name

    def scenario(self) -> Scenario:
        """Return the scenario.

        Raises
        ------
        InputError
            If an argument is invalid, or a key of *settings* has no effect.
        """
        given, profile = self.settings or {}, str(self.profile or "")
        trace, latency = _peer_of(self._trace(), self.topology)
        network = present_network(profile, given) if self.topology is None else {}
        settings = {**network, **latency, **self._preset.settings, **given}
        own: dict[str, Any] = {}
        if isinstance(self.topology, Mapping):
            own = _keys(self.topology)
            chip = load_profile(profile).values if profile else {}
            topology: str | Topology = _build_topology(self.topology, {**own, **chip, **settings})
            settings, profile = {}, ""
        else:
            named = Scenario.topology if self.topology is None else self.topology
            topology = str(named) if isinstance(named, Path) else named
        scenario = Scenario(trace, topology, self.pages, self.seed, settings, profile, self.battery)
        resolved = scenario.resolve_unseeded_topology(self.where)
        check_effects(resolved, [*own, *given], self.where)
        return scenario

    def policies(self, policies: Sequence[Any]) -> list[PolicyLike]:
        """Convert each policy, see :meth:`policy`. The argument ``loss`` applies to ``lpsm`` policies."""
        if isinstance(policies, (str, Spec, Policy, type)) or not isinstance(policies, Sequence):
            raise InputError(f"policies must be a non-empty list, got {safe_repr(policies)}.")
        return [self.policy(policy) for policy in with_loss(policies, self.loss)]

    def policy(self, policy: Any) -> PolicyLike:
        """Convert a policy to a spec with the preset's parameters, unless it is an instance or a class."""
        if isinstance(policy, Policy) or (isinstance(policy, type) and issubclass(policy, Policy)):
            return policy
        if not isinstance(policy, (str, Spec)):
            raise InputError(
                "policy must be a name, FILE.py:CLASS, a Policy class or a Policy instance, "
                f"got {safe_repr(policy)}."
            )
        return self._preset.policy_spec(policy)

    def references(self, baselines: Sequence[str | Spec], against: Any) -> References:
        """Return the baselines and the reference policy. If *against* is None, there is no reference."""
        return References(
            tuple(map(self.policy, baselines)), () if against is None else (self.policy(against),)
        )

    def _trace(self) -> Spec | Workload:
        trace = str(self.trace) if isinstance(self.trace, Path) else self.trace
        if not (trace is None or isinstance(trace, (str, Spec))):
            return as_workload(trace)
        spec = self._preset.trace_spec(trace)
        return spec if self.clients is None else spec.with_("clients", self.clients)


def present_network(profile: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the topology keys of a typical present network for a chip; empty without a chip.

    The network has beacons every 100 TU, 802.11n, 2 % lost beacons (assumed), and the group addressed frames
    of the preset household. It has no ``beacon.guard_ms``, because a chip's charge per beacon includes the
    guard time.

    Parameters
    ----------
    profile
        Chip. With a measured mean current (``dtim_N=``), no lost beacons and no group addressed frames are
        added, because the current includes them.
    settings
        Topology keys of the user. With ``mac.model=dcf``, no group addressed frames are added.
    """
    if not profile:
        return {}
    is_link = settings.get("mac.model") != "dcf"
    network: dict[str, Any] = {"beacon.interval_ms": 102.4}
    network |= {"links.wireless.rate_mbps": 65.0} if is_link else {"mac.standard": "802.11n"}
    if "dtim_" not in profile:
        network["beacon.loss"] = 0.02
        if is_link:
            network |= load_preset("household").settings
    return network


_PEERS = {"local": 0.2, "internet": 20.0}
"""One-way delay in ms between the access point and the other host of a ping (assumed)."""


def _peer_of(trace: Spec | Workload, topology: Any) -> tuple[Spec | Workload, dict[str, float]]:
    """Replace the parameter ``to`` of trace ``ping`` by a topology key, the wired latency.

    Return the trace without ``to``, and the topology keys. If ``to`` is missing, it is ``local`` on the
    default topology, and other topologies keep their latency.
    """
    if not isinstance(trace, Spec) or trace.name != "ping":
        return trace, {}
    values = trace.values
    to = values.pop("to", "local" if topology in (None, Scenario.topology) else None)
    if to is not None and to not in _PEERS:
        raise InputError(f"trace ping: {unknown_name_error('value of to', to, _PEERS)}")
    latency = {} if to is None else {"links.wired.latency_ms": _PEERS[to]}
    return Spec(trace.name, tuple(values.items()), trace.label), latency


def _build_topology(table: Mapping[str, Any], values: Mapping[str, Any]) -> Topology:
    """Load the topology that *table* extends, with its own ``stations`` and the *values* of its keys."""
    topology = load_topology(table.get("extends", "three-node"), values, "topology", table.get("stations"))
    return replace(topology, name="dict")


def _keys(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the topology keys of a nested dictionary by dotted name."""
    own_keys = {str(key): value for key, value in table.items() if key not in ("extends", "stations")}
    valid_keys = topology_keys()
    for key in own_keys:
        if not any(valid == key or valid.startswith(f"{key}.") for valid in valid_keys):
            raise InputError(f"topology: {unknown_key_error(key)}")
    return flatten_keys(own_keys)
