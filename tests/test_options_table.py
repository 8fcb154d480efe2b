"""Help of a command shows the options that functions declare."""

import subprocess
import sys
from pathlib import Path

from unmask.cli.options_table import PATH


def test_the_table_of_options_equals_the_declarations():
    """In a process of its own: options that a command has shown are no longer declarations."""
    program = "from tests.render_options import render_table; print(render_table(), end='')"
    command = [sys.executable, "-c", program]
    root = Path(__file__).parents[1]
    rendered = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    assert PATH.read_text(encoding="utf-8") == rendered.stdout, (
        "a parameter changed: run python tests/render_options.py"
    )
