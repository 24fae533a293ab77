"""Paths and names of the bundled topologies, traces and presets."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def bundled_dir(kind: str) -> Path:
    """Return the folder of bundled files of one kind, such as ``"topologies"`` or ``"traces"``.

    In an installed wheel the folder is inside the package. In a source tree it is next to the package.
    """
    installed = _PACKAGE / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind


def bundled_names(kind: str, suffix: str = ".toml") -> list[str]:
    """Return the sorted names, without *suffix*, of the bundled files of one *kind*."""
    return sorted(path.stem for path in bundled_dir(kind).glob(f"*{suffix}"))
