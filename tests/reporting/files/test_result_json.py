"""The JSON object of the public contract."""

from __future__ import annotations

import dataclasses
import io
import json
import math

import psm_sim
from psm_sim.network import Topology
from psm_sim.network.topology_sections import BeaconParameters, PowerParameters
from psm_sim.reporting.files import result_json as json_report
from psm_sim.simulation import Comparison


def written(comparison: Comparison) -> dict:
    """Return the JSON object of a comparison."""
    stream = io.StringIO()
    json_report.write(comparison, stream)
    return json.loads(stream.getvalue())


def test_the_json_file_has_the_documented_names(comparison: Comparison) -> None:
    """Scripts of users depend on these names."""
    document = written(comparison)
    assert list(document)[:5] == ["psm_sim", "trace", "topology", "pages", "seed"]
    expected = {
        "psm_sim": psm_sim.__version__, "trace": "ucb", "topology": "three-node", "pages": 5, "seed": 3
    }  # fmt: skip
    assert expected.items() <= document.items()
    assert [run["policy"] for run in document["runs"]] == ["psm", "bsd:p=0.5,max_sleep_ms=none", "always-on"]
    run = document["runs"][1]
    names = (
        "policy parameters pages simulated_s wall_s events energy_per_page_j energy_by_state_per_page_j"
        " time_by_state_s beacons_per_page page_time_s slowdown"
    )
    assert set(names.split()) <= set(run)
    assert set(run["energy_by_state_per_page_j"]) == {"awake", "asleep", "beacons"}
    assert set(run["time_by_state_s"]) == {"awake", "asleep"}
    assert set(run["page_time_s"]) == set(run["slowdown"]) == {"mean", "median", "p95", "max"}
    assert run["parameters"] == {"p": 0.5, "max_sleep_ms": None}
    assert run["energy_per_page_j"] == comparison.runs[1].energy_per_page_j
    assert document["synthetic"] is True
    assert document["remark"].startswith("synthetic pages")
    assert document["trace_parameters"] == comparison.workload.parameters
    assert document["scenario"]["links.wired.latency_ms"] == 20.0


def test_the_json_file_has_the_differences_from_the_bundled_topology(comparison: Comparison) -> None:
    """A bundled topology has none, and one created in Python has its changed keys without the settings."""
    document = written(comparison)
    assert (document["topology_base"], document["topology_differs"]) == ("three-node", {})
    topology = Topology(name="mine", power=PowerParameters(awake_w=1.0), beacon=BeaconParameters(50.0))
    scenario = dataclasses.replace(comparison.scenario, settings={"power.awake_w": "1"})
    tasks = [dataclasses.replace(comparison.tasks[0], resolved_topology=topology)]
    document = written(dataclasses.replace(comparison, tasks=tasks, scenario=scenario))
    assert (document["topology_base"], document["topology_differs"]) == (
        "three-node",
        {"beacon.interval_ms": 50.0},
    )


def test_nonfinite_numbers_are_written_as_text(comparison: Comparison) -> None:
    """The output stays valid JSON with an infinite parameter."""
    parameters = {"a": math.inf, "b": [math.nan, 1.5]}
    blocks = [
        dataclasses.replace(block, keys=block.keys | {"parameters": parameters})
        for block in comparison.blocks
    ]
    document = written(dataclasses.replace(comparison, blocks=blocks))
    assert document["runs"][0]["parameters"] == {"a": "inf", "b": ["nan", 1.5]}
