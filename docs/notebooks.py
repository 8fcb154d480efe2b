"""Notebooks as pages of the site. Each notebook runs while the site is built, and the page shows its outputs.

Files contain no outputs, so a change of a file is a change of its text or code. One kernel runs all notebooks and is
cleared before each.
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

FRONT_MATTER = """---
myst:
  enable_extensions: [dollarmath]
---
"""
"""Settings that read text between dollars as a formula, in notebooks only."""

MAX_OUTPUT_CHARACTERS = 4000
"""Length of the text that a cell may show."""

CLEAR_NAMES = "%reset -f"
"""Command that removes all names of the previous notebook."""

Kernel = tuple[KernelManager, Any]
"""The manager of a kernel, and its client."""


@contextmanager
def start_kernel() -> Iterator[Kernel]:
    """Start a kernel that imports unmask from this checkout, and connect to it by files instead of ports."""
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


def run_notebook(path: Path, kernel: Kernel) -> NotebookNode:
    """Run a notebook and return it with its outputs.

    Raises
    ------
    ValueError
        If a cell writes to standard error or shows too much text. Errors in cells are raised, too.
    """
    notebook = nbformat.read(path, as_version=4)
    clear = nbformat.v4.new_code_cell(CLEAR_NAMES)
    notebook.cells.insert(0, clear)
    runner = NotebookClient(notebook, km=kernel[0], timeout=300, resources={"metadata": {"path": str(path.parent)}})
    runner.kc = kernel[1]
    runner.execute()
    notebook.cells.remove(clear)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    if any(output.get("name") == "stderr" or _text_length(output) > MAX_OUTPUT_CHARACTERS for output in outputs):
        raise ValueError(f"{path.name}: a cell writes to standard error, or shows more text than a page holds")
    return notebook


def _text_length(output: NotebookNode) -> int:
    return len(output.get("data", {}).get("text/plain", ""))


def to_markdown(notebook: NotebookNode, name: str) -> str:
    """Return a notebook as a page, with a link to its file below the title."""
    title_cell, *cells = notebook.cells
    title, _, introduction = title_cell.source.partition("\n")
    link = (
        f"{{download}}`Download this notebook <{name}>` and open it in Jupyter, VS Code or any other notebook editor."
    )
    return (
        FRONT_MATTER
        + "\n\n".join([title, link, introduction, *(part for cell in cells for part in _render(cell))])
        + "\n"
    )


def _render(cell: NotebookNode) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    for output in cell.outputs:
        html = output.get("data", {}).get("text/html")
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        yield f'``````{{raw}} html\n<div class="shown">{html}</div>\n``````' if html else f"``````text\n{text}\n``````"


class NotebookParser(MystParser):
    """Parser that runs a notebook and parses the resulting page."""

    supported = ("notebook",)
    kernel: Kernel

    def parse(self, inputstring: str, document: nodes.document) -> None:  # noqa: ARG002  # run_notebook reads the file
        """Parse the page instead of the file."""
        path = Path(document["source"])
        super().parse(to_markdown(run_notebook(path, self.kernel), path.name), document)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register notebooks as sources. The kernel starts and ends with the build."""
    open_kernel = start_kernel()
    logging.getLogger("traitlets").setLevel(logging.WARNING)  # otherwise one line for each notebook

    def start(*_: object) -> None:
        NotebookParser.kernel = open_kernel.__enter__()

    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    app.connect("builder-inited", start)
    app.connect("build-finished", lambda *_: open_kernel.__exit__(None, None, None))
    return {"parallel_read_safe": False, "parallel_write_safe": True}
