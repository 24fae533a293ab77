"""JSON output of a comparison.

``docs/reference.md`` explains the keys.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim import __version__
from psm_sim.simulation.preset import load_preset

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as plain values.

    Only ``wall_s`` differs between repeated runs. With several clients, ``pages`` is the number of pages of
    all clients, and ``clients`` is the number of clients. With several seeds, ``pages`` is the number of
    pages of each seed, and ``replications`` is the number of seeds.
    """
    time, count, preset = comparison.recorded_time, comparison.replications, comparison.preset
    return {
        "psm_sim": __version__,
        "trace": comparison.scenario.trace_name,
        "topology": comparison.scenario.topology_name,
        **({"profile": comparison.scenario.profile} if comparison.scenario.profile else {}),
        **({"battery_mah": comparison.scenario.battery_mah} if comparison.scenario.battery else {}),
        "pages": comparison.pages,
        **({"clients": count} if comparison.replicate == "client" else {}),
        "seed": comparison.scenario.seed,
        **({"replications": count} if comparison.replicate == "seed" else {}),
        "preset": preset or None,
        **({"preset_choices": load_preset(preset).history()} if preset else {}),
        "synthetic": comparison.workload.synthetic,
        "remark": comparison.workload.remark,
        "trace_parameters": comparison.workload.parameters,
        **({"recorded_time": time} if time else {}),
        "topology_base": comparison.resolved_topology.base,
        "topology_differs": comparison.topology_differs,
        "settings": comparison.scenario.settings,
        "scenario": comparison.resolved_topology.config(),
        **({"missing": dict(comparison.missing)} if comparison.missing else {}),
        "conclusion": comparison.conclusion(),
        "runs": [run.to_dict() for run in comparison.runs],
        "baselines": [run.to_dict() for run in comparison.baselines],
        "differences": [
            {**{key: value for key, value in run.identity.items() if key != "station_policy"}, **difference}
            for run in comparison.shown
            if (difference := comparison.difference(run))
        ],
    }


def to_text(value: Any) -> str:
    """Return plain values as JSON text. Infinities and NaN become strings, because JSON has neither."""
    return json.dumps(_finite(value), indent=2, allow_nan=False) + "\n"


def write(comparison: Comparison, stream: TextIO) -> None:
    """Write a *comparison* to *stream* as one JSON object."""
    stream.write(to_text(to_dict(comparison)))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
