"""CPU of unmask next to that of the bare work: its libraries, a scan of the file, another solver.

The least CPU seconds of several runs in turn are compared. They hardly depend on what else the machine does.
"""

import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from tests.commands import run
from unmask.channels.design import optimal_mechanism

resource = pytest.importorskip("resource", reason="Unix alone counts the CPU seconds of ended processes")

MIN_PAIRS, MAX_PAIRS = 3, 12
"""Runs of each: at least, and at most while the ratio exceeds its limit."""


def measure_cpu(step):
    """Return the CPU seconds of a call and of the processes that it starts."""

    def read_clock():
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + ended.ru_utime + ended.ru_stime

    start = read_clock()
    step()
    return read_clock() - start


def check_ratio(ours, bare, limit):
    """Fail if the least CPU of `ours` exceeds `limit` times the least CPU of `bare`."""
    pairs = []
    while len(pairs) < MAX_PAIRS:
        pairs.append((measure_cpu(ours), measure_cpu(bare)))
        least_ours, least_bare = np.min(pairs, axis=0)
        if len(pairs) >= MIN_PAIRS and least_ours <= limit * least_bare:
            return
    pytest.fail(f"{least_ours:.3f} s of CPU, expected at most {limit} times the {least_bare:.3f} s of the bare work")


def run_process(*command):
    """Run a process without its output."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_small_audit_takes_little_more_than_the_import_of_its_libraries(tmp_path):
    """The ratio was 2.7 on 2026-11-29. The limit adds a quarter."""
    path = tmp_path / "release.csv"
    path.write_text("age,sex,zip,diagnosis\n34,f,1010,flu\n34,m,1010,flu\n51,f,1020,cancer\n51,f,1020,flu\n")
    unmask = Path(sys.executable).with_name("unmask")

    def audit():
        run_process(unmask, "audit", path, "-q", "age,sex,zip", "-s", "diagnosis")

    def import_libraries():
        run_process(sys.executable, "-c", "import click, duckdb, numpy")

    check_ratio(audit, import_libraries, 3.4)


def test_an_audit_of_distinct_rows_takes_a_few_scans_of_the_file(tmp_path):
    """The ratio was 6.1 on 2026-11-29. The limit adds a quarter."""
    path, rng = tmp_path / "table.csv", np.random.default_rng(1)
    rows = zip(*(rng.integers(size, size=100_000).tolist() for size in (90, 100_000, 2, 8)), strict=True)
    path.write_text("age,zip,sex,diagnosis\n" + "".join(f"{age},{code},{sex},D{ill}\n" for age, code, sex, ill in rows))

    def audit():
        assert run("audit", path, "-q", "age,zip,sex", "-s", "diagnosis", "--json")[0] == 0

    def scan():
        with duckdb.connect() as connection:
            connection.execute(f"select age, zip, sex, diagnosis, count(*) from '{path}' group by all").fetchnumpy()

    check_ratio(audit, scan, 7.6)


def test_the_design_of_a_mechanism_takes_no_longer_than_highs():
    """The ratio was 0.9 on 2026-11-29, for 70 places. The limit adds a quarter. HiGHS finds the same average alone."""
    rng, n = np.random.default_rng(0), 70
    points, prior = rng.random((n, 2)), rng.dirichlet(np.ones(n))
    loss = np.sqrt(((points[:, None] - points) ** 2).sum(axis=-1))
    distortion = loss**2
    budget = 0.25 * float((prior @ distortion).min())

    places, ones = sparse.eye_array(n), np.ones((1, n))
    risk = sparse.hstack([sparse.kron(sparse.csr_array(-loss * prior), places), sparse.vstack([places] * n)])
    cost = sparse.csr_array(np.append((prior[:, None] * distortion).ravel(), np.zeros(n))[None, :])
    program = {
        "c": np.repeat([0.0, -1.0], [n * n, n]),
        "A_ub": sparse.csc_array(sparse.vstack([risk, cost])),
        "b_ub": np.append(np.zeros(n * n), budget),
        "A_eq": sparse.csc_array(sparse.hstack([sparse.kron(places, ones), sparse.csr_array((n, n))])),
        "b_eq": np.ones(n),
    }
    averages = {}

    def design():
        averages["ours"] = optimal_mechanism(prior, loss, distortion, budget).privacy

    def solve():
        averages["HiGHS"] = -linprog(**program, method="highs-ds").fun

    check_ratio(design, solve, 1.15)
    assert averages["ours"] == pytest.approx(averages["HiGHS"], rel=1e-6)
