"""Merge the recorded pages of the tests into ``traces/recorded.har.gz``, for ``psm_sim benchmark``.

The hosts of each file get a name of their own, because the files were recorded over different networks.

    python benchmarks/recorded_pages.py
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE, TARGET = ROOT / "tests" / "simulation" / "recorded_pages", ROOT / "traces" / "recorded.har.gz"


def merged(folder: Path = SOURCE) -> dict[str, Any]:
    """Return a HAR file with the pages of all files in *folder*, in the order of the names."""
    pages: list[dict[str, Any]] = []
    entries: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*.har.gz")):
        name = file.name.removesuffix(".har.gz")
        text = gzip.decompress(file.read_bytes()).decode().replace("://", f"://{name}.")
        log = json.loads(text)["log"]
        pages += [{**page, "id": name} for page in log["pages"]]
        entries += [{**entry, "pageref": name} for entry in log["entries"]]
    # As for chrome-har, the pages are independent runs, so the recorded gaps between them are no think times.
    creator = {"name": "psm_sim", "version": "1", "comment": "merged from files of chrome-har and Playwright"}
    return {"log": {"version": "1.2", "creator": creator, "pages": pages, "entries": entries}}


if __name__ == "__main__":
    text = json.dumps(merged(), separators=(",", ":"))
    TARGET.write_bytes(gzip.compress(text.encode(), mtime=0))
