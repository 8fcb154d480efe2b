"""Spark engine: the same statements on a cluster, or on the cores of this machine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import glob
from importlib import import_module
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import FailedError, UnmaskError
from unmask.data.resources import temporary_folder
from unmask.data.source_files import (
    RECOGNIZED,
    TEXT_FILES,
    ReadableFile,
    TextOptions,
    find_files,
    is_sheet,
    prepare_file,
    read_head,
)
from unmask.data.sql import Arrays, Kind, clean_column, column_kind, quote_name, rename_columns
from unmask.data.writing import replace_file
from unmask.extras import not_installed


@dataclass(frozen=True, eq=False)
class SparkEngine:
    """A private session for tables, in a Spark application that others may share."""

    session: Any
    folder: str
    text: TextOptions
    memory_bytes: float = inf
    frames: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    files: dict[str, list[ReadableFile]] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def open(
        cls,
        master: str | None,
        *,
        memory_limit: int,
        temp_directory: str | PathLike[str] | None = None,
        text: TextOptions = RECOGNIZED,
    ) -> Iterator[SparkEngine]:
        """Start Spark, or join a running application; stop only an application that was started here."""
        with temporary_folder(temp_directory) as folder:
            application, started = _start(master, memory_limit=memory_limit, folder=folder)
            engine = cls(application.newSession(), folder, text)
            engine.session.conf.set("spark.sql.session.timeZone", "UTC")
            if application.sparkContext.master.startswith("local"):  # the default, 200, is for clusters
                engine.session.conf.set("spark.sql.shuffle.partitions", 4 * application.sparkContext.defaultParallelism)
            try:
                yield engine
            finally:
                for name in tuple(engine.frames):
                    engine.drop(name)
                if started:
                    application.stop()

    def names(self, source: str) -> list[str]:
        """See `Engine.names`."""
        return list(self._frame(source).columns)

    def table(
        self, name: str, source: str, columns: Mapping[str, str], *, ids: Collection[str] = ()
    ) -> dict[str, Kind]:
        """See `Engine.table`."""
        frame = self._frame(source)
        type_of, typed = dict(frame.dtypes), not self._is_text(source)
        kinds: dict[str, Kind] = {new: column_kind(type_of[old], typed=typed) for new, old in columns.items()}
        cells = [
            f"{clean_column(quote_name(old, '`'), kinds[new], repeats=new not in ids)} as {new}"
            for new, old in columns.items()
        ]
        with _translate_errors():
            frame.selectExpr(*cells).createOrReplaceTempView(name)
        return kinds

    def keep(self, name: str, sql: str) -> int:
        """See `Engine.keep`."""
        with _translate_errors():
            level = import_module("pyspark").StorageLevel.MEMORY_AND_DISK
            frame = self.session.sql(sql).persist(level)
            n_rows = int(frame.count())
            self.drop(name)
            frame.createOrReplaceTempView(name)
        self.frames[name] = frame
        return n_rows

    def view(self, name: str, sql: str) -> None:
        """See `Engine.view`."""
        with _translate_errors():
            self.session.sql(sql).createOrReplaceTempView(name)

    def put(self, name: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """See `Engine.put`."""
        arrow = import_module("pyarrow")
        with _translate_errors():
            text = {new: arrow.string() for new, column in columns.items() if column.dtype == object}
            cells = {new: arrow.array(column, text.get(new), from_pandas=False) for new, column in columns.items()}
            frame = self.session.createDataFrame(arrow.table(cells))
            self.drop(name)
            frame.createOrReplaceTempView(name)

    def drop(self, name: str) -> None:
        """See `Engine.drop`."""
        frame = self.frames.pop(name, None)
        if frame is not None:
            frame.unpersist()
        self.session.catalog.dropTempView(name)

    def rows(self, sql: str) -> Arrays:
        """See `Engine.rows`."""
        with _translate_errors():
            table = self.session.sql(sql).toArrow()
        return {name: np.require(table.column(name).to_numpy(), requirements="W") for name in table.column_names}

    def write_parquet(self, sql: str, path: Path, names: Mapping[str, str], *, order: Sequence[str]) -> None:
        """See `Engine.write_parquet`; a folder of files, sorted across files."""
        with replace_file(path) as part, _translate_errors():
            self.session.sql(rename_columns(sql, names, order=order, mark="`")).write.parquet(_local_uri(part))

    def _frame(self, source: str) -> Any:
        database, mark, table = source.rpartition("::")
        with _translate_errors(source):
            if mark and not Path(source).exists() and not is_sheet(Path(source)):
                return self.session.read.jdbc(database, table) if database else self.session.read.table(table)
            local = self._local_files(source)
            # A folder is read recursively; its name gives no column, and a name is not a pattern.
            reader = self.session.read.option("recursiveFileLookup", True).option("__globPaths__", not local)
            remote = _local_uri(Path(source)) if glob(source) else source  # noqa: PTH207 - it may be absolute
            paths = [_local_uri(file.path) for file in local] or [remote]
            if self._is_text(source):
                header = self.text.header is not False
                head = read_head(local[0].path, self.text.delimiter, header=header) if local else None
                delimiter = self.text.delimiter or ("\t" if ".tsv" in source.lower() else ",")
                options = {"header": header, "sep": head.delimiter if head else delimiter, "mode": "FAILFAST"}
                options["enforceSchema"] = False  # raise if another file has another column order
                frame = reader.options(**options, quote='"', escape='"', multiLine=True).csv(paths)
                return frame if header else frame.toDF(*(f"column {i + 1}" for i in range(len(frame.columns))))
            if local or source.lower().endswith((".parquet", ".pq")) or "." not in Path(source).name:
                return reader.parquet(*paths)
        raise UnmaskError(
            f"source {Path(source).name!r} has an unknown suffix; expected .parquet, .csv or .tsv (.gz), .xlsx, a "
            "folder of Parquet files, or ::TABLE for a table of Spark's catalog"
        )

    def _is_text(self, source: str) -> bool:
        """Return True if the source is a text file, by content, or by suffix if it is on another machine."""
        local = self._local_files(source)
        return local[0].kind == "text" if local else source.lower().endswith(TEXT_FILES)

    def _local_files(self, source: str) -> list[ReadableFile]:
        """Return the files of a source on this machine."""
        if source not in self.files:
            self.files[source] = [
                prepare_file(file, self.folder, encoding=self.text.encoding) for file in find_files(source)
            ]
            self.notes.extend(dict.fromkeys(file.note for file in self.files[source] if file.note))
        return self.files[source]


def _start(master: str | None, *, memory_limit: int, folder: str) -> tuple[Any, bool]:
    """Return the Spark application, and True if it was started here."""
    try:
        import_module("pyarrow")
        sessions = import_module("pyspark.sql").SparkSession
    except ImportError:
        raise not_installed("Spark", "spark", "use --engine duckdb") from None
    running = sessions.getActiveSession()
    if running is not None:
        return running, False
    settings = {
        "spark.driver.memory": f"{max(memory_limit >> 20, 512)}m",
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": folder,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    builder = sessions.builder.appName("unmask").config(map=settings)
    try:
        return (builder.master(master) if master else builder).getOrCreate(), True
    except Exception as error:  # noqa: BLE001  # py4j and pyspark have no common base class for missing Java or master
        raise FailedError(
            f"Spark does not start ({type(error).__name__}); is Java 17 or later installed, is the master up?"
        ) from None


def _local_uri(path: Path) -> str:
    """Return the URI of a path on this machine, independent of Spark's default file system."""
    return f"file://{path.absolute()}"


@contextmanager
def _translate_errors(source: str = "") -> Iterator[None]:
    """Translate Spark's errors, whose messages may quote a row."""
    try:
        yield
    except UnmaskError:
        raise
    except Exception as error:  # noqa: BLE001  # errors of pyspark and py4j have no common base class
        raise FailedError(_explain(str(error), source, type(error).__name__)) from None


def _explain(text: str, source: str, kind: str) -> str:
    if "PATH_NOT_FOUND" in text:
        return f"file {Path(source).name!r} does not exist; check the path"
    if "No space left" in text:
        return "the temporary directory or the disk of the output is full; free some space, or choose another one"
    if "OutOfMemoryError" in text or "SparkOutOfMemory" in text:
        return "the work does not fit the memory limit; give more (`memory_limit`), or coarsen a quasi-identifier"
    if "CSV header does not conform" in text:
        return "a file of the source has other columns than the first one; expected the same ones in the same order"
    if any(word in text for word in ("FAILED_READ_FILE", "is not a Parquet file", "MALFORMED", "CANNOT_READ", "EOF")):
        return "a file of the source cannot be read; it may be missing, truncated or damaged: check it, or remove it"
    return f"Spark cannot carry out the work ({kind}); check the source, the master and the space at hand"
