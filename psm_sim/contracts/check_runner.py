"""Run the contract checks of a component given by name, file, class or object."""

from __future__ import annotations

import re
from abc import ABCMeta
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from psm_sim.common.component_spec import class_file, name_of
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import build
from psm_sim.common.registry import Registry, unknown_name_error
from psm_sim.contracts.check_suite import Report, Subject, Suite
from psm_sim.contracts.learner_checks import LEARNER_CHECKS
from psm_sim.contracts.loss_checks import LOSS_CHECKS
from psm_sim.contracts.policy_checks import POLICY_CHECKS, PolicySubject
from psm_sim.learning import Learner
from psm_sim.learning.factory import LEARNERS, make_learner
from psm_sim.losses import LOSSES, FormulaLoss, Loss, make_loss
from psm_sim.policies import POLICIES, Policy, make_policy

EXPERTS, HORIZON = 5, 50
"""Number of experts of the learners under test, and horizon of their switching rates in rounds."""


class Kind(NamedTuple):
    """Kind of component that contract checks support.

    Attributes
    ----------
    base : type
        Base class of its components.
    suite : Suite
        Contract checks.
    subject : callable
        Class of the test subject, called with the component.
    names : list of str
        Names of the registered components.
    make : callable
        Creates a component from its text.
    arguments : mapping
        Constructor arguments of a component that is specified as a class.
    """

    base: type
    suite: Suite[Any]
    subject: Callable[[Any], Any]
    names: list[str]
    make: Callable[[str], Any]
    arguments: Mapping[str, Any] = {}


_KINDS = (
    Kind(Policy, POLICY_CHECKS, PolicySubject, [*POLICIES.names(), *POLICIES.installed()], make_policy),
    Kind(Loss, LOSS_CHECKS, Subject, [*LOSSES.names(), *LOSSES.installed()], make_loss),
    Kind(
        Learner,
        LEARNER_CHECKS,
        Subject,
        [*LEARNERS.names(), *LEARNERS.installed()],
        lambda text: make_learner(text, EXPERTS, HORIZON),
        {"n_experts": EXPERTS},
    ),
)
KIND_NAMES = "policy, loss or learner"
"""Kinds of components, for error messages."""

# Common base class of the plug-ins. Error messages contain its name: "derived from psm_sim's NAME".
_Component = ABCMeta("Policy, Loss or Learner", (), {})
for _kind in _KINDS:
    _Component.register(_kind.base)
_FILES: Registry[Any] = Registry(KIND_NAMES, _Component, {})


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
    (True, 19)
    """
    instance = _make(component)
    kind = next((kind for kind in _KINDS if isinstance(instance, kind.base)), None)
    if kind is None:
        raise InputError(f"component must be a {KIND_NAMES}, got {component!r}.")
    if isinstance(instance, Learner) and instance.n_experts < 2:
        raise InputError(f"The learner must have at least 2 experts, got {instance.n_experts}.")
    return kind.suite.run(
        component if isinstance(component, str) else type(instance).__name__, kind.subject(instance)
    )


def _make(component: Any) -> Any:
    if isinstance(component, str):
        return _make_by_name(component)
    if not isinstance(component, type):
        return component
    arguments = next((kind.arguments for kind in _KINDS if issubclass(component, kind.base)), {})
    return build(component, {}, component.__name__, **arguments)


def _make_by_name(text: str) -> Any:
    name = name_of(text, "component")
    cls = _FILES.get(name) if class_file(name) else None
    for kind in _KINDS:
        if name in kind.names or (cls is not None and issubclass(cls, kind.base)):
            return kind.make(text)
    return _make_formula(text, name)


def _make_formula(text: str, name: str) -> FormulaLoss:
    try:
        return FormulaLoss(text)
    except InputError:
        if not re.fullmatch(r"[\w.-]*", name):
            raise
    names = [name for kind in _KINDS for name in kind.names]
    raise unknown_name_error(KIND_NAMES, name, [*names, "FILE.py:CLASS", "a formula"])
