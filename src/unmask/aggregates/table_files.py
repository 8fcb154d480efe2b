"""Files of published tables: a description, tables.toml, and one long CSV file for each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.domain import Domain, find_positions
from unmask.aggregates.release import AggregateRelease, Tabulation
from unmask.aggregates.rules import MARKERS, Marker, Rule
from unmask.aggregates.statistics import Statistic
from unmask.core.errors import FailedError, UnmaskError, nearest
from unmask.data.columns import list_columns, read_columns
from unmask.data.files import read_toml
from unmask.data.writing import explain_write_errors, format_csv, write_text
from unmask.schema import Table, check, dict_of, list_of, parameters
from unmask.toml_text import format_document

DESCRIPTION: Final = "tables.toml"
"""Name of the file that describes the tables of a folder."""

COUNT: Final = "count"
"""Column of a published number or a marker."""

MAX_TABLES: Final = 1_000
"""Largest number of tables of a release."""

MAX_TABLE_BYTES: Final = 1 << 30
"""Largest size of the file of a table, in bytes."""

MAX_TABLE_CELLS: Final = 50_000_000
"""Largest number of cells of a table, over all areas."""

Omitted = Literal["refused", "zero", "unpublished"]

_TABLE: Final = Table(
    {
        "file": str,
        "columns": list_of(str),
        "where": dict_of(list_of(str)),
        "rule": Table(parameters("unmask.aggregates.rules:Rule")),
        "omitted": Omitted,
        "markers": dict_of(Literal["suppressed", "secondary", "unpublished"]),
        "statistic": Literal["count", "mean", "median", "sum"],
        "of": str,
        "digits": int,
    },
    ("file", "columns"),
)

FORM: Final = Table(
    {
        "title": str,
        "geography": str,
        "domain": dict_of(list_of(str)),
        "levels": dict_of(dict_of(dict_of(list_of(str)))),
        "rule": Table(parameters("unmask.aggregates.rules:Rule")),
        "tables": list_of(_TABLE),
    },
    ("domain", "tables"),
)
"""Keys of a description and their types."""


def read_release(path: Path) -> AggregateRelease:
    """Read a release from its description, or from the folder with tables.toml.

    Parameters
    ----------
    path : path
        Description of the tables. The files that it names are in the same folder, or below it.

    Returns
    -------
    AggregateRelease

    Raises
    ------
    FailedError
        If a file cannot be read.
    UnmaskError
        If a file does not fit the description. Errors have numbers of rows, and no content of cells.
    """
    if path.is_dir() and not (path / DESCRIPTION).exists():
        raise UnmaskError(
            f"folder {path.name!r} has no {DESCRIPTION}, expected the description of tables of counts; sums are "
            "attacked once, by unmask protect aggregates"
        )
    path = path / DESCRIPTION if path.is_dir() else path
    description = read_description(path)
    domain = Domain(description["domain"], description.get("levels", {}))
    geography = description.get("geography", "")
    if geography in domain.categories:
        raise UnmaskError(f"{geography!r} is the geography and a column of the domain; remove it from [domain]")
    default_rule, texts = description.get("rule", {}), {}
    for table in description["tables"]:
        texts[table["file"]] = _read_texts(path.parent, table)
    areas = _list_areas(geography, texts.values())
    tables: list[Tabulation | Statistic] = [
        _parse_table(texts[table["file"]], table, default_rule, domain, geography, areas)
        for table in description["tables"]
    ]
    counts = tuple(table for table in tables if isinstance(table, Tabulation))
    statistics = tuple(table for table in tables if isinstance(table, Statistic))
    return AggregateRelease(domain, counts, geography, areas, statistics)


def read_description(path: Path) -> dict[str, Any]:
    """Return the content of a description; raise an error if its keys or the number of its tables are not valid."""
    description = read_toml(path, "description of tables")
    check(description, FORM, path.name)
    if len(description["tables"]) > MAX_TABLES:
        raise UnmaskError(f"{path.name} names {len(description['tables']):,} tables, expected at most {MAX_TABLES:,}")
    return description


def list_release_files(path: Path) -> list[Path]:
    """Return the description of a release, or the one in its folder, and the files of tables that it names."""
    path = path / DESCRIPTION if path.is_dir() else path
    return [path, *(locate_table(path.parent, name) for name in list_table_names(path))]


def list_table_names(description: Path) -> list[str]:
    """Return the names of the files of tables in a description."""
    return list(dict.fromkeys(table["file"] for table in read_description(description)["tables"]))


def _read_texts(folder: Path, table: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the columns of the file of a table, as texts."""
    path = locate_table(folder, table["file"])
    expected = [*table["columns"], _name_numbers(table)]
    columns = list_columns(path)
    missing = next((column for column in expected if column not in columns), None)
    if missing is not None or len({*columns}) < len(columns) or len(columns) > len(expected):
        detail = f"has no column {missing!r}" if missing else "has further columns"
        raise UnmaskError(f"file {path.name!r} {detail}; expected {', '.join(expected)}")
    read = read_columns(path, expected).items()
    return {name: np.array(["" if cell is None else str(cell) for cell in values.tolist()]) for name, values in read}


