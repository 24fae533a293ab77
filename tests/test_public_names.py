"""The names that a user may import: one that goes, comes or is renamed is decided on, not an accident."""

from __future__ import annotations

import importlib

import pytest

NAMES = {
    "psm_sim": "__version__ check compare compare_losses load_sweep simulate sweep timeline",
    "psm_sim.contracts": "Finding Report check",
    "psm_sim.learning": """
        BestRate DecreasingShare FixedShare LEARNERS LearnAlpha Learner MixingPastPosteriors
        ShortLearnAlpha StaticExpert SwitchingSequences
        WaitingTimeModel best_expert best_rate best_switching comparator_losses
        learn_alpha_bound learn_alpha_optimal_bound lower_bound make_learner rate_losses regrets
        relative_entropy run_learner switching_rates upper_bound""",
    "psm_sim.losses": """
        ArrivalAware ConstrainedLoss FormulaLoss InverseLogLoss InverseLoss LOSSES Loss Poll
        RetrievalEnergy check_loss make_loss""",
    "psm_sim.network": """
        EnergyLedger Observer PageError PagesDone Topology Usage World build_world load_topology
        topology_differences topology_keys""",
    "psm_sim.policies": "Beacons Frame POLICIES Policy Poll RadioPower Rest make_policy",
    "psm_sim.simulation": """
        Average BASELINES ClientAverage ClientComparison Comparison PageRecord PairedDifference
        Progress References Result Scenario SeedAverage SeedComparison Summary Traffic compare
        compare_clients compare_runs compare_seeds paired_difference simulate timeline""",
    "psm_sim.workload": "Page Workload load_workload load_workloads read_page_list write_page_list",
}


@pytest.mark.parametrize("module", NAMES)
def test_the_exported_names_are_these(module: str) -> None:
    """Neither more nor fewer, and each of them is there."""
    found = importlib.import_module(module)
    assert sorted(found.__all__) == sorted(NAMES[module].split())
    assert all(hasattr(found, name) for name in found.__all__)
