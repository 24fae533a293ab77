"""Configuration of the documentation site. The sources are the Markdown pages of the whole repository."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

from psm_sim.commands.explore import compare_arguments
from psm_sim.reporting.explore.static import ControlGrid, usable_page, write_static_page

ROOT = Path(__file__).resolve().parents[1]

STATIC = "explore/index.html"
"""Explore page of the site, for two settings."""

project = "psm_sim"
html_title = "psm_sim"
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
root_doc = "README"
include_patterns = ["*.md", "docs/**", "examples/**", "reports/**", "psm_sim/**", "tests/**", "laboratory/**"]
myst_heading_anchors = 4
numpydoc_show_class_members = False
maximum_signature_line_length = 80
html_theme = "furo"
html_theme_options = {"light_css_variables": {"code-font-size": "77%"}}  # of both themes
html_favicon = "pictures/icon.svg"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False


def add_navigation(app: Sphinx, docname: str, source: list[str]) -> None:
    """Append a table of contents to the front page for each group of pages in docs/README.md."""
    if docname.startswith(("psm_sim/", "tests/", "laboratory/")):  # pages that others link to
        source[0] = f"---\norphan: true\n---\n{source[0]}"
    link = "/".join([*[".."] * docname.count("/"), STATIC])
    source[0] = source[0].replace(f"`{STATIC}`", f'<a href="{link}">{STATIC}</a>')
    if docname != root_doc:
        return
    overview = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    source[0] += "\n```{toctree}\n:hidden:\nOverview <docs/README>\n```\n"
    for group in overview.split("\n## ")[1:]:
        if not (entries := re.findall(r"^\| \[(.+?)\]\(([^)#]+)\)", group, re.MULTILINE)):
            continue
        pages = "\n".join(f"{title} <docs/{target}>" for title, target in entries)
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {group.splitlines()[0]}\n{pages}\n```\n"


def skip_plain_fields(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: dict[str, object]
) -> bool:
    """Leave out the fields of a named tuple that have no description."""
    return skip or (obj.__doc__ or "").startswith("Alias for field number")


def add_pages(app: Sphinx, exception: Exception | None) -> None:
    """Make the front page also the one that a browser opens for the folder, and write the explore page."""
    if exception is None:
        shutil.copy(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))
        page = usable_page(Path(app.outdir, STATIC).parent)
        write_static_page(page, ControlGrid(["ucb"], ["esp32"], dtims=["1"]), compare_arguments)


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("source-read", add_navigation)
    app.connect("autodoc-skip-member", skip_plain_fields)
    app.connect("build-finished", add_pages)
