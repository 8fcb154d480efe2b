"""Start of commands: a process loads what it needs, and no library that the command does not use."""

import subprocess
import sys

import pytest

ROWS = "age,sex,zip,diagnosis\n34,f,1010,flu\n34,m,1010,flu\n51,f,1020,cancer\n51,f,1020,flu\n29,m,1030,none\n"

PROGRAM = """
import sys
from unmask.cli import main

main({arguments!r}, standalone_mode=False)
loaded = {modules!r} & {{*sys.modules}}
assert not loaded, loaded
"""


def run_without(modules, *arguments):
    """Run a command in a process of its own, which fails if it loads one of the modules."""
    program = PROGRAM.format(arguments=[*map(str, arguments)], modules=modules)
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


@pytest.fixture
def release(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text(ROWS)
    return path


@pytest.mark.parametrize("command", ["audit", "audit graph", "audit linkage", "choose columns", "protect", "study"])
def test_help_of_a_command_loads_no_domain(command):
    run_without({"numpy", "duckdb", "unmask.tables.audit", "unmask.economics", "unmask.studies"}, command, "--help")


def test_help_loads_no_results_and_no_metadata():
    run_without({"unmask.results.rows", "importlib.metadata", "tempfile", "hashlib"}, "--help")


def test_a_small_table_audit_loads_no_sparse_arrays_no_compiler_and_no_economics(release):
    modules = {
        "scipy.sparse",
        "numpy.ma",
        "numba",
        "vl_convert",
        "altair",
        "jinja2",
        "unmask.economics",
        "unmask.studies",
    }
    run_without(modules, "audit", release, "-q", "age,sex,zip", "-s", "diagnosis")


def test_an_audit_with_an_attacker_loads_economics(release):
    with pytest.raises(subprocess.CalledProcessError):
        run_without({"unmask.economics"}, "audit", release, "-q", "age,sex,zip", "--attacker", "case-study")
