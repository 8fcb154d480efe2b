"""Notebooks as pages of the site: each is run while it is built, and shows what its cells show.

Their files hold no outputs, so that a change of one is a change of its words or its code, and what a page shows is
what this version of unmask says. One kernel runs them all, cleared before each.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from jupyter_client import KernelManager
from myst_parser.parsers.sphinx_ import MystParser
from nbclient import NotebookClient
from nbformat import NotebookNode
from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent

HEAD = """---
myst:
  enable_extensions: [dollarmath]
---
"""
"""Formulas stand between dollars in notebooks; in other pages a dollar is a dollar."""

LONGEST = 4000
"""Characters that a cell may show as text."""

CLEAR = "%reset -f"
"""Forgets all names of the notebook before."""


@contextmanager
def kernel() -> Iterator[tuple[KernelManager, Any]]:
    """A kernel that imports unmask from this checkout, and who talks to it: by files, not by ports."""
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    manager = KernelManager(kernel_name="python3", transport="ipc")
    manager.start_kernel(env={**os.environ, "PYTHONPATH": path, "PYDEVD_DISABLE_FILE_VALIDATION": "1"})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(path: Path, started: tuple[KernelManager, Any]) -> NotebookNode:
    """The notebook with the outputs of its cells; an error in a cell is raised, and so is what no page can show.

    started : see `kernel`
    """
    notebook = nbformat.read(path, as_version=4)
    first = nbformat.v4.new_code_cell(CLEAR)
    notebook.cells.insert(0, first)
    runner = NotebookClient(notebook, km=started[0], timeout=300, resources={"metadata": {"path": str(path.parent)}})
    runner.kc = started[1]
    runner.execute()
    notebook.cells.remove(first)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    if any(one.get("name") == "stderr" or len(one.get("data", {}).get("text/plain", "")) > LONGEST for one in outputs):
        raise ValueError(f"{path.name}: a cell writes to standard error, or shows more text than a page holds")
    return notebook


def to_markdown(notebook: NotebookNode, name: str) -> str:
    """The notebook as a page, with a link to its file under the title."""
    title, *rest = notebook.cells
    head, _, words = title.source.partition("\n")
    link = (
        f"{{download}}`Download this notebook <{name}>` and open it in Jupyter, VS Code or any other notebook editor."
    )
    return HEAD + "\n\n".join([head, link, words, *(part for cell in rest for part in _shown(cell))]) + "\n"


def _shown(cell: NotebookNode) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    for output in cell.outputs:
        html = output.get("data", {}).get("text/html")
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        yield f'``````{{raw}} html\n<div class="shown">{html}</div>\n``````' if html else f"``````text\n{text}\n``````"


class NotebookParser(MystParser):
    """Runs a notebook and parses the page that it makes."""

    supported = ("notebook",)
    running: tuple[KernelManager, Any]

    def parse(self, inputstring: str, document: nodes.document) -> None:  # noqa: ARG002  # read once more, by `run`
        """Parse the page in place of the file."""
        path = Path(document["source"])
        super().parse(to_markdown(run(path, self.running), path.name), document)


def setup(app: Sphinx) -> dict[str, Any]:
    """Reads notebooks; the kernel starts with the build and ends with it."""
    open_kernel = kernel()
    logging.getLogger("traitlets").setLevel(logging.WARNING)  # else it tells of each notebook

    def start(*_: object) -> None:
        NotebookParser.running = open_kernel.__enter__()

    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    app.connect("builder-inited", start)
    app.connect("build-finished", lambda *_: open_kernel.__exit__(None, None, None))
    return {"parallel_read_safe": False, "parallel_write_safe": True}
