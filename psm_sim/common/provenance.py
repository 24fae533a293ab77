"""Provenance of results: versions, platform, git revision and digests of the input files."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from psm_sim.common.input_files import file_digest
from psm_sim.version import __version__

PACKAGES = ("numpy", "scipy", "simpy")
"""Packages whose versions may change a result."""

_TIMEOUT_S = 5.0  # git takes milliseconds, but blocks on a network drive that does not answer


def collect_provenance(files: Iterable[Path]) -> dict[str, Any]:
    """Return the provenance of a result as plain values.

    It contains the versions of psm_sim, Python and the required packages, the git state of the current
    folder and of psm_sim's source tree (None without a repository), and the SHA-256 digests of *files*,
    the user's files, by path.
    """
    return {
        "psm_sim": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": package_versions(),
        "git": {"folder": git_state(Path.cwd()), "psm_sim": git_state(Path(__file__).parent)},
        "files": {str(file): file_digest(file) for file in files},
    }


@cache
def code_versions() -> dict[str, str]:
    """Return the versions of psm_sim, with the digest of its source, and of :data:`PACKAGES`."""
    root = Path(__file__).parents[1]
    digests = {file.relative_to(root).as_posix(): file_digest(file) for file in root.rglob("*.py")}
    source = f"{__version__}, source {digest_of(digests)[:16]}"
    return {"psm_sim": source, **{name: _version(name) for name in PACKAGES}}


def package_versions() -> dict[str, str]:
    """Return the versions of the installed packages that psm_sim and its extras require."""
    try:
        required = metadata.requires("psm_sim") or []
    except metadata.PackageNotFoundError:
        required = []
    names = {re.split(r"[^\w.\-]", requirement, maxsplit=1)[0] for requirement in required}
    return {name: version for name in sorted(names) if (version := _version(name))}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def git_state(folder: Path) -> dict[str, Any] | None:
    """Return ``commit`` of a folder's repository, and ``changed``: whether tracked files differ from it.

    Returns None if no repository tracks the folder, or git is not installed.
    """
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit or not _git(folder, "ls-files", "--", "."):
        return None
    return {"commit": commit, "changed": bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))}


def _git(folder: Path, *args: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(folder), *args],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""
    return done.stdout.strip()


def digest_of(values: Any) -> str:
    """Return the SHA-256 digest of plain values as 64 hexadecimal digits.

    *values* are numbers, strings, lists and dictionaries. The order of a dictionary has no effect. Any other
    value is converted with ``str()``.
    """
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
