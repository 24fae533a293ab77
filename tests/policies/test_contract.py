"""Contract checks of the built-in policies."""

from __future__ import annotations

import pytest

from psm_sim.common.parameters import parameters_of
from psm_sim.contracts.policy_checks import POLICY_CHECKS
from psm_sim.contracts.report import Check, run_check
from psm_sim.policies import POLICIES, make_policy
from tests.contracts.cases import Exceptions, cases

SPECS = [
    *POLICIES.names(),
    "psm:listen_interval=10",
    "bsd:p=0.1,max_sleep_ms=none",
    "lpsm:loss=inverse",
    "lpsm:loss=constrained,uplink=keep,learn_on_uplink=true",
    "lpsm:alpha=0,uplink=restart",
    "lpsm:context=outstanding",
    "listen:learner=cbgz2,b=0.003",
    "listen:learner=dkm",
    "anticipate:p=0.5",
    "anticipate:price=2,share=0",
    "smart:p=0.1,penalty_ms=0",
    "adaptive:frames=1,quiet=3",
    "share-timeout:price=10,share=0",
    "dynamic:stack=esp-idf,listen_interval=3",
    "uapsd:max_sp=2,listen_interval=3",
    "twt:uplink=wait,announced=true",
    "twt:early_end=true,exponent=8",
]
EXCEPTIONS: Exceptions = {}


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load two pages in each run."""
    monkeypatch.setattr("psm_sim.contracts.policy_checks.CHECK_PAGES", 2)


@pytest.mark.parametrize(("spec", "check"), cases(POLICY_CHECKS, SPECS, EXCEPTIONS))
def test_a_built_in_policy_passes_every_check(spec: str, check: Check) -> None:
    """The checks are those of ``psm_sim check``."""
    assert run_check(check, make_policy(spec)).fault == ""


@pytest.mark.parametrize("name", POLICIES.names())
def test_every_listed_policy_has_documented_parameters(name: str) -> None:
    """Each parameter has a help text, which ``list policies`` shows."""
    cls = POLICIES.get(name)
    assert all(parameter.help for parameter in parameters_of(cls).values())
    assert make_policy(name).name == name
