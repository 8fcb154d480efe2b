"""Small-count suppression: shared output never states a number of people below the smallest group.

`suppress_small_counts` is the one rule, by the kinds of columns. It suppresses tables of facts, measures, and records.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from unmask.languages import gettext as _
from unmask.results.names import ATTACKED, GROUPS, MIN_COVERAGE
from unmask.results.rows import Row, StudyRow
from unmask.results.table import Column, Record, Table

FEWEST = 10
"""The smallest group of people that a shared page describes, unless the caller sets another number."""


N_TENTHS = 10
"""Number of groups of people if a page describes a tenth of them."""


def hide_few(count: int | str, smallest_group: int) -> int | str:
    """Return a count of people, or "fewer than 10" if it is smaller.

    >>> hide_few(0, 10), hide_few(3, 10), hide_few(11, 10)
    (0, 'fewer than 10', 11)
    """
    is_small = isinstance(count, int) and 0 < count < smallest_group
    return _("fewer than {n}", n=smallest_group) if is_small else count


def round_people(count: int | str, smallest_group: int, n_people: int | None = None) -> int | str:
    """Return a count of people rounded up to a multiple of `smallest_group`, at most `n_people`; "fewer than 10" below.

    >>> round_people(0, 10), round_people(3, 10), round_people(10, 10), round_people(21, 10), round_people(21, 10, 25)
    (0, 'fewer than 10', 10, 30, 25)
    """
    if isinstance(count, str) or count < smallest_group:
        return hide_few(count, smallest_group)
    rounded = smallest_group * math.ceil(count / smallest_group)
    return rounded if n_people is None else min(rounded, n_people)


def round_share(share: float, people: int, smallest_group: int) -> float:
    """Return a share of people rounded up, so differences describe multiples of `smallest_group` people.

    >>> round_share(0.003, 1000, 10), round_share(0.51, 1000, 10), round_share(0.0, 1000, 10), round_share(0.5, 4, 10)
    (0.01, 0.51, 0.0, 1.0)
    """
    return min(1.0, smallest_group * math.ceil(round(share * people / smallest_group, 6)) / people)


_START, _END = "\ue000", "\ue001"
_COUNT = re.compile(f"{_START}(\\d+){_END}")
_OPEN, _SIZE, _CLOSE = "\ue002", "\ue003", "\ue004"
_GROUP = re.compile(f"( ?){_OPEN}(\\d+){_SIZE}([^{_CLOSE}]*){_CLOSE}")


def mark_people(count: int) -> str:
    """Return a count of people as a mark in a sentence, which `write_counts` turns into words.

    A sentence is written before its readers are known: the owner of the data, or people who receive the page.
    """
    return f"{_START}{count}{_END}"


def mark_group(sentence: str, count: int) -> str:
    """Return a sentence about a group of people with a mark: `write_counts` leaves it out if the group is small."""
    return f"{_OPEN}{count}{_SIZE}{sentence}{_CLOSE}"


def write_counts(sentence: str, smallest_group: int) -> str:
    """Return text with its marked counts of people; counts below `smallest_group` read "fewer than 10".

    Sentences about fewer than `smallest_group` people are left out. A sentence that begins with such words
    begins with a capital letter.

    >>> sentence = f"{mark_people(3)} of {mark_people(1200)} people"
    >>> write_counts(sentence, 10), write_counts(sentence, 1)
    ('fewer than 10 of 1,200 people', '3 of 1,200 people')
    >>> write_counts(f"All. {mark_group('Of 3 people, 2.', 3)}", 10)
    'All.'
    """
    large = _GROUP.sub(lambda match: "" if 0 < int(match[2]) < smallest_group else match[1] + match[3], sentence)
    text = _COUNT.sub(lambda match: _write_count(int(match[1]), smallest_group), large).lstrip(" ")
    return text[:1].upper() + text[1:] if _COUNT.match(large) and text.endswith(".") else text


def _write_count(count: int, smallest_group: int) -> str:
    text = hide_few(count, smallest_group)
    return text if isinstance(text, str) else f"{text:,}"


# --- tables ----------------------------------------------------------------------------------------------------------

COUNT_KINDS = frozenset({"people", "group", "bin", "share_of_people", "percent_of_people", "part_of_people"})
"""Kinds of columns whose values describe a number of people."""


def suppress_small_counts(table: Table, smallest_group: int) -> Table:
    """Return a table as it may be shared: without facts about fewer than `smallest_group` people.

    Rows of smaller groups are left out. Counts and shares of people are rounded up to multiples of `smallest_group`,
    and small counts read "fewer than 10". Differences of cells then describe no smaller group. Suppressing twice
    changes nothing.

    >>> people = Column("people", kind="people")
    >>> suppress_small_counts(Table.from_records("t", [people], [(0,), (3,), (21,)]), 10).values("people")
    [0, 'fewer than 10', 30]
    """
    groups = [column.name for column in table.columns if column.kind == "group"]
    large = [row for row in table.rows if all(_is_large(row[name], smallest_group) for name in groups)]
    series: dict[tuple[Any, ...], list[Record]] = {}
    for row in large:
        series.setdefault(tuple(row[name] for name in table.series), []).append(row)
    rows = (row for series_rows in series.values() for row in _share_series(table, series_rows, smallest_group))
    return replace(table, rows=tuple(rows))


def _share_series(table: Table, rows: list[Record], smallest_group: int) -> Iterator[Record]:
    for column in table.columns if smallest_group > 1 else ():
        if column.kind == "bin":
            rows = _cut_ends(rows, column, smallest_group)
        if column.kind == "name":
            rows = list(_replace_names(rows, column, table.column(column.of).of, smallest_group))
    for row in rows[: table.limit or None]:
        yield {column.name: _share_value(column, row[column.name], row, smallest_group) for column in table.columns}


def _is_large(group: int | str | None, smallest_group: int) -> bool:
    """Return whether a row of a group may be shared; None means no group, and a text is rounded already."""
    return group is None or isinstance(group, str) or group >= smallest_group


def _cut_ends(rows: list[Record], column: Column, smallest_group: int) -> list[Record]:
    """Return the rows from the first to the last large bin."""
    large = [i for i, row in enumerate(rows) if _is_large_bin(row[column.name], row[column.of], smallest_group)]
    return rows[large[0] : large[-1] + 1] if large else []


def _is_large_bin(share: float, n_people: int, smallest_group: int) -> bool:
    return bool(share * n_people > smallest_group - 0.5)


def _replace_names(rows: Iterable[Record], column: Column, people: str, smallest_group: int) -> Iterator[Record]:
    """Yield the rows, the first one of a rare name without that name, and no other of them."""
    rare_name = f"a value that fewer than {smallest_group:,} people have"
    is_replaced = False
    for row in rows:
        is_rare = row[column.name] != rare_name and row[column.of] * row[people] < smallest_group - 0.5
        if not (is_rare and is_replaced):
            yield {**row, column.name: rare_name} if is_rare else row
        is_replaced = is_replaced or is_rare


def _share_value(column: Column, value: Any, row: Record, smallest_group: int) -> Any:
    """Return a value of a row as it may be shared, by the kind of its column."""
    if value is None or column.kind == "private":
        return None
    if smallest_group <= 1 or column.kind not in COUNT_KINDS:
        return value
    if isinstance(value, Mapping):
        return {key: _share_value(column, item, row, smallest_group) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_share_value(column, item, row, smallest_group) for item in value)
    n_people = row[column.of] if column.of else None
    if column.kind in ("people", "group"):
        return hide_few(value, smallest_group) if column.exact else round_people(value, smallest_group, n_people)
    if n_people is None or isinstance(n_people, str):
        return None
    return _share_part(column, value, n_people, smallest_group)


def _share_part(column: Column, value: float, n_people: int, smallest_group: int) -> float | None:
    """Return a part of people as it may be shared."""
    if column.kind == "part_of_people":
        if not 0 < n_people - value < smallest_group:
            return value
        rounded = n_people if value >= MIN_COVERAGE * n_people else n_people - smallest_group
        return rounded if rounded >= 0 else None
    if column.kind == "percent_of_people":
        return None if 0 < n_people < smallest_group else value if column.exact else round(value, 2)
    if column.kind == "bin" and not _is_large_bin(value, n_people, smallest_group):
        return 0.0
    return round_share(value, n_people, smallest_group)


# --- records and measures --------------------------------------------------------------------------------------------

R = TypeVar("R")


def suppress_records(records: Iterable[R], columns: tuple[Column, ...], smallest_group: int) -> tuple[R, ...]:
    """Return dataclass values as they may be shared, by the kinds of their fields; `columns` are all fields."""
    values = tuple(records)
    table = suppress_small_counts(Table("records", columns, tuple(map(vars, values))), smallest_group)
    return tuple(type(values[0])(**row) for row in table.rows)


MEASURE_COLUMNS = (
    Column("row"), Column("group", kind="group"), Column("n"), Column("attacked", kind="share_of_people", of="n"),
    Column("n_drawn"), Column("n_judged", kind="part_of_people", of="n_drawn"),
)  # fmt: skip
"""Columns of a measure that count people: the group, and the people who are attacked, drawn and judged."""


def suppress_rows(rows: Iterable[Row], smallest_group: int) -> Iterator[Row]:
    """Yield measures as they may be shared.

    A group of few people has no measures. The share of people that a rational attacker attacks is rounded up and has
    no interval. A small number of people who are not judged is not shown.
    """
    records = (
        (
            row,
            row.n if row.target in GROUPS else None,
            row.n,
            row.posterior if row.measure in ATTACKED and math.isfinite(row.posterior) else None,
            row.n_drawn,
            row.n_judged,
        )
        for row in rows
    )
    table = Table.from_records("measures", MEASURE_COLUMNS, records)
    for shared in suppress_small_counts(table, smallest_group).rows:
        row, attacked = shared["row"], shared["attacked"]
        row = row if row.n_judged == shared["n_judged"] else replace(row, n_judged=shared["n_judged"])
        yield row if attacked is None or smallest_group <= 1 else _with_posterior(row, attacked)


def _with_posterior(row: Row, posterior: float) -> Row:
    row = replace(row, gain_low=None, gain_high=None) if isinstance(row, StudyRow) else row
    return replace(row, posterior=posterior, gain=posterior - row.prior, low=None, high=None)
