"""Compiled loops: where they are kept, the line at the first compilation, and the seconds that do not count."""

import os
import subprocess
import sys
from types import SimpleNamespace

from unmask.studies.workers import _read_clock

PROGRAM = """
import logging, sys
import numpy as np
from unmask.compiled import compile_seconds, compiled, copy_into

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)

@compiled
def copy(place, values):
    copy_into(place, values)

row = np.zeros(2)
copy(row, np.ones(2))
assert row.tolist() == [1, 1]
print("compiled" if compile_seconds() else "loaded")
"""


def run_loop(folder):
    """Run a loop in a process whose user keeps caches in a folder; return its lines."""
    program = folder / "program.py"
    if not program.exists():
        program.write_text(PROGRAM)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_loops_are_compiled_once_and_kept_in_a_folder_of_the_user(tmp_path):
    line, state = run_loop(tmp_path)
    assert line.startswith("compiling loops, once")
    assert state == "compiled"
    assert any((tmp_path / "cache" / "unmask" / "loops").rglob("*.nbi"))
    assert run_loop(tmp_path) == ["loaded"]


def test_the_seconds_of_a_cell_leave_out_compilation(monkeypatch):
    spent = iter([0.0, 60.0])
    monkeypatch.setitem(sys.modules, "unmask.compiled", SimpleNamespace(compile_seconds=lambda: next(spent)))
    start = _read_clock()
    assert _read_clock() - start < -50
