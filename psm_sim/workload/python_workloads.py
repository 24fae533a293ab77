"""Conversion of Python objects to workloads."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import InputError, safe_repr
from psm_sim.workload.page_list_reader import MissingValues, pages_of
from psm_sim.workload.page_view import Page
from psm_sim.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd


def as_workload(trace: Any) -> Workload:
    """Convert a DataFrame, a list of pages or a workload to a Workload.

    A DataFrame has the columns of a page list and one row per page. The column ``page`` is optional. The
    sizes of the images are a string (``"100;200"``) or a list.

    Raises
    ------
    InputError
        If the object is of another type or its pages are invalid.
    """
    if isinstance(trace, Workload):
        return trace
    if isinstance(trace, Sequence) and not isinstance(trace, (str, bytes)):
        return Workload("pages", tuple(trace), False, "pages made in Python")
    if hasattr(trace, "columns") and hasattr(trace, "to_csv"):
        return Workload("DataFrame", _pages_of_frame(trace), False, "pages of a DataFrame")
    raise InputError(
        "trace must be a name or file, a list of Page, a DataFrame with the columns of a page list, or a "
        f"Workload, got {safe_repr(trace)}."
    )


def _pages_of_frame(frame: pd.DataFrame) -> tuple[Page, ...]:
    frame = frame.copy()
    if "page" not in frame.columns:
        frame.insert(0, "page", range(1, len(frame) + 1))
    if "images" in frame.columns:
        frame["images"] = [_sizes(images) for images in frame["images"]]
    text = frame.to_csv(index=False)
    return pages_of(
        csv.reader(io.StringIO(text, newline=""), strict=True), Path("DataFrame"), MissingValues()
    )


def _sizes(images: Any) -> str:
    if isinstance(images, (list, tuple)):
        return ";".join(map(str, images))
    return images if isinstance(images, str) else ""
