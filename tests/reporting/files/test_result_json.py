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
    """Return the object as it is read back."""
    stream = io.StringIO()
    json_report.write(comparison, stream)
    return json.loads(stream.getvalue())


def test_the_object_has_the_names_of_the_contract(comparison: Comparison) -> None:
    """Other people's scripts depend on them."""
    found = written(comparison)
    assert list(found)[:5] == ["psm_sim", "trace", "topology", "pages", "seed"]
    expected = {
        "psm_sim": psm_sim.__version__, "trace": "ucb", "topology": "three-node", "pages": 5, "seed": 3
    }  # fmt: skip
    assert expected.items() <= found.items()
    assert [run["policy"] for run in found["runs"]] == ["psm", "bsd:p=0.5,max_sleep_ms=none", "always-on"]
    run = found["runs"][1]
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
    assert found["synthetic"] is True
    assert found["remark"].startswith("synthetic pages")
    assert found["trace_parameters"] == comparison.workload.parameters
    assert found["scenario"]["links.wired.latency_ms"] == 20.0


def test_it_says_in_what_a_topology_differs_from_the_bundled_one(comparison: Comparison) -> None:
    """A bundled one in nothing; one made in Python in the keys that were changed, not in the settings."""
    found = written(comparison)
    assert (found["topology_base"], found["topology_differs"]) == ("three-node", {})
    place = Topology(name="mine", power=PowerParameters(awake_w=1.0), beacon=BeaconParameters(50.0))
    scenario = dataclasses.replace(comparison.scenario, settings={"power.awake_w": "1"})
    tasks = [dataclasses.replace(comparison.tasks[0], resolved_topology=place)]
    found = written(dataclasses.replace(comparison, tasks=tasks, scenario=scenario))
    assert (found["topology_base"], found["topology_differs"]) == ("three-node", {"beacon.interval_ms": 50.0})


def test_a_number_that_json_lacks_becomes_a_text(comparison: Comparison) -> None:
    """A parameter may be infinite; the object stays JSON."""
    parameters = {"a": math.inf, "b": [math.nan, 1.5]}
    blocks = [
        dataclasses.replace(each, keys=each.keys | {"parameters": parameters}) for each in comparison.blocks
    ]
    found = written(dataclasses.replace(comparison, blocks=blocks))
    assert found["runs"][0]["parameters"] == {"a": "inf", "b": ["nan", 1.5]}
