"""No test is timed; test_cpu_ratios.py compares CPU seconds.

A test that needs a public data set is skipped with the reason if the file is missing.

Secret draws of a test follow a seed that a failure prints; `--secret-seed` repeats them.
"""

import gc
import multiprocessing
import os
import secrets
import signal
from collections.abc import Generator
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import settings

from unmask import FailedError
from unmask.core import randomness
from unmask.studies import workers

SOURCE = Path(__file__).parent.parent / "src"

_connect = duckdb.connect
duckdb.connect = lambda *database, config=None, **more: _connect(  # two workers share two cores
    *database, config={"threads": 1, **(config or {})}, **more
)

gc.set_threshold(100_000)  # instead of 700: each search goes through objects of thousands of collected tests

settings.register_profile("untimed", settings(), deadline=None)  # a busy machine fails no test
settings.load_profile("untimed")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # what a shell starts in the background cannot be interrupted,
    signal.signal(signal.SIGINT, signal.default_int_handler)  # nor can the commands that tests start and interrupt
for _name in ("SIGHUP", "SIGQUIT"):  # the same with nohup
    if signal.getsignal(_signal := getattr(signal, _name, signal.SIGINT)) is signal.SIG_IGN:
        signal.signal(_signal, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--secret-seed", type=int, help="seed of the draws that are secret outside of tests")


@pytest.fixture(autouse=True)
def secret_draws(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Derive the keys of secret generators from a seed, which pytest prints with a failure."""
    seed = request.config.getoption("--secret-seed")
    seed = secrets.randbits(32) if seed is None else seed
    print(f"secret draws are repeated by --secret-seed {seed}")  # noqa: T201
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(randomness, "draw_key", lambda: int.from_bytes(rng.bytes(16), "big"))


@pytest.fixture(scope="session", autouse=True)
def forked_workers() -> None:
    """Fork workers of studies from a process that has imported what they need; Python takes half a second to start."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        from multiprocessing.forkserver import ensure_running

        files = sorted(path.relative_to(SOURCE) for path in SOURCE.glob("unmask/**/*.py"))
        modules = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files]
        workers._START = multiprocessing.get_context("forkserver")
        workers._START.set_forkserver_preload(["scipy.optimize", "scipy.sparse", "numba", *modules])
        ensure_running()  # before a test changes the environment or a limit, which it inherits


@pytest.fixture
def new_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each worker of a study as outside of tests."""
    monkeypatch.setattr(workers, "_START", multiprocessing.get_context("spawn"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """One worker after the other: what the first has compiled, and its asserts rewritten, the others read."""
    try:
        import fcntl
    except ImportError:  # no such locks here: each worker does the work of all
        return (yield)
    with Path(__file__).open(encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return (yield)


def _skip_without_data(error: FailedError) -> None:
    """Skip the test without UNMASK_DATA. If the folder is set, a missing file is a failure."""
    if not os.environ.get("UNMASK_DATA") and str(error).startswith("data file "):
        pytest.skip(str(error))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, None, None]:
    try:
        yield
    except FailedError as error:
        _skip_without_data(error)
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    try:
        yield
    except FailedError as error:
        _skip_without_data(error)
        raise
