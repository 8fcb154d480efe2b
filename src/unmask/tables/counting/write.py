"""A release of many rows, written by the engine: no row passes through Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.data import sql
from unmask.data.engine import Engine
from unmask.data.resources import check_output
from unmask.tables.column import Column
from unmask.tables.counting.mondrian import Generalized
from unmask.tables.counting.reduce import Reduced
from unmask.tables.formulas import Formulas, check_formulas
from unmask.tables.writing import stored_type
from unmask.writing import STARTS, escape, is_formula


def write_release(
    reduced: Reduced,
    made: Generalized,
    path: Path,
    *,
    formulas: Formulas = "keep",
    force: bool = False,
) -> dict[str, int]:
    """Write the rows of a table with the cells of its release as Parquet, whole or not at all.

    Rows are sorted by their class and by all that is released with them: their order is a function of what they say, so
    it tells nothing about the order of the source, and the same release is the same file.

    Columns without a role are left out; the others stand in the order of the source. formulas : what is done about
    cells that a spreadsheet would run; their number by column is returned.
    """
    check_output(path, force=force)
    engine, name = reduced.engine, reduced.name
    quasi, secret = reduced.short
    other = reduced.kept
    kinds = engine.table(f"{name}_rows", reduced.source, {**reduced.columns, **other})
    cells = {
        short: _labels(column)[column.codes]
        for short, column in zip(quasi, made.release.quasi_identifiers, strict=True)
    }
    engine.put(f"{name}_label", {"box": np.arange(len(made.release.counts), dtype=np.int32), **cells})
    dictionaries = {short: f"{name}_{short}" for short in quasi}
    missing = {s: max(c.levels.missing, 0) for s, c in zip(quasi, reduced.quasi_identifiers, strict=True)}
    labels, codes = {}, {short: f"{name}_{short}" for short in secret}
    for short, column in zip(secret, reduced.sensitive, strict=True):
        listed = np.arange(len(column.levels), dtype=np.int32)
        engine.put(f"{name}_{short}_label", {"code": listed, "label": _labels(column)})
        labels[short] = (f"{name}_{short}_label", _type(column))
    types = {short: _type(column) for short, column in zip(quasi, made.release.quasi_identifiers, strict=True)}
    rows = sql.placed(f"{name}_rows", f"{name}_box", dictionaries, missing, codes, tuple(other))
    engine.keep(f"{name}_placed", rows)
    text = sql.dressed(f"{name}_placed", f"{name}_label", types, labels, tuple(other))
    order = ["box", *(f"code_{short}" for short in secret), *other]
    place = engine.names(reduced.source).index
    named = dict(sorted({**reduced.columns, **other}.items(), key=lambda column: place(column[1])))
    texts = [*(short for short in types if types[short] == "string"), *(s for s in labels if labels[s][1] == "string")]
    texts += [short for short in other if kinds[short] in ("text", "untyped")]
    found = _formulas(engine, text, {short: named[short] for short in texts})
    check_formulas(found, formulas)
    if found and formulas == "escape":
        text = sql.escaped(text, texts, [*named, *(column for column in order if column not in named)], STARTS)
        named = {short: escape(column) for short, column in named.items()}
    engine.write_parquet(text, path, named, order=order)
    return found


def _formulas(engine: Engine, text: str, texts: dict[str, str]) -> dict[str, int]:
    """Cells by column that a spreadsheet would run. texts : column of text in the query -> its name in the file."""
    counts = engine.rows(sql.formulas(text, list(texts), STARTS)) if texts else {}
    every = {column: int(counts[short][0]) + is_formula(column) for short, column in texts.items()}
    return {column: n for column, n in every.items() if n}


def _labels(column: Column) -> NDArray[Any]:
    """(L,) text of each level, None for a missing cell."""
    return np.array([label or None for label in column.levels.labels], dtype=object)


def _type(column: Column) -> str:
    """What holds the cells, as in the file of `Table.write`, by the name that both engines know."""
    stored = stored_type(column)
    return "string" if stored == "VARCHAR" else stored.lower()
