"""Worker processes for cells: a cell that crashes, hangs or needs too much memory does not affect other cells."""

from __future__ import annotations

import errno
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from unmask.core.errors import FailedError, NotRunError, UnmaskError
from unmask.data.writing import ENDING, defer_signals
from unmask.extras import not_installed
from unmask.plan import Budget, Cell
from unmask.studies.journal import Result, Status

GRACE = 5.0
"""Seconds that a process has to end after a request."""

_NAME = "unmask-worker"

_START = multiprocessing.get_context("spawn")


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    cell: Cell | None = None
    ready: bool = False  # imports are done; the time of the cell counts from here
    deadline: float = math.inf


def run_cells(cells: Iterable[Cell], *, workers: int, budget: Budget) -> Iterator[Result]:
    """Yield the result of each cell when it finishes. A failed cell has a result, too.

    A cell that runs longer than `budget.seconds_per_cell` is stopped. Each worker may use an equal share of
    `budget.memory_gib`, if the system can limit it. Closing the iterator stops all workers.
    """
    todo = deque(cells)
    limit = None if budget.memory_gib is None else budget.memory_gib * 2**30 / workers
    pool: list[_Worker] = []
    try:
        pool.extend(_start(limit) for _ in range(min(workers, len(todo))))
        while todo or any(worker.cell for worker in pool):
            for i, worker in enumerate(pool):
                if worker.cell is None and todo:
                    pool[i] = _assign(worker, todo.popleft(), budget, limit)
            yield from _collect(pool, limit, budget)
    finally:
        with defer_signals():
            for worker in pool:
                _stop(worker)
            _stop_unpooled()


def _assign(worker: _Worker, cell: Cell, budget: Budget, limit: float | None) -> _Worker:
    if not worker.process.is_alive():
        _stop(worker)
        worker = _start(limit)
    worker.cell = cell
    worker.deadline = time.monotonic() + (budget.seconds_per_cell or math.inf) if worker.ready else math.inf
    with suppress(BrokenPipeError):  # the worker has died; the next wait detects it
        worker.pipe.send(cell)
    return worker


def _collect(pool: list[_Worker], limit: float | None, budget: Budget) -> Iterator[Result]:
    """Wait for the next worker that responds, dies or exceeds its time."""
    busy = [worker for worker in pool if worker.cell is not None]
    patience = min(worker.deadline for worker in busy) - time.monotonic()
    ready = wait([worker.pipe for worker in busy], timeout=None if math.isinf(patience) else max(patience, 0.0))
    for i, worker in enumerate(pool):
        if worker.cell is None:
            continue
        if worker.pipe in ready:
            try:
                result: Result | None = worker.pipe.recv()
            except (EOFError, OSError):
                worker.process.join(GRACE)
                yield _describe_lost(worker, limit)
                _stop(worker)
                pool[i] = _start(limit)
                continue
            if result is None:
                worker.ready, worker.deadline = True, time.monotonic() + (budget.seconds_per_cell or math.inf)
                continue
            worker.cell = None
            yield result
        elif time.monotonic() >= worker.deadline:
            _stop(worker)
            seconds = budget.seconds_per_cell or 0.0
            reason = f"it ran longer than {seconds:g} s; raise budget.seconds_per_cell"
            yield Result(worker.cell.key, "timed out", reason, seconds)
            pool[i] = _start(limit)


def _describe_lost(worker: _Worker, limit: float | None) -> Result:
    assert worker.cell is not None
    code = worker.process.exitcode
    if limit is not None and (code == _NO_MEMORY or (code == _BLAS_GAVE_UP and not worker.ready)):
        reason = f"{limit / 2**30:.2g} GiB of memory do not suffice to start a worker; raise budget.memory_gib"
        return Result(worker.cell.key, "failed", f"{reason}, or try fewer workers", 0.0)
    ending = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    hint = ", perhaps for lack of memory; try fewer workers" if code == -9 else ""
    return Result(worker.cell.key, "failed", f"its process ended {ending}{hint}", 0.0)


def _start(limit: float | None) -> _Worker:
    ours, theirs = _START.Pipe()
    process = _START.Process(target=_work, name=_NAME, args=(theirs, limit), daemon=True)
    try:
        with _shielded_from_signals(), _without_main():
            process.start()
    except OSError as error:
        raise FailedError(f"a worker cannot be started: {error.strerror}; try fewer workers") from None
    theirs.close()
    return _Worker(process, ours)


@contextmanager
def _shielded_from_signals() -> Iterator[None]:
    """Shield a process that starts inside the context from Ctrl-C and termination, from its first instruction."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


@contextmanager
def _without_main() -> Iterator[None]:
    """Prevent a process that starts inside the context from running the caller's script, which needs no main guard."""
    main = vars(sys.modules["__main__"])
    originals: dict[str, Any] = {name: main[name] for name in ("__file__", "__spec__") if name in main}
    main.update(dict.fromkeys(originals))
    try:
        yield
    finally:
        main.update(originals)


