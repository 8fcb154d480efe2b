"""`unmask open`: the whole job in the browser, on the user's own machine."""

from __future__ import annotations

from importlib.util import find_spec

import click

from unmask.cli.generated import Command
from unmask.extras import not_installed

NEEDED = ("starlette", "uvicorn", "python_multipart")
"""Packages that the extra `app` installs."""


@click.command("open", cls=Command)
@click.argument("file", required=False)
@click.option(
    "--port", default=0, show_default="a free one", type=click.IntRange(0, 65_535), help="Port on this machine."
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the address in the browser.")
def open_(file: str | None, port: int, browser: bool) -> None:
    r"""Open a table or a document in the browser: protect it, attack it, and sign the result.

    Nothing leaves this computer. The first printed line is a file that opens the browser and that only you can read.
    The work is in a private folder that is removed at the end: download the files that you need. Ctrl-C stops the
    server.

    \b
    unmask open people.csv
    unmask open unmask.toml
    """
    if any(find_spec(name) is None for name in NEEDED):
        raise not_installed("the browser's part of unmask", "app")
    from unmask.app.server import serve

    serve(file, port=port, browser=browser)
