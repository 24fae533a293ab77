"""Simulator of 802.11 power-save policies: energy per page against slowdown.

>>> import psm_sim
>>> result = psm_sim.simulate(policy="psm", trace="ucb", pages=10, seed=1)
>>> result.slowdown.mean > 1
True
"""

from __future__ import annotations

import sys

# "python -m psm_sim" puts the current folder first on sys.path, so that a json.py there would shadow the
# standard library. If psm_sim is not installed, its parent folder is added for the worker processes.
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    del sys.path[0]
    from pathlib import Path

    root = str(Path(__file__).parents[1])
    if root not in sys.path:
        sys.path.append(root)
from typing import TYPE_CHECKING, Any

from psm_sim.version import __version__

if TYPE_CHECKING:
    from psm_sim.campaign.loss_comparison import compare_losses
    from psm_sim.campaign.sweep.api import load_sweep, sweep
    from psm_sim.contracts import check
    from psm_sim.simulation import compare, simulate, timeline

__all__ = ["__version__", "check", "compare", "compare_losses", "load_sweep", "simulate", "sweep", "timeline"]

_MODULES = {
    "check": "psm_sim.contracts",
    "compare": "psm_sim.simulation",
    "compare_losses": "psm_sim.campaign.loss_comparison",
    "load_sweep": "psm_sim.campaign.sweep.api",
    "simulate": "psm_sim.simulation",
    "sweep": "psm_sim.campaign.sweep.api",
    "timeline": "psm_sim.simulation",
}


def __getattr__(name: str) -> Any:
    """Import a public function on first use, so that the command line starts without the simulator."""
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'psm_sim' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, including those that are imported on first use."""
    return sorted(__all__)
