"""What the site shows beside text: the dark twins of pictures, the report of `unmask demo`, made anew, and titles."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import toctree
from sphinx.application import Sphinx

HERE = Path(__file__).parent


def pair(_app: Sphinx, page: nodes.document) -> None:
    """Put the twin of each picture `NAME.webp` that has one, `NAME-dark.webp`, behind it: the site shows the one that
    goes with its colors.
    """
    for image in list(page.findall(nodes.image)):
        twin = image["uri"].replace(".webp", "-dark.webp")
        if (HERE / "pictures" / Path(twin).name).is_file() and twin != image["uri"]:
            dark = image.deepcopy()
            dark["uri"], dark["classes"], image["classes"] = twin, ["only-dark"], ["only-light"]
            image.parent.insert(image.parent.index(image) + 1, dark)


def write_demo(app: Sphinx) -> None:
    """The page of `unmask demo`, at the root of the site."""
    if app.builder.format == "html":
        command = ["-m", "unmask_command", "demo", "--report", HERE / "demo" / "unmask-demo.html", "--force", "--quiet"]
        path = {"PYTHONPATH": str(HERE.parent / "src")}
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL, env=os.environ | path)


def _titles(contents: nodes.Element) -> nodes.Element:
    """The contents of a page without what its sections and objects are called."""
    short = contents.deepcopy()
    for entry in short.children:
        if isinstance(entry, nodes.list_item) and len(entry) > 1:
            entry[1][:] = list(entry.findall(toctree))
            entry[:] = entry[: 1 + bool(entry[1].children)]
    return short


def name_pages(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Beside each page stand the titles of all: let Sphinx copy these alone for it, not every object of each page. That
    was nearly half of the time that Sphinx takes.
    """
    whole = app.env.tocs
    if not hasattr(app, "unmask_titles"):
        app.unmask_titles = {name: _titles(contents) for name, contents in whole.items()}
    every = context["toctree"]

    def titles(**how: Any) -> str:
        app.env.tocs = app.unmask_titles if how.get("titles_only") else whole
        try:
            return every(**how)
        finally:
            app.env.tocs = whole

    context["toctree"] = titles


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx; twins come before it looks for the files of pictures."""
    (HERE / "demo").mkdir(exist_ok=True)  # before Sphinx looks whether it is there
    app.connect("doctree-read", pair, priority=100)
    app.connect("builder-inited", write_demo)
    app.connect("html-page-context", name_pages, priority=400)  # before the theme asks for the titles
    return {"parallel_read_safe": True, "parallel_write_safe": True}