def _name_numbers(table: Mapping[str, Any]) -> str:
    """Return the name of the column of numbers: count, or the statistic."""
    return str(table.get("statistic", COUNT))


def locate_table(folder: Path, name: str) -> Path:
    """Return the path of a file in the folder of the description; refuse others, and large ones."""
    if "\0" in name or not (folder / name).resolve().is_relative_to(folder.resolve()):
        raise UnmaskError(
            "the description names a file outside its folder, expected a path below it; move the file there"
        )
    path = folder / name
    if not path.is_file():
        raise FailedError(f"file {path.name!r} of the description does not exist or is not a file; check the path")
    if path.stat().st_size > MAX_TABLE_BYTES:
        raise UnmaskError(
            f"file {path.name!r} is larger than {MAX_TABLE_BYTES >> 20:,} MiB; split the release by areas"
        )
    return path


def _list_areas(geography: str, tables: Any) -> tuple[str, ...]:
    """Return the areas that occur in any table, sorted."""
    if not geography:
        return ()
    return tuple(
        sorted({area for texts in tables if geography in texts for area in np.unique(texts[geography]).tolist()})
    )


def _parse_table(
    texts: Mapping[str, NDArray[Any]],
    table: Mapping[str, Any],
    default_rule: Mapping[str, Any],
    domain: Domain,
    geography: str,
    areas: Sequence[str],
) -> Tabulation | Statistic:
    name, by_area = Path(table["file"]).stem, geography in table["columns"]
    columns = tuple(column for column in table["columns"] if column != geography)
    labels = [areas] * by_area + [domain.labels(column) for column in columns]
    names = [geography] * by_area + list(columns)
    shape, numbers, where = tuple(map(len, labels)), texts[_name_numbers(table)], table.get("where", {})
    if np.prod(shape, dtype=object) > MAX_TABLE_CELLS:
        raise UnmaskError(f"table {name!r} has more than {MAX_TABLE_CELLS:,} cells; split the release by areas")
    positions = [
        find_positions(categories, texts[column], f"column {column!r} of table {name!r}")
        for categories, column in zip(labels, names, strict=True)
    ]
    cells = np.ravel_multi_index(tuple(positions), shape) if shape else np.zeros(len(numbers), dtype=np.int64)
    if len(np.unique(cells)) < len(cells):
        raise UnmaskError(f"table {name!r} has two rows of the same cell, expected one; remove one of them")
    size = int(np.prod(shape, dtype=np.int64))
    values, markers = np.full(size, np.nan), np.full(size, Marker.UNPUBLISHED, dtype=np.int8)
    own_markers = {text: MARKERS[meaning] for text, meaning in table.get("markers", {}).items()}
    values[cells], markers[cells] = _parse_cells(numbers, {**MARKERS, **own_markers}, name)
    if len(cells) < size:
        omitted = table.get("omitted", "refused")
        if omitted == "refused":
            raise UnmaskError(
                f"table {name!r} has {len(cells):,} of {size:,} cells; "
                "set omitted to zero or unpublished in its [[tables]]"
            )
        absent = np.isin(np.arange(size), cells, invert=True)
        if omitted == "zero":
            values[absent], markers[absent] = 0.0, Marker.PUBLISHED
    if _name_numbers(table) != COUNT:
        if "of" not in table:
            raise UnmaskError(f"table {name!r} has a {table['statistic']} of no column; name a numeric one in of")
        kind, digits = table["statistic"], table.get("digits", 0)
        return Statistic(name, columns, values.reshape(shape), kind, table["of"], digits, where, by_area)
    rule = Rule(**{**default_rule, **table.get("rule", {})})
    return Tabulation(name, columns, values.reshape(shape), markers.reshape(shape), rule, where, by_area)


