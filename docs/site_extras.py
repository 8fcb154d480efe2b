"""Additions to the site: dark versions of pictures, the report of `unmask demo`, and a faster table of contents."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import toctree
from sphinx.application import Sphinx

DOCS = Path(__file__).parent


def add_dark_pictures(_app: Sphinx, page: nodes.document) -> None:
    """Add `NAME-dark.webp` behind each picture `NAME.webp`, if it exists. The theme shows one of the two."""
    for image in list(page.findall(nodes.image)):
        uri = image["uri"].replace(".webp", "-dark.webp")
        if (DOCS / "pictures" / Path(uri).name).is_file() and uri != image["uri"]:
            dark = image.deepcopy()
            dark["uri"], dark["classes"], image["classes"] = uri, ["only-dark"], ["only-light"]
            image.parent.insert(image.parent.index(image) + 1, dark)


def write_demo(app: Sphinx) -> None:
    """Write the page of `unmask demo` to the root of the site."""
    if app.builder.format == "html":
        report = DOCS / "demo" / "unmask-demo.html"
        command = ["-m", "unmask_command", "demo", "--report", report, "--force", "--quiet"]
        path = {"PYTHONPATH": str(DOCS.parent / "src")}
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL, env=os.environ | path)


def _strip_sections(contents: nodes.Element) -> nodes.Element:
    """Return a copy of a page's contents without its sections and objects."""
    stripped = contents.deepcopy()
    for entry in stripped.children:
        if isinstance(entry, nodes.list_item) and len(entry) > 1:
            entry[1][:] = list(entry.findall(toctree))
            entry[:] = entry[: 1 + bool(entry[1].children)]
    return stripped


def shorten_contents(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Let Sphinx copy only titles for the sidebar of each page.

    It otherwise copies every object of every page, which takes nearly half of the build time.
    """
    contents = app.env.tocs
    if not hasattr(app, "unmask_titles"):
        app.unmask_titles = {name: _strip_sections(entry) for name, entry in contents.items()}
    render_contents = context["toctree"]

    def render_titles(**options: Any) -> str:
        app.env.tocs = app.unmask_titles if options.get("titles_only") else contents
        try:
            return render_contents(**options)
        finally:
            app.env.tocs = contents

    context["toctree"] = render_titles


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the additions. Dark pictures are added before Sphinx collects the files of pictures."""
    (DOCS / "demo").mkdir(exist_ok=True)  # Sphinx checks html_extra_path early
    app.connect("doctree-read", add_dark_pictures, priority=100)
    app.connect("builder-inited", write_demo)
    app.connect("html-page-context", shorten_contents, priority=400)  # before the theme renders the sidebar
    return {"parallel_read_safe": True, "parallel_write_safe": True}
