"""The examples in the docstrings of psm_sim.learning are run."""

import doctest
import importlib
import pkgutil

import pytest

import psm_sim.learning

MODULES = [found.name for found in pkgutil.iter_modules(psm_sim.learning.__path__, "psm_sim.learning.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_show_what_they_say(name) -> None:
    """Every example prints what stands below it."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    """The search does find them."""
    modules = [importlib.import_module(name) for name in MODULES]
    assert sum(doctest.testmod(module).attempted for module in modules) >= 10