def _parse_cells(
    texts: NDArray[Any], markers: Mapping[str, Marker], name: str
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return the numbers and the markers of texts; each distinct text is parsed once."""
    distinct, inverse = np.unique(texts, return_inverse=True)
    states = np.array([markers.get(text, Marker.PUBLISHED) for text in distinct.tolist()], dtype=np.int8)
    numbers = np.full(len(distinct), np.nan)
    for position in np.flatnonzero(states == Marker.PUBLISHED):
        try:
            numbers[position] = float(distinct[position])
        except ValueError:
            row = int(np.argmax(inverse == position)) + 1
            raise UnmaskError(
                f"row {row:,} of table {name!r} has neither a number nor a marker; {nearest('', tuple(markers))}, "
                "or name your own in markers"
            ) from None
    return numbers[inverse], states[inverse]


# --- writing ----------------------------------------------------------------------------------------------------------


def write_release(release: AggregateRelease, folder: Path, *, title: str = "Published tables") -> None:
    """Write the description and the tables of a release as new files of a folder, which is made if it is missing.

    Parameters
    ----------
    release : AggregateRelease
        Tables to publish.
    folder : path
        Folder of the files. No file is replaced.
    title : str
        Title of the description.

    Raises
    ------
    FailedError
        If a file exists or cannot be written.
    """
    domain, geography = release.domain, release.geography
    if release.statistics:
        raise UnmaskError("means, medians and sums cannot be written, expected tables of counts; leave them out")
    with explain_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    entries, markers = [], {int(marker): text for text, marker in MARKERS.items()}
    for item in release.tabulations:
        columns = [*([geography] if item.by_area else []), *item.columns]
        entry = {"file": f"{item.name}.csv", "columns": columns, "rule": _describe_rule(item.rule)}
        entries.append(entry | ({"where": item.where} if item.where else {}))
        labels = [*([release.areas] if item.by_area else []), *map(domain.labels, item.columns)]
        pairs = zip(item.markers.ravel().tolist(), item.values.ravel().tolist(), strict=True)
        cells = [markers[marker] if marker else str(int(value)) for marker, value in pairs]
        write_table(folder / f"{item.name}.csv", [*columns, COUNT], labels, cells)
    description = {
        "title": title,
        **({"geography": geography} if geography else {}),
        "domain": domain.categories,
        **({"levels": domain.levels} if domain.levels else {}),
        "tables": entries,
    }
    write_text(folder / DESCRIPTION, format_document(description))


def _describe_rule(rule: Rule) -> dict[str, Any]:
    """Return the fields of a rule that differ from their defaults."""
    return {item.name: getattr(rule, item.name) for item in fields(rule) if getattr(rule, item.name) != item.default}


def write_table(path: Path, header: Sequence[str], labels: Sequence[Sequence[str]], cells: Sequence[str]) -> None:
    """Write a CSV file with a row for each cell of the cross of labels."""
    lines = ([*names, cell] for names, cell in zip(product(*labels), cells, strict=True))
    write_text(path, format_csv(header, lines))
