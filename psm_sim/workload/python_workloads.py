"""Workloads made in Python: from a list of pages, or from a DataFrame with the columns of a page list."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.errors import InputError, safe_repr
from psm_sim.workload.page_list import MissingValues, pages_of
from psm_sim.workload.page_view import Page
from psm_sim.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd


def as_workload(given: Any) -> Workload:
    """Return the workload that a DataFrame, a list of pages or a workload is.

    A DataFrame has the columns of a page list, one row per page; ``page`` can be left out, and the sizes of
    the images are a text (``"100;200"``) or a list.

    Raises
    ------
    InputError
        If it is none of these, or its pages cannot be used.
    """
    if isinstance(given, Workload):
        return given
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        return Workload("pages", tuple(given), False, "pages made in Python")
    if hasattr(given, "columns") and hasattr(given, "to_csv"):
        return Workload("DataFrame", _rows(given), False, "pages of a DataFrame")
    raise InputError(
        f"trace is {safe_repr(given)}; expected a name or file, a list of Page, a DataFrame with the "
        "columns of a page list, or a Workload."
    )


def _rows(frame: pd.DataFrame) -> tuple[Page, ...]:
    frame = frame.copy()
    if "page" not in frame.columns:
        frame.insert(0, "page", range(1, len(frame) + 1))
    if "images" in frame.columns:
        frame["images"] = [_sizes(each) for each in frame["images"]]
    text = frame.to_csv(index=False)
    return pages_of(
        csv.reader(io.StringIO(text, newline=""), strict=True), Path("DataFrame"), MissingValues()
    )


def _sizes(images: Any) -> str:
    if isinstance(images, (list, tuple)):
        return ";".join(map(str, images))
    return images if isinstance(images, str) else ""
