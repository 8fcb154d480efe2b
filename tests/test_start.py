"""Start of commands: a process loads what it needs, and no library that the command does not use."""

import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = "age,sex,zip,diagnosis\n34,f,1010,flu\n34,m,1010,flu\n51,f,1020,cancer\n51,f,1020,flu\n29,m,1030,none\n"

PROGRAM = """
import sys
from unmask.cli import main

main({arguments!r}, standalone_mode=False)
loaded = {modules!r} & {{*sys.modules}}
assert not loaded, loaded
"""

MAX_RATIO = 3.4
"""CPU of an audit of five rows over that of its libraries: 2.7 on 2026-11-29, plus a quarter."""


def run_without(modules, *arguments):
    """Run a command in a process of its own, which fails if it loads one of the modules."""
    program = PROGRAM.format(arguments=[*map(str, arguments)], modules=modules)
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


def measure_cpu(*command):
    """Return the CPU seconds of a process and of those that it starts."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


@pytest.fixture
def release(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text(ROWS)
    return path


@pytest.mark.parametrize("command", ["audit", "audit graph", "audit linkage", "choose columns", "protect", "study"])
def test_help_of_a_command_loads_no_domain(command):
    run_without({"numpy", "duckdb", "unmask.tables.audit", "unmask.economics", "unmask.studies"}, command, "--help")


def test_a_small_table_audit_loads_no_sparse_arrays_no_compiler_and_no_economics(release):
    modules = {
        "scipy.sparse",
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


def test_a_small_table_audit_takes_little_more_cpu_than_its_libraries(release):
    """Median of pairs in turn, since the machine may be busy; once again before it fails."""
    audit = [
        str(Path(sys.executable).with_name("unmask")),
        "audit",
        str(release),
        "-q",
        "age,sex,zip",
        "-s",
        "diagnosis",
    ]
    libraries = [sys.executable, "-c", "import click, duckdb, numpy"]
    for _ in range(2):
        ratio = statistics.median(measure_cpu(*audit) / measure_cpu(*libraries) for _ in range(3))
        if ratio <= MAX_RATIO:
            return
    pytest.fail(f"an audit takes {ratio:.2f} times the CPU of its libraries, expected at most {MAX_RATIO}")
