"""Audits of published tables in files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from unmask.aggregates.audit.aggregate_audit import audit
from unmask.aggregates.release import AggregateRelease
from unmask.aggregates.table_files import DESCRIPTION, read_release
from unmask.core.signatures import with_parameters
from unmask.data.columns import read_columns
from unmask.ranges import Option
from unmask.results import Result


@with_parameters(audit, only=("sensitive", "knows", "group_size", "seed"))
def audit_files(
    tables: Path,
    *,
    original: Annotated[Path | None, Option("Input")] = None,
    **options: Any,
) -> Result:
    r"""Attack published tables of counts: how many records are reconstructed, and which values are inferred.

    TABLES is a folder with a description, tables.toml, and a CSV file for each table, or the description. It names the
    categories of the columns, the column of areas, and the rule of each table: suppression, rounding or perturbation.

    All records that fit the tables are searched. An area with one solution is reconstructed for certain, without the
    original. With --original, claims are compared with the true records.

    \b
    unmask audit aggregates published --report out.html
    unmask audit aggregates published --original records.csv --sensitive income --knows age,sex
    unmask audit aggregates published --policy 'areas_reconstructed <= 0.05'

    Parameters
    ----------
    tables : path
        Folder with tables.toml and the files that it names, or the path of tables.toml.
    original : path, optional
        table of the true records, with the columns of the tables and of areas
    sensitive, knows, group_size, seed
        See `audit`.

    Returns
    -------
    Result
    """
    release = read_release(tables)
    folder = tables.parent if tables.name == DESCRIPTION else tables
    name = folder.resolve().name if folder != Path() else ""  # a result does not depend on the present folder
    truth = None if original is None else read_columns(original, _list_columns(release))
    return audit({name or "release": release}, truth=truth, **options)


def _list_columns(release: AggregateRelease) -> list[str]:
    return [*release.columns, *([release.geography] if release.geography else [])]
