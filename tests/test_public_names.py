"""Public names, some of which are imported on first use."""

from __future__ import annotations

import importlib

import pytest

MODULES = ("contracts", "learning", "losses", "network", "policies", "simulation", "workload")


@pytest.mark.parametrize("module", ["psm_sim", *(f"psm_sim.{name}" for name in MODULES)])
def test_every_exported_name_exists(module: str) -> None:
    imported = importlib.import_module(module)
    assert all(hasattr(imported, name) for name in imported.__all__)
