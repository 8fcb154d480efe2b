"""The engines that tests run on; one Spark application serves a module."""

import shutil
import warnings
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

from unmask.engines import open_engine

QUIET = (
    "ignore::FutureWarning",  # pyspark's own, about the pandas that is installed for other tests
    "ignore::DeprecationWarning",
    "ignore::ResourceWarning",
)


@contextmanager
def opened(choice, **options):
    """An engine, or a skip with the reason."""
    if choice.startswith("spark"):
        if find_spec("pyspark") is None:
            pytest.skip("pyspark is not installed: pip install 'unmask[spark]'")
        if shutil.which("java") is None:
            pytest.skip("Spark needs Java 17 or later, and there is none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with open_engine(choice, **options) as engine:
            if choice.startswith("spark"):  # for tables of a few rows, compiling each query takes longest
                engine.session.conf.set("spark.sql.codegen.wholeStage", "false")
                engine.session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
                engine.session.conf.set("spark.sql.shuffle.partitions", 2)
            yield engine
