"""Help of a command shows the options that functions declare, and imports none of these functions."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.render_options import TABLE

HELP = """
import sys
from unmask.cli import main

main([{command!r}, "--help"], standalone_mode=False)
loaded = {{"numpy", "duckdb", "scipy", "unmask.tables.audit", "unmask.economics", "unmask.studies"}} & {{*sys.modules}}
assert not loaded, loaded
"""


def test_the_table_of_options_equals_the_declarations():
    """In a process of its own: options that a command has shown are no longer declarations."""
    program = "from tests.render_options import render_table; print(render_table(), end='')"
    rendered = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    assert TABLE.read_text() == rendered.stdout, "a parameter changed: run python tests/render_options.py"


@pytest.mark.parametrize(
    "command", ["audit", "audit channel", "audit graph", "audit linkage", "choose columns", "protect", "study"]
)
def test_help_of_a_command_imports_no_domain(command):
    subprocess.run([sys.executable, "-c", HELP.format(command=command)], check=True, stdout=subprocess.DEVNULL)
