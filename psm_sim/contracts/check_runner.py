"""Runner of the contract checks of a component, which the user names or passes as a class or object."""

from __future__ import annotations

import re
from abc import ABCMeta
from collections.abc import Callable
from typing import Any, NamedTuple

from psm_sim.common.component_spec import class_file, name_of
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import build
from psm_sim.common.plugins import load_class
from psm_sim.common.registry import Registry, unknown_name_error
from psm_sim.contracts.learner_checks import LEARNER_CHECKS
from psm_sim.contracts.loss_checks import LOSS_CHECKS, returns_a_finite_loss_for_each_candidate
from psm_sim.contracts.policy_checks import POLICY_CHECKS, loads_every_page
from psm_sim.contracts.report import Check, Finding, Report, run_check
from psm_sim.contracts.shared_checks import can_be_copied
from psm_sim.learning import Learner
from psm_sim.learning.factory import LEARNERS, make_learner
from psm_sim.losses import LOSSES, FormulaLoss, Loss, make_loss
from psm_sim.policies import POLICIES, Policy, make_policy

EXPERTS, HORIZON = 5, 50
"""Number of experts of the learners under test, and horizon of their switching rates in rounds."""

GATES = (can_be_copied, returns_a_finite_loss_for_each_candidate, loads_every_page)
"""Checks that must pass before the later checks can run."""


class ComponentKind(NamedTuple):
    """Kind of component: base class, checks, registry, and a function that creates a component from text."""

    base: type
    checks: tuple[Check, ...]
    registry: Registry[Any]
    make: Callable[[str], Any]


_KINDS = (
    ComponentKind(Policy, POLICY_CHECKS, POLICIES, make_policy),
    ComponentKind(Loss, LOSS_CHECKS, LOSSES, make_loss),
    ComponentKind(Learner, LEARNER_CHECKS, LEARNERS, lambda text: make_learner(text, EXPERTS, HORIZON)),
)
KIND_NAMES = "policy, loss or learner"
"""Kinds of components, for error messages."""

# Common base class of the plug-ins. Error messages contain its name: "derived from psm_sim's NAME".
_Component = ABCMeta("Policy, Loss or Learner", (), {})
for _kind in _KINDS:
    _Component.register(_kind.base)


def check(component: str | type | Policy | Loss | Learner | Any) -> Report:
    """Run the contract checks of a policy, loss or learner.

    The checks work on copies, so an object is not modified.

    Parameters
    ----------
    component
        Built-in name or ``FILE.py:CLASS``, optionally with ``:key=value,...``; the formula of a loss; a
        class, which is created with default parameters; or an object. A learner is created with five experts.

    Returns
    -------
    Report
        One finding per check. ``.ok`` is true if all checks passed. The report prints as a table.

    Raises
    ------
    InputError
        If the component is unknown or cannot be created.

    Examples
    --------
    >>> report = check("psm:listen_interval=2")
    >>> report.ok, len(report.findings)
    (True, 13)
    """
    instance = _make(component)
    kind = next((kind for kind in _KINDS if isinstance(instance, kind.base)), None)
    if kind is None:
        raise InputError(f"component must be a {KIND_NAMES}, got {component!r}.")
    if isinstance(instance, Learner) and instance.n_experts < 2:
        raise InputError(f"The learner must have at least 2 experts, got {instance.n_experts}.")
    name = component if isinstance(component, str) else type(instance).__name__
    findings: list[Finding] = []
    for contract in kind.checks:
        findings.append(run_check(contract, instance))
        if contract in GATES and not findings[-1].ok:
            break
    return Report(kind.registry.kind, name, tuple(findings), len(kind.checks) - len(findings))


def _make(component: Any) -> Any:
    if isinstance(component, str):
        return _make_by_name(component)
    if not isinstance(component, type):
        return component
    arguments = {"n_experts": EXPERTS} if issubclass(component, Learner) else {}
    return build(component, {}, component.__name__, **arguments)


def _make_by_name(text: str) -> Any:
    name = name_of(text, "component")
    file = class_file(name)
    cls = load_class(*file, _Component) if file else None
    for kind in _KINDS:
        if (cls is None and kind.registry.knows(text)) or (cls is not None and issubclass(cls, kind.base)):
            return kind.make(text)
    try:
        return FormulaLoss(text)
    except InputError:
        if not re.fullmatch(r"[\w.-]*", name):
            raise
    names = [name for kind in _KINDS for name in (*kind.registry.names(), *kind.registry.installed())]
    raise unknown_name_error(KIND_NAMES, name, [*names, "FILE.py:CLASS", "a formula"])
