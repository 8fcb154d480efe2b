"""Where rows stay while they are many: one interface, DuckDB on this machine or Spark on many, the same SQL on both.

An engine holds named tables that may exceed memory; what is small comes out as arrays. The SQL that is sent is built in
`unmask.engines.sql` from the part of the language that both understand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from unmask.core.errors import UnmaskError
from unmask.engines.base import Engine, Kind

__all__ = ["MEMORY_LIMIT", "Engine", "Kind", "in_bytes", "open_engine"]

MEMORY_LIMIT = 4 << 30
"""Bytes an engine may use unless told otherwise."""

_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@contextmanager
def open_engine(
    choice: str = "duckdb",
    *,
    memory_limit: int = MEMORY_LIMIT,
    temp_directory: str | PathLike[str] | None = None,
    encoding: str | None = None,
) -> Iterator[Engine]:
    """An engine by name; what it wrote on its temporary disk is gone afterwards.

    choice : "duckdb", "spark" (the session's own configuration, or this machine), or "spark://MASTER" with a host and
        port, or another master such as "spark://local[2]" or "spark://yarn".
    memory_limit : bytes; DuckDB's own limit, the memory of Spark's driver.
    temp_directory : where what exceeds the memory goes; the system's folder for temporary files unless given.
    encoding : encoding of a text file that is not UTF-8; guessed when left out, which is noted.

    >>> with open_engine("duckdb") as engine:
    ...     engine.keep("t", "select 1 as a union all select 2 as a")
    ...     engine.rows("select cast(sum(a) as bigint) as total from t")
    2
    {'total': array([3])}
    """
    if choice == "duckdb":
        from unmask.engines.duck import Duck  # an engine is imported where it runs

        with Duck.open(memory_limit=memory_limit, temp_directory=temp_directory, encoding=encoding) as duck:
            yield duck
    elif choice == "spark" or choice.startswith("spark://"):
        from unmask.engines.spark import Spark

        master = master_of(choice)
        with Spark.open(master, memory_limit=memory_limit, temp_directory=temp_directory, encoding=encoding) as spark:
            yield spark
    else:
        raise UnmaskError(f"engine is {choice!r}, expected duckdb, spark or spark://MASTER")


def master_of(choice: str) -> str | None:
    """The master that Spark is asked for; None for the one of its configuration.

    >>> master_of("spark"), master_of("spark://node:7077"), master_of("spark://local[2]")
    (None, 'spark://node:7077', 'local[2]')
    """
    rest = choice.removeprefix("spark").removeprefix("://")
    if not rest:
        return None
    return rest if rest.startswith(("local", "yarn", "k8s://")) else choice


def in_bytes(text: str) -> int:
    """A size such as 2GiB, 500MB or 4G as a number of bytes; a unit of thousands without the i.

    >>> in_bytes("2GiB"), in_bytes("1.5 GB"), in_bytes("4g")
    (2147483648, 1500000000, 4000000000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", text.lower())
    if found is None or (found[3] and not found[2]):
        raise UnmaskError(f"size is {text!r}, expected a number and a unit, such as 2GiB or 500MB")
    unit = _UNITS[found[2]]
    if found[3]:
        unit = 1024 ** (round(len(str(unit)) / 3))
    return int(float(found[1]) * unit)
