"""What the site shows beside text: the dark twins of pictures, and the report of `unmask demo`, made anew."""

import os
import subprocess
import sys
from pathlib import Path

from docutils import nodes
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


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx; twins come before it looks for the files of pictures."""
    (HERE / "demo").mkdir(exist_ok=True)  # before Sphinx looks whether it is there
    app.connect("doctree-read", pair, priority=100)
    app.connect("builder-inited", write_demo)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
