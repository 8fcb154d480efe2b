"""Everything that a page shows, as files: charts as SVG or PNG, tables as CSV and Parquet, and an index of them."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from unmask.core.errors import UnmaskError
from unmask.data.databases import explain_failure, open_database
from unmask.data.writing import defer_signals, escape_formula, explain_write_errors
from unmask.render import Figure
from unmask.render.page import page_of
from unmask.render.page_parts import Grid
from unmask.results import Result
from unmask.results.names import MEASURES

INDEX = "index.json"

SCALE = 2.0
"""Pixels of a PNG for every pixel of the chart."""

LONGEST = 80
"""Letters of the name of a file."""


def export(result: Result, folder: Path, *, force: bool = False) -> tuple[str, ...]:
    """Write every chart and table of a page into a folder, and return the names of the files, `index.json` last.

    Charts are SVG, and PNG if the extra [charts] is installed. Tables are CSV and Parquet, with the texts of the page.
    `measures` has all rows in full precision, with empty cells for undefined values. The index describes each file. A
    folder with files raises an error unless `force` is set. Then files of the same name are replaced.
    """
    if folder.exists() and not folder.is_dir():
        raise UnmaskError(f"{folder} is not a folder; choose another one")
    if folder.exists() and any(folder.iterdir()) and not force:
        raise UnmaskError(f"{folder} exists and is not empty; choose another folder or give `force`")
    new = not folder.exists()  # takes its name at once; into a folder that is there the files go one by one
    home = folder.parent if new else folder
    with (
        _create_folder(home),
        explain_write_errors(folder),
        tempfile.TemporaryDirectory(prefix=".unmask-", dir=home) as private,
    ):
        draft = Path(private) / "export"
        draft.mkdir()
        index = list(_write(result, draft))
        contents = {"title": result.title, "files": index}
        (draft / INDEX).write_text(json.dumps(contents, indent=1) + "\n", encoding="utf-8")
        names = (*(str(item["file"]) for item in index), INDEX)
        with defer_signals():
            if new:
                draft.rename(folder)
            for name in () if new else names:
                (draft / name).replace(folder / name)
    return names


@contextmanager
def _create_folder(folder: Path) -> Iterator[None]:
    """Create a folder; remove it after an error, unless it existed before."""
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    try:
        with explain_write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for part in missing:
            with suppress(OSError):
                part.rmdir()
        raise


def list_charts(result: Result) -> dict[str, Figure]:
    """Return the charts of the page by name, in its order."""
    return {name: replace(item, name=name) for name, _, item in items(result) if isinstance(item, Figure)}


def items(result: Result) -> Iterator[tuple[str, str, Figure | Grid]]:
    """Yield every chart and table of the page in its order: name, heading and item."""
    used = {MEASURES}
    for words, item in page_of(result).list_items():
        yield _free(re.sub(r"[^a-z0-9]+", "-", words.lower())[:LONGEST].strip("-"), used), words, item


def _write(result: Result, folder: Path) -> Iterator[dict[str, str]]:
    """Write the files, and yield their entries in the index."""
    if measures := _measures(result):
        yield from _table(folder, MEASURES, measures, "Every measure, in full precision")
    for name, words, item in items(result):
        if isinstance(item, Figure):
            yield from _chart(folder, name, item)
        else:
            yield from _table(folder, name, _columns(item), item.caption or words)


def _free(name: str, used: set[str]) -> str:
    """Return the name, with a number if it is taken."""
    free_name = next(
        candidate for i in range(1, len(used) + 2) if (candidate := name if i == 1 else f"{name}-{i}") not in used
    )
    used.add(free_name)
    return free_name


# --- charts ----------------------------------------------------------------------------------------------------------


def _chart(folder: Path, name: str, figure: Figure) -> Iterator[dict[str, str]]:
    svg = figure.svg
    (folder / f"{name}.svg").write_text(svg + "\n", encoding="utf-8")
    yield {"file": f"{name}.svg", "kind": "chart", "caption": figure.caption}
    if find_spec("vl_convert") is not None:
        import vl_convert

        (folder / f"{name}.png").write_bytes(vl_convert.svg_to_png(svg, scale=SCALE))
        yield {"file": f"{name}.png", "kind": "chart", "caption": figure.caption}


# --- tables ----------------------------------------------------------------------------------------------------------


def _table(folder: Path, name: str, columns: Mapping[str, Any], caption: str) -> Iterator[dict[str, str]]:
    forms = {"csv": (_escaped(columns), "format csv, header"), "parquet": (columns, "format parquet, compression zstd")}
    with open_database() as connection:
        for kind, (cells, options) in forms.items():
            connection.register("shown", dict(cells))
            target = str(folder / f"{name}.{kind}").replace("'", "''")
            try:
                connection.execute(f"copy (select {_select_columns(cells)} from shown) to '{target}' ({options})")
            except duckdb.Error as error:
                problem = f"the tables of {folder.parent.name!r} cannot be written ({type(error).__name__})"
                raise explain_failure(error, f"{problem}; check the folder") from None
    for kind in forms:
        yield {"file": f"{name}.{kind}", "kind": "table", "caption": caption}


def _select_columns(columns: Mapping[str, Any]) -> str:
    """Return the columns in SQL, with null for numbers that are not finite."""
    quoted = {column: '"' + column.replace('"', '""') + '"' for column in columns}
    return ", ".join(
        f"nullif({quoted[column]}, 'nan'::double) as {quoted[column]}" if values.dtype == np.float64 else quoted[column]
        for column, values in columns.items()
    )


def _escaped(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns without cells that a spreadsheet would run."""
    texts = np.frompyfunc(lambda cell: escape_formula(cell) if isinstance(cell, str) else cell, 1, 1)
    return {
        escape_formula(name): texts(cells) if cells.dtype.kind in "OU" else cells for name, cells in columns.items()
    }


def _columns(grid: Grid) -> dict[str, Any]:
    """Return the cells of a table as texts; lines above groups of rows become a column."""
    lines = [(line, row) for line, rows in grid.groups for row in rows]
    heads: set[str] = set()
    columns = {"group": np.array([line for line, _ in lines], dtype=object)} if any(line for line, _ in lines) else {}
    heads.update(columns)
    for i, head in enumerate(grid.head):
        name = _free(head or "column", heads)
        columns[name] = np.array([row[i] if i < len(row) else "" for _, row in lines], dtype=object)
    return columns


def _measures(result: Result) -> dict[str, Any]:
    """Return a column for each value of the rows, without quantiles."""
    rows = result.results
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ()) if name != "quantiles"}
    return {name: _column(cells) for name, cells in columns.items()}


def _column(cells: Sequence[Any]) -> Any:
    """Return whole numbers, numbers (nan if missing), or texts."""
    if all(isinstance(cell, int | np.integer) for cell in cells):
        return np.array(cells, dtype=np.int64)
    return np.array(cells, dtype=object if any(isinstance(cell, str) for cell in cells) else np.float64)  # None is nan
