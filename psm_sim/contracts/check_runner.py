"""Runner of the contract checks: from a name, a file, a class or an object to a report."""

from __future__ import annotations

import re
from abc import ABCMeta
from importlib import import_module
from typing import Any

from psm_sim.component_spec import class_file, name_of
from psm_sim.contracts.check_report import Report
from psm_sim.contracts.check_suite import Subject
from psm_sim.contracts.component_kind import Kind
from psm_sim.contracts.learner_state import LEARNER_CHECKS
from psm_sim.contracts.loss import LOSS_CHECKS
from psm_sim.contracts.policy_runs import POLICY_CHECKS, PolicySubject
from psm_sim.errors import InputError
from psm_sim.learning import Learner
from psm_sim.learning.factory import LEARNERS, make_learner
from psm_sim.losses import LOSSES, FormulaLoss, Loss, make_loss
from psm_sim.parameters import build
from psm_sim.policies import POLICIES, Policy, make_policy
from psm_sim.registry import Registry, unknown_name_error

EXPERTS, HORIZON = 5, 50
"""How many experts a learner is made with, and for how many rounds ``learn-alpha`` has its rates."""


def load_kinds() -> tuple[Kind, ...]:
    """Return the kinds that the lab brings."""
    found: tuple[Kind, ...] = import_module("psm_sim.lab.contracts.kinds").KINDS
    return found


KINDS = (
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
    *load_kinds(),
)
WORDS = "policy, loss, learner, online learner or query rule"

# What a file can define; the class has this name because errors say "derived from psm_sim's NAME".
_Component = ABCMeta("Policy, Loss, Learner, OnlineLearner or QueryRule", (), {})
for _kind in KINDS:
    _Component.register(_kind.base)
_FILES: Registry[Any] = Registry(WORDS, _Component, {})


def check(what: str | type | Policy | Loss | Learner | Any) -> Report:
    """Run the contract checks on a policy, a loss, a learner or a query rule; it is left as it was.

    Parameters
    ----------
    what
        A built-in name, ``FILE.py:CLASS``, either with ``:key=value,...`` behind it, or the formula of a
        loss; a class, made without parameters; or an object. A learner is made for five experts,
        an online learner for four features.

    Returns
    -------
    Report
        One finding per check; ``.ok`` says whether all hold, and it prints as a table.

    Raises
    ------
    InputError
        If there is no such component, or it cannot be made.

    Examples
    --------
    >>> report = check("psm:listen_interval=2")
    >>> report.ok, len(report.findings)
    (True, 19)
    """
    made = _made(what)
    kind = next((kind for kind in KINDS if isinstance(made, kind.base)), None)
    if kind is None:
        raise InputError(f"What is to be checked is {what!r}; expected a {WORDS}.")
    if isinstance(made, Learner) and made.n_experts < 2:
        raise InputError(f"The learner to be checked has {made.n_experts} expert; expected at least 2.")
    return kind.suite.run(what if isinstance(what, str) else type(made).__name__, kind.subject(made))


def _made(what: Any) -> Any:
    if isinstance(what, str):
        return _named(what)
    if not isinstance(what, type):
        return what
    given = next((kind.given for kind in KINDS if issubclass(what, kind.base)), {})
    return build(what, {}, what.__name__, **given)


def _named(text: str) -> Any:
    name = name_of(text, "component")
    cls = _FILES.get(name) if class_file(name) else None
    for kind in KINDS:
        if name in kind.names or (cls is not None and issubclass(cls, kind.base)):
            return kind.make(text)
    return _formula(text, name)


def _formula(text: str, name: str) -> FormulaLoss:
    try:
        return FormulaLoss(text)
    except InputError:
        if not re.fullmatch(r"[\w.-]*", name):
            raise
    names = [each for kind in KINDS for each in kind.names]
    raise unknown_name_error(WORDS, name, [*names, "FILE.py:CLASS", "a formula"])
