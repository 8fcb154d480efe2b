"""Run cells on an existing Spark cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from unmask.core.errors import FailedError
from unmask.extras import not_installed
from unmask.plan import Cell
from unmask.studies.journal import Result
from unmask.studies.workers import finished

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
