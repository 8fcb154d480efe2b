"""The engines that tests run on; one Spark application serves them all."""

import atexit
import shutil
import warnings
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from typing import NamedTuple

import pytest

from unmask.data.engine import open_engine
from unmask.tables.stored import StoredTable
from unmask.tables.table import Table

QUIET = (
    "ignore::FutureWarning",  # pyspark's own, about the pandas that is installed for other tests
    "ignore::DeprecationWarning",
    "ignore::ResourceWarning",
)


class Counted(NamedTuple):
    """A table in an engine, and its combinations."""

    stored: StoredTable
    table: Table


def reading(quasi_identifiers, sensitive=(), **options):
    """Arguments of `Table.read`."""
    return {"quasi_identifiers": quasi_identifiers, "sensitive": sensitive, **options}


def count_source(engine, source, reading, *, name="release", sensitive=True):
    """Count the combinations of a table in an engine."""
    stored = StoredTable(engine, source, name, counts_sensitive=sensitive)
    return Counted(stored, Table.read(stored, **reading))


@contextmanager
def opened(choice, **options):
    """An engine, or a skip with the reason."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if choice.startswith("spark"):
            start_spark()
        with open_engine(choice, **options) as engine:
            if choice.startswith("spark"):
                engine.session.conf.set("spark.sql.shuffle.partitions", 1)
            yield engine


@lru_cache(maxsize=1)
def start_spark():
    """Start a Spark application that engines and studies join, or skip with the reason; it ends with the process.

    For tables of a few rows, compiling each query takes longest, and every partition is a task.
    """
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: pip install '.[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17 or later, and there is none")
    from pyspark.sql import SparkSession

    settings = {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # compiling took half the time
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    application = SparkSession.builder.master("local[2]").appName("tests").config(map=settings).getOrCreate()
    atexit.register(application.stop)
    return application
