"""What several test modules need."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("psm_sim", deadline=None, derandomize=True)
settings.load_profile("psm_sim")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference data beside the project, or skip."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the reference data (../shared) are not beside the project")
    return folder
