"""Help of a command shows the options that functions declare."""

import subprocess
import sys
from pathlib import Path

from tests.render_options import TABLE


def test_the_table_of_options_equals_the_declarations():
    """In a process of its own: options that a command has shown are no longer declarations."""
    program = "from tests.render_options import render_table; print(render_table(), end='')"
    rendered = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    assert TABLE.read_text() == rendered.stdout, "a parameter changed: run python tests/render_options.py"
