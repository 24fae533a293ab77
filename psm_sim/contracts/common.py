"""Checks that policies, losses and learners have in common."""

from __future__ import annotations

from typing import Any

from psm_sim.contracts.suite import Subject, require


def can_be_copied(subject: Subject[Any]) -> None:
    """It can be copied: each run, and each check, works on a copy of its own."""
    subject.fresh()


def default_parameters(subject: Subject[Any]) -> None:
    """It can be made without any parameter."""
    type(subject.given)()


def documented(subject: Subject[Any]) -> None:
    """It has a name, by which results call it, and a docstring."""
    require(subject.given.name, "Its name is empty; expected a class attribute name.")
    require(type(subject.given).__doc__, "Its class has no docstring; expected one sentence.")
