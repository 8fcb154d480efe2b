"""`unmask new`: a working file for an attack, a protection or a measure of your own, and a test for it."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

import click

from unmask.cli.files import refuse_to_overwrite, suggest_command, write_texts
from unmask.cli.generated import Command
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError

TEMPLATES = Path(__file__).with_name("templates")
"""Folder of the files of each kind and of their test, with NAME, MODULE and KIND in place of their words."""


@click.command("new", cls=Command)
@click.argument("kind", type=click.Choice(["attack", "protection", "measure"]))
@click.argument("name")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def new(kind: str, name: str, force: bool) -> None:
    r"""Write a working attack, protection or measure to start from, with its test.

    Change the file for your purpose. `unmask check` reports the laws that it breaks.

    \b
    unmask new attack OneColumn
    unmask new protection EveryOther
    unmask new measure lead
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UnmaskError(f"{name!r} is not a Python name; expected letters, digits and _, such as OneColumn")
    module = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    path, test = Path(f"{module}.py"), Path(f"test_{module}.py")
    refuse_to_overwrite(path, test, force=force)
    words = {"NAME": name, "MODULE": module, "KIND": kind}
    texts = {file: (TEMPLATES / f"{source}.txt").read_text("utf-8") for file, source in ((path, kind), (test, "test"))}
    write_texts({file: re.sub("NAME|MODULE|KIND", lambda match: words[match[0]], text) for file, text in texts.items()})
    print_line(f"wrote {path} and {test}; the test runs with pytest", err=True)
    suggest_command("check", f"{module}:{name}")
