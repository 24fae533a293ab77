"""Bundled files: the topologies and traces that travel with the program, and where they are found."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def bundled_dir(kind: str) -> Path:
    """Return the folder of bundled files of one kind, ``"topologies"`` or ``"traces"``.

    Inside an installed wheel the folder lies in the package; in a source tree it lies beside it.
    """
    inside = _PACKAGE / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind


def bundled_names(kind: str, suffix: str = ".toml") -> list[str]:
    """Return the names of the bundled files of one kind, sorted."""
    return sorted(path.stem for path in bundled_dir(kind).glob(f"*{suffix}"))
