"""Risk of each record: class size, individual and household risk, and special uniques, in one file for the owner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.data.writing import escape_formula, format_csv
from unmask.tables.criteria.evaluation import Frame
from unmask.tables.criteria.risk import population_sizes
from unmask.tables.meanings import scale_weights
from unmask.tables.risk.suda import find_special_uniques
from unmask.tables.table import Table

Values = NDArray[np.float64] | NDArray[np.int64] | Sequence[str]

MAX_BLOCK = 100_000
"""Rows of a file that are formatted at a time."""


@dataclass(frozen=True, eq=False)
class RecordRisks:
    """Risk of each record of a table.

    Parameters
    ----------
    columns : mapping of str to (n_records,) array
        Values by name:

        * `row`: row of the file, counted from 0.
        * `class_size`: records with the same quasi-identifiers.
        * `weighted_class_size`: their survey weights together.
        * `individual_risk`: expected 1/F, where F people of the population are in the class (Franconi and Polettini).
        * `model_risk`: expected 1/F by a log-linear model of the population, see `criteria.model_risk`.
        * `household_size`, `household_class_size`: members of the household, and households with the same members.
        * `household_risk`: probability that a member is re-identified, who reveals the others.
        * `register_matches`: people of a register who fit the record.
        * `suda_score`, `n_minimal_uniques`, `smallest_minimal_unique`, `dis_suda`: see `SpecialUniques`.
    not_run : tuple of (str, str)
        Columns that were not computed, and the reason.
    """

    columns: Mapping[str, Values]
    not_run: tuple[tuple[str, str], ...]

    def to_csv(self) -> str:
        """Return the text of a file with a heading and a line for each record; unknown values are empty."""
        columns = self.columns.values()
        starts = range(0, len(next(iter(columns))), MAX_BLOCK)
        blocks = ([_format_values(values[start : start + MAX_BLOCK]) for values in columns] for start in starts)
        return format_csv(self.columns, (row for block in blocks for row in zip(*block, strict=True)))


def evaluate_records(table: Table, *, register: Table | None = None, population: int | None = None) -> RecordRisks:
    """Return the risk of each record of a sample.

    Parameters
    ----------
    table : Table
        Sample, with the weight and the household of each row if they are known. Rows that are left out for a missing
        cell are not part of the result.
    register : Table, optional
        Register with some of the quasi-identifiers.
    population : int, optional
        Number of people of the population, from which the sampling fraction of the model and of DIS-SUDA follows. By
        default the sum of the weights.

    Returns
    -------
    RecordRisks

    Raises
    ------
    UnmaskError
        If the population has fewer people than the sample.

    Examples
    --------
    >>> columns = {"age": [30, 30, 41], "sex": ["f", "f", "m"], "home": [7, 8, 8]}
    >>> table = Table.read(columns, quasi_identifiers=["age", "sex"], household="home")
    >>> print(evaluate_records(table).to_csv())
    row,class_size,household_size,household_class_size,household_risk,suda_score,n_minimal_uniques,smallest_minimal_unique
    0,2,1,1,0.5,0.0,0,
    1,2,2,1,1.0,0.0,0,
    2,1,2,1,1.0,2.0,2,age
    <BLANKLINE>
    """
    if population is not None and population < table.n_rows:
        raise UnmaskError(f"the population has {population:,} people and the sample {table.n_rows:,} rows; check it")
    frame, of_row = Frame.of(table), table.complete.classes.of_row
    weight = scale_weights(table.weight, population)
    weight = None if weight is None else weight[table.complete_rows]
    risk = 1 / frame.sizes if weight is None else frame.survey_risk(weight)
    columns: dict[str, Values] = {"row": table.complete_rows, "class_size": frame.sizes[of_row]}
    if weight is not None:
        columns |= {"weighted_class_size": frame.sum_weights(weight)[of_row], "individual_risk": risk[of_row]}
    people = population if weight is None or population is not None else float(weight.sum())
    not_run: tuple[tuple[str, str], ...] = ()
    if people is not None:
        try:
            columns["model_risk"] = frame.model_risk(people)[of_row]
        except UnmaskError as error:
            not_run = (("model_risk", str(error)),)
    if (households := frame.evaluate_households(risk)) is not None:
        columns |= {f"household_{name}": values for name, values in households._asdict().items()}
    if register is not None:
        columns["register_matches"] = population_sizes(frame.table, register)[of_row]
    special, without_suda = _find_special_uniques(frame.table, None if people is None else len(of_row) / people)
    not_run += without_suda
    if table.weight is not None and weight is None:
        reason = "the sum of the weights is about the number of rows, so that the population of a class is unknown"
        not_run = (("individual_risk", reason), *not_run)
    return RecordRisks(columns | special, not_run)


def _find_special_uniques(
    table: Table, sampling_fraction: float | None
) -> tuple[dict[str, Values], tuple[tuple[str, str], ...]]:
    """Return the columns about special uniques, and those that were not computed with the reason."""
    uniques = find_special_uniques(table)
    columns: dict[str, Values] = {
        "suda_score": uniques.score,
        "n_minimal_uniques": uniques.n_minimal,
        "smallest_minimal_unique": uniques.name_smallest(),
    }
    if sampling_fraction is None:
        return columns, (("dis_suda", "the sampling fraction is unknown; give survey weights or the population"),)
    if uniques.n_pairs == 0:
        return columns, (("dis_suda", "no two records are a pair of their own, from which it is estimated"),)
    try:
        return {**columns, "dis_suda": uniques.estimate_intruder_confidence(min(sampling_fraction, 1.0))}, ()
    except UnmaskError as error:
        return columns, (("dis_suda", str(error)),)


def _format_values(values: Values) -> Iterator[str]:
    """Yield the text of each value; six significant digits."""
    if not isinstance(values, np.ndarray):
        return map(escape_formula, values)
    if values.dtype.kind != "f":
        return map(str, values.tolist())
    return ("" if np.isnan(value) else repr(float(f"{value:.6g}")) for value in values.tolist())
