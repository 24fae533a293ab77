"""psm_sim: what an 802.11 power-save policy costs, and what it saves.

>>> import psm_sim
>>> result = psm_sim.simulate(policy="psm", trace="ucb", pages=10, seed=1)
>>> result.slowdown.mean > 1
True
"""

from __future__ import annotations

import sys

# "python -m psm_sim" puts the current folder first: a json.py beside the traces would be taken for the
# library's own. Now it comes last: what a plug-in has beside it is still found.
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    sys.path.append(sys.path.pop(0))

from typing import TYPE_CHECKING, Any

from psm_sim.version import __version__

if TYPE_CHECKING:
    from psm_sim.campaign.sweep.api import load_sweep, sweep
    from psm_sim.contracts import check
    from psm_sim.simulation import compare, simulate, timeline

__all__ = ["__version__", "check", "compare", "load_sweep", "simulate", "sweep", "timeline"]

_MODULES = {
    "check": "psm_sim.contracts",
    "compare": "psm_sim.simulation",
    "load_sweep": "psm_sim.campaign.sweep.api",
    "simulate": "psm_sim.simulation",
    "sweep": "psm_sim.campaign.sweep.api",
    "timeline": "psm_sim.simulation",
}


def __getattr__(name: str) -> Any:
    """Import what runs simulations when it is first used: the command line starts without it."""
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'psm_sim' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, those included that are imported when they are first used."""
    return sorted(__all__)