def _stop_unpooled() -> None:
    """End processes that are not yet in a pool, and the helper process that Python starts with the first worker."""
    from multiprocessing.resource_tracker import _resource_tracker

    for process in multiprocessing.active_children():
        if process.name == _NAME:
            process.kill()
            process.join()
    if hasattr(_resource_tracker, "_stop"):
        _resource_tracker._stop()


def _stop(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.kill()
    worker.process.join()


_NO_MEMORY = errno.ENOMEM
"""Exit code of a worker whose libraries exceed its memory."""

_BLAS_GAVE_UP = 1
"""Exit code of OpenBLAS if it gets no memory at its start."""


# --- inside a worker ------------------------------------------------------------------------------------------------


def _work(pipe: Connection, limit: float | None) -> None:
    """Run cells until the pipe is closed or the parent has ended. The parent handles Ctrl-C and termination."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if limit is not None:
        _limit_memory(int(limit))
    try:
        import unmask.studies.cells  # noqa: F401  # imported early: not counted as time of the first cell
    except (MemoryError, ImportError) as error:
        is_memory_error = isinstance(error, MemoryError) or any(
            word in f"{error} {error.__cause__}" for word in ("memory", "failed to map")
        )
        if limit is None or not is_memory_error:
            raise
        raise SystemExit(_NO_MEMORY) from None  # the parent reports it
    with suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            pipe.send(finished(pipe.recv()))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def finished(cell: Cell) -> Result:
    """Return the result of a cell, which may be a failure."""
    from unmask.studies.cells import criteria_of, run_cell

    start = _read_clock()
    try:
        rows = [*run_cell(cell), *criteria_of(cell)]
        if cell.kept is not None:
            _store_belief(cell, cell.kept)
    except UnmaskError as error:
        status: Status = "not run" if isinstance(error, NotRunError) else "failed"
        return Result(cell.key, status, str(error), _read_clock() - start)
    except MemoryError:
        return Result(cell.key, "failed", "it exceeds its share of memory", _read_clock() - start)
    except Exception as error:  # noqa: BLE001  # a defect in one cell must not stop the other cells
        reason = f"failed inside unmask ({type(error).__name__}); please report it"
        return Result(cell.key, "failed", reason, _read_clock() - start)
    return Result(cell.key, "done", "", _read_clock() - start, tuple(row.as_dict() for row in rows))


def _read_clock() -> float:
    """Return the clock in seconds, minus the time spent on compiling loops, which later cells do not need."""
    compiled = sys.modules.get("unmask.compiled")  # absent if no loop has run
    return time.perf_counter() - (0.0 if compiled is None else compiled.compile_seconds())


def _store_belief(cell: Cell, folder: Path) -> None:
    """Store the belief that the game of a study needs; on failure, the game reports the reason."""
    from unmask.studies.beliefs import store_belief

    with suppress(UnmaskError, MemoryError):
        store_belief(cell, folder)


def _limit_memory(limit: int) -> None:
    try:
        import resource
    except ImportError:
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


WORKER = (
    "a worker of Spark failed ({}); its Python needs unmask, and the files of the plan under the same paths. Finished "
    "cells are stored: run the same command again to resume"
)

WAVE = 4
"""Number of cells for each slot of the cluster in one wave; results return after each wave."""


def on_spark(master: str | None) -> Callable[[Sequence[Cell]], Iterator[Result]]:
    """Return a function that runs cells on Spark, for `run_study(submit=...)`. Each cell is a task.

    master : for example "local[2]" or "spark://host:7077"; None: configuration of the session. The executors need
             unmask, and the files of the plan under the same paths. Spark sets time and memory limits.
    """

    def submit(cells: Sequence[Cell]) -> Iterator[Result]:
        context = _session(master).sparkContext
        size = WAVE * context.defaultParallelism
        for start in range(0, len(cells), size):
            wave = cells[start : start + size]
            try:
                results = context.parallelize(wave, len(wave)).map(finished).collect()
            except Exception as error:  # noqa: BLE001  # errors of pyspark and py4j have no common base class
                raise FailedError(WORKER.format(type(error).__name__)) from None
            yield from results

    return submit


def _session(master: str | None) -> Any:
    try:
        builder = import_module("pyspark.sql").SparkSession.builder.appName("unmask study")
    except ImportError:
        raise not_installed("Spark", "spark", "leave --spark out") from None
    try:
        session = (builder.master(master) if master else builder).config("spark.log.level", "OFF").getOrCreate()
    except Exception as error:  # noqa: BLE001  # py4j has no error class for a missing Java or an unreachable master
        raise FailedError(
            f"Spark does not start ({type(error).__name__}); is Java installed, is the master up?"
        ) from None
    context = session.sparkContext
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable  # the python3 in PATH may lack unmask
    return session
