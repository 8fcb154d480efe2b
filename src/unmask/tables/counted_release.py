"""Mondrian on the counted combinations of a source, and its release, which the engine writes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.data import sql
from unmask.data.engine import Engine
from unmask.data.resources import check_output
from unmask.data.writing import STARTS, escape_formula, is_formula
from unmask.ranges import Option
from unmask.tables.column import Column, classes_of
from unmask.tables.formulas import Formulas, check_formulas
from unmask.tables.protections.mondrian import Mondrian
from unmask.tables.protections.recoding import merge_cells
from unmask.tables.stored import StoredTable, unchanged_columns
from unmask.tables.table import Table
from unmask.tables.table_writing import stored_type
from unmask.tables.utility.column_loss import Loss, Pairs
from unmask.tables.utility.evaluation import InformationLoss


@dataclass(frozen=True, eq=False)
class CountedRelease:
    """Release of a counted table.

    Parameters
    ----------
    release : Table
        Counted classes of the release, without sensitive values.
    points : (n, d) array of int32
        Codes of each distinct combination of quasi-identifiers.
    box : (n,) array of int32
        Class of each combination.
    loss : InformationLoss
        Loss over all rows; rows that are not released count as suppressed. Comparisons of distributions and random
        queries need rows and are left out.
    """

    release: Table
    points: NDArray[np.int32]
    box: NDArray[np.int32]
    loss: InformationLoss


def generalize(table: Table, protection: Mondrian) -> CountedRelease:
    """Cut a counted table into the boxes into which `protection` would cut its rows.

    A strict cut separates values, so equal rows are never separated, and a class is a point weighted by its rows. The
    relaxed form separates equal rows at random and needs the rows.

    Parameters
    ----------
    table : Table
        Counted table.
    protection : Mondrian
        Strict form without levels.

    Returns
    -------
    CountedRelease
        The classes of the release, and their loss.

    Raises
    ------
    UnmaskError
        If the protection needs rows.
    """
    if protection.levels:
        raise UnmaskError("an engine cannot recode columns to levels before they are cut; leave levels or `engine` out")
    if not protection.strict:
        raise UnmaskError("the relaxed Mondrian separates equal rows and needs them in memory; use the strict form")
    complete = table.complete
    classes = complete.classes
    box = protection.boxes(complete)
    of_boxes = [merge_cells(column, box, classes.levels[:, j]) for j, column in enumerate(table.quasi_identifiers)]
    merged = [replace(column, codes=column.codes[box], row_counts=classes.sizes) for column in of_boxes]
    merged_classes = classes_of(merged)
    columns = tuple(
        replace(column, codes=np.ascontiguousarray(merged_classes.levels[:, j]), row_counts=merged_classes.sizes)
        for j, column in enumerate(merged)
    )
    release = Table(columns, missing=table.missing, order=table.order)
    lost = {}
    for j, (column, released) in enumerate(zip(table.quasi_identifiers, merged, strict=True)):
        pairs = Pairs(classes.levels[:, j], released.codes, classes.sizes)
        lost[column.name] = Loss.of(column, released, pairs, column.counts - complete.column(column.name).counts)
    loss = InformationLoss.of(lost, merged_classes.sizes, suppressed_rows=table.n_rows - release.n_rows)
    return CountedRelease(release, classes.levels, merged_classes.of_row, loss)


def write_release(
    stored: StoredTable,
    counted_release: CountedRelease,
    path: Path,
    *,
    formulas: Annotated[Formulas, Option("Output")] = "keep",
    force: bool = False,
) -> dict[str, int]:
    """Write the rows of a source with the cells of its release to a Parquet file, which appears only when it is
    complete.

    Rows are sorted by their class and their other released cells. Therefore the row order does not depend on the
    source, and equal releases are equal files. Columns without a role are left out; the others have the order of the
    source.

    Parameters
    ----------
    stored : StoredTable
        The table that was read and generalized.
    counted_release : CountedRelease
        Its release.
    path : Path
        Parquet file.
    formulas : {"keep", "escape", "refuse"}
        Treatment of cells that a spreadsheet would run. Escape puts an apostrophe before them.
    force : bool
        Overwrite an existing file.

    Returns
    -------
    dict of str to int
        Number of cells that a spreadsheet would run, by column.
    """
    check_output(path, force=force)
    engine, name = stored.engine, stored.name
    quasi_identifiers = [column.name for column in counted_release.release.quasi_identifiers]
    columns = stored.shorts(stored.dictionary)
    keep = [column for column in counted_release.release.order if column not in stored.dictionary]
    points, kept_columns = stored.shorts(quasi_identifiers), unchanged_columns(keep)
    secret = {short: stored.dictionary[column] for short, column in columns.items() if short not in points}
    kinds = engine.table(f"{name}_rows", stored.source, {**columns, **kept_columns})
    released = dict(zip(points, counted_release.release.quasi_identifiers, strict=True))
    codes = {short: np.ascontiguousarray(counted_release.points[:, j]) for j, short in enumerate(points)}
    engine.put(f"{name}_box", {**codes, "box": counted_release.box})
    cells = {short: _labels(column)[column.codes] for short, column in released.items()}
    engine.put(f"{name}_label", {"box": np.arange(len(counted_release.release.classes.sizes), dtype=np.int32), **cells})
    labels = {}
    for short, column in secret.items():
        engine.put(f"{name}_{short}_label", {"code": column.codes, "label": _labels(column)})
        labels[short] = (f"{name}_{short}_label", _type(column))
    types = {short: _type(column) for short, column in released.items()}
    rows = sql.select_placed_rows(
        f"{name}_rows", f"{name}_box", stored.codes_of(points), stored.gaps(points), stored.codes_of(secret),
        tuple(kept_columns),
    )  # fmt: skip
    engine.keep(f"{name}_placed", rows)
    text = sql.select_labeled_rows(f"{name}_placed", f"{name}_label", types, labels, tuple(kept_columns))
    order = ["box", *(f"code_{short}" for short in secret), *kept_columns]
    place = engine.names(stored.source).index
    file_names = dict(sorted({**columns, **kept_columns}.items(), key=lambda column: place(column[1])))
    texts = [*(short for short in types if types[short] == "string"), *(s for s in labels if labels[s][1] == "string")]
    texts += [short for short in kept_columns if kinds[short] in ("text", "untyped")]
    formula_cells = _formulas(engine, text, {short: file_names[short] for short in texts})
    check_formulas(formula_cells, formulas)
    if formula_cells and formulas == "escape":
        text = sql.escape_formulas(
            text, texts, [*file_names, *(column for column in order if column not in file_names)], STARTS
        )
        file_names = {short: escape_formula(column) for short, column in file_names.items()}
    engine.write_parquet(text, path, file_names, order=order)
    return formula_cells


def _formulas(engine: Engine, text: str, texts: dict[str, str]) -> dict[str, int]:
    """Count the cells that a spreadsheet would run, by column name. texts : name of each column of the query"""
    counts = engine.rows(sql.count_formulas(text, list(texts), STARTS)) if texts else {}
    formula_cells = {column: int(counts[short][0]) + is_formula(column) for short, column in texts.items()}
    return {column: n for column, n in formula_cells.items() if n}


def _labels(column: Column) -> NDArray[Any]:
    """Return (L,) text of each level, None for a missing cell."""
    return np.array([label or None for label in column.levels.labels], dtype=object)


def _type(column: Column) -> str:
    """Return the type of the cells as in a file of `Table.write`, by the name that both engines know."""
    stored = stored_type(column)
    return "string" if stored == "VARCHAR" else stored.lower()
