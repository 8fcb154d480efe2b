"""Facts about columns, and a suggested role for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np

from unmask.core.grouping import class_counts
from unmask.data.column_names import Role, design_role, find_role, is_visible
from unmask.facts import ColumnFacts, Printed
from unmask.tables.cells import plain_levels
from unmask.tables.column import Classes, Column, classes_of
from unmask.tables.notation import EVERYTHING, split_set
from unmask.tables.risk.dependence import dependencies
from unmask.tables.survey_design import UNITS
from unmask.tables.table import Table
from unmask.tables.unit import key_rank

MIN_DISTINCT_SHARE = 0.999
"""Share of distinct values from which on a column is assumed to number the people."""

POSSIBLY_KNOWN = "an outsider may know it"

MAX_QUASI_IDENTIFIERS, MIN_QUASI_IDENTIFIERS = 10, 3
"""Number of quasi-identifiers that one outsider may plausibly know. If there are more, only those with a name
that people know about each other are suggested, if these are at least the second number.
"""

MAX_HOUSEHOLD_ROWS = 20
"""Mean number of rows of a value up to which a column may number households; a size of households has more."""

MAX_UNIQUE_SHARE = 0.05
"""Share of rows with a unique value above which a column should be dropped."""


def mark_labels_as_values(column: Column, hides: bool = False) -> Column:
    """Return the column as an adversary knows it who knows the released cells: each cell is an exact value.

    hides : a missing cell may be any value

    Each label gets a prefix, so that `*` and the empty text lose their meaning.
    """
    texts = [f"={label}" for label in column.levels.labels]
    if hides:
        texts[column.levels.missing] = EVERYTHING
    levels, code = plain_levels(texts)
    return Column(column.name, code[column.codes], levels)


def column_facts(
    columns: Sequence[Column], *, roles: Mapping[str, str], classes: Classes | None = None
) -> tuple[ColumnFacts, ...]:
    """Return the facts about each column, and a suggested role.

    roles   : role of each column that has one, by name
    classes : equivalence classes of the quasi-identifiers, if they are computed already

    A suggestion is based on counts and on the column's name. It is a starting point, and the owner decides.
    """
    quasi = [column for column in columns if roles.get(column.name) == "quasi-identifier"]
    classes = classes_of(quasi) if quasi and classes is None else classes
    restored = dependencies(columns)
    designs = _find_design_columns(columns)
    facts: list[ColumnFacts] = []
    for column in columns:
        sizes = column.counts
        missing = int(sizes[column.levels.missing]) if column.levels.missing >= 0 else 0
        n_unique = int(np.count_nonzero(sizes == 1)) - (missing == 1)
        counted = ColumnFacts(
            name=column.name,
            role=roles.get(column.name, ""),
            rows=len(column.codes),
            distinct=int(np.count_nonzero(sizes)) - (missing > 0),
            missing=missing,
            alone=n_unique,
            together=None if classes is None else _count_unique(classes, None if column in quasi else column),
            determines=tuple(item for item in restored if item.by == column.name),
            suggestion="quasi-identifier",
            reason="",
            type=column.type,
        )
        part = designs.get(column.name, "")
        if part:
            role, reason = _suggest_design_role(part, counted, facts)
        else:
            role, reason = _suggest_role(counted, column, facts, roles)
        stated_role = counted.role or find_role(column.name) or ("identifier" if n_unique < counted.rows else "")
        identifies = (counted.role or role) == stated_role == "identifier"
        key = key_rank(column.name, counted.distinct, identifies=identifies)
        facts.append(replace(counted, suggestion=role, reason=reason, key=key, design=part))
    return tuple(_limit_quasi_identifiers(facts))


def _limit_quasi_identifiers(facts: Sequence[ColumnFacts]) -> Iterator[ColumnFacts]:
    """Yield the facts. If there are too many quasi-identifiers, those that people do not know about each other
    are kept.
    """
    quasi_identifiers = [item for item in facts if item.suggestion == "quasi-identifier"]
    unlikely = {item.name for item in quasi_identifiers if item.reason == POSSIBLY_KNOWN and not is_visible(item.name)}
    n, n_likely = len(quasi_identifiers), len(quasi_identifiers) - len(unlikely)
    crowded = n > MAX_QUASI_IDENTIFIERS and n_likely >= MIN_QUASI_IDENTIFIERS
    reason = f"one of {len(quasi_identifiers)} columns, too many for one outsider; add it with -q if one knows it"
    for item in facts:
        yield replace(item, suggestion="keep", reason=reason) if crowded and item.name in unlikely else item


def _count_unique(classes: Classes, column: Column | None) -> int:
    """Count the rows that are unique in their class.

    column : column that is not a quasi-identifier; then the rows with a unique combination of class and value. None for
        a quasi-identifier
    """
    is_unique = classes.sizes == 1
    n_unique = int(np.count_nonzero(is_unique))
    if column is None:
        return n_unique
    rows = np.flatnonzero(~is_unique[classes.of_row])
    counts = class_counts(classes.of_row[rows], len(is_unique), column.codes[rows], len(column.levels))
    return n_unique + int(np.count_nonzero(counts.data == 1))


def _find_design_columns(columns: Sequence[Column]) -> dict[str, str]:
    """Return the columns of a survey design with their part in it, by name and values.

    A column that is only called "weight" is a body weight, unless other columns belong to a design or its values cannot
    be body weights. Units have several rows, and a household at most `MAX_HOUSEHOLD_ROWS` on average.
    """
    names = {column.name.lower() for column in columns}
    parts = {column.name: part for column in columns if (part := design_role(column.name))}
    for column in columns:
        part, low = parts.get(column.name, ""), column.levels.low[np.isfinite(column.levels.low)]
        is_bare_weight = len(parts) == 1 and column.name.lower() in ("w", "weight", "weights", "gewicht")
        is_body_weight = is_bare_weight and low.size > 0 and 5 <= np.median(low) <= 250
        rows_of_unit = len(column.codes) / max(int(np.count_nonzero(column.counts)), 1)
        is_unit = rows_of_unit > 1 and (part != "household" or rows_of_unit <= MAX_HOUSEHOLD_ROWS)
        if part in UNITS and not is_unit:
            del parts[column.name]
        if ("weight" in part and (not low.size or low.min() < 0 or is_body_weight)) or (
            part == "flag" and re.sub("_?(flag|imputed|imp)_?", "", column.name.lower()) not in names
        ):
            del parts[column.name]
    return parts


def _suggest_design_role(part: str, facts: ColumnFacts, previous: Sequence[ColumnFacts]) -> tuple[Role, str]:
    """Return the role of a column of a survey design, and the reason. previous : the columns to its left"""
    risk = "; a value may single out a person" if facts.alone else ""
    if part == "weight" and not any(column.suggestion == "weight" for column in previous):
        return "weight", f"survey weight: number of people that a row represents{risk}"
    use = "; --replicate-weights and --replicate-method use it" if part == "replicate weight" else ""
    return "drop", f"{part} of the survey design{use}{risk}"


def _suggest_role(
    facts: ColumnFacts, column: Column, previous: Sequence[ColumnFacts], roles: Mapping[str, str]
) -> tuple[Role, str]:
    """Return the role that fits a column, and the reason. previous : the columns to its left"""
    present = facts.rows - int(facts.missing)
    named_role = "identifier" if key_rank(facts.name, facts.distinct, identifies=False) else find_role(facts.name)
    if named_role == "drop" and column.type != "text":
        named_role = None  # no remarks: a mark, or a number of comments
    if not facts.distinct:
        return "drop", "all cells are empty"
    if facts.distinct == 1:
        return "keep", "one value for all rows"
    if _is_hashed(column):
        return "identifier", "hashes or keys: a guess of the hashed value can be checked"
    counts = _is_measured(column) or (column.levels.kind == "numeric" and named_role is None)
    if facts.distinct >= MIN_DISTINCT_SHARE * present and named_role in (None, "identifier") and not counts:
        return "identifier", "differs in every row" if facts.distinct == present else "differs in almost every row"
    if twin := _find_equivalent_column(facts, previous):
        return "drop", f"equivalent to {twin}"
    if named_role == "identifier":
        return "identifier", "its name stands for an identifier"
    determined = [
        item.column for item in facts.determines if roles.get(item.column) in ("quasi-identifier", "sensitive")
    ]
    if determined and not facts.role:
        return "drop", f"determines {', '.join(determined[:3])}"
    if named_role is not None:
        return named_role, _REASONS[named_role]
    if facts.distinct > MAX_LIST_SHARE * present and _is_prose(column):
        return "drop", "free text may name a person"
    if int(facts.alone) > MAX_UNIQUE_SHARE * facts.rows:
        return "drop", "singles out many rows without any other column"
    return "quasi-identifier", POSSIBLY_KNOWN


_REASONS: Mapping[str, str] = {
    "quasi-identifier": "others may know it",
    "sensitive": "should stay private",
    "drop": "remarks may name a person",
}


MIN_PROSE_WORDS = 4
"""Words in most cells from which on a column is free text."""

MAX_LIST_SHARE = 0.05
"""Share of distinct values up to which cells with several words are choices from a list."""


def _is_prose(column: Column) -> bool:
    """Return whether most stated cells have `MIN_PROSE_WORDS` words or more."""
    if column.type != "text" or column.hierarchy is not None:
        return False
    words = np.array([len(label.split()) for label in column.levels.labels])
    return bool(2 * column.counts[words >= MIN_PROSE_WORDS].sum() > column.counts[words > 0].sum())


DIGEST = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{16,}|(?=.*\d)(?=.*[A-F])[0-9A-F]{16,}")
"""Digest in hexadecimal digits, with 64 bits or more."""


def _is_hashed(column: Column) -> bool:
    """Return whether most stated cells are hexadecimal digests of equal length."""
    if column.levels.kind == "numeric" or column.hierarchy is not None:
        return False
    length = np.array([len(label) for label in column.levels.labels])
    like = np.array([bool(DIGEST.fullmatch(label)) for label in column.levels.labels])
    return len({*length[like].tolist()}) == 1 and bool(2 * column.counts[like].sum() > column.counts[length > 0].sum())


def _is_measured(column: Column) -> bool:
    """Return whether a column contains dates, or numbers with fractions."""
    if column.levels.type in ("date", "datetime"):
        return True
    low = column.levels.low[np.isfinite(column.levels.low)]
    return bool(low.size and np.any(low != np.floor(low)))


def _find_equivalent_column(facts: ColumnFacts, previous: Sequence[ColumnFacts]) -> str:
    """Return the name of a column to the left that determines this column and is determined by it; "" for none."""
    determined_by_column = {item.column for item in facts.determines if item.exact}
    equivalent = (item.name for item in previous if any(d.exact and d.column == facts.name for d in item.determines))
    return next((name for name in equivalent if name in determined_by_column), "")


def printed_values(release: Table, original: Table | None = None) -> tuple[Printed, ...]:
    """Count for each quasi-identifier the exact values that its released cells print, and the people with a unique one.

    A cell prints its exact value, the members of a set `{a, b}`, and the closed ends of an interval `[a, b]`, which are
    tight if an interval spans its class. Hierarchy nodes, open ends, masks and `*` print no value. With the original,
    only values of the original are counted, so that ends of fixed bins do not count. Without it, the number is an upper
    bound.

    >>> release = Table.read({"age": ["[20, 29]", "[20, 29]", "[30, 35)"]}, quasi_identifiers="age")
    >>> printed_values(release)[0].values
    3
    """
    return tuple(_count_printed(column, original) for column in release.quasi_identifiers)


def _count_printed(column: Column, original: Table | None) -> Printed:
    texts = _list_printed_texts(column)
    if original is None or column.name not in original.names:
        return Printed(column.name, len(texts), None, len(column.codes))
    original_column = original.column(column.name)
    inside = np.array([text in texts for text in original_column.levels.labels]) & (original_column.counts > 0)
    inside &= original_column.levels.atomic
    if original.person is None:
        n_unique = int(np.count_nonzero(inside & (original_column.counts == 1)))
    else:
        codes, person = np.unique(np.stack([original_column.codes, original.person]), axis=1)
        n_unique = len(np.unique(person[(inside & (np.bincount(codes, minlength=len(inside)) == 1))[codes]]))
    return Printed(column.name, int(inside.sum()), n_unique, original.n_people)


def _list_printed_texts(column: Column) -> set[str]:
    """Return the values that the cells of a column print, as text."""
    levels, is_used = column.levels, column.counts > 0
    texts = set(compress(levels.labels, (is_used & levels.atomic).tolist()))
    ends: set[str] = set()
    for level in np.flatnonzero(is_used & ~levels.atomic).tolist():
        label = levels.labels[level]
        if level == levels.missing or label == EVERYTHING:
            continue
        if (members := split_set(label)) is not None:
            texts.update(members)
        elif levels.low.size:
            ends.update(_closed_ends(label))
    bounds = {text: levels.scale.read(text) for text in ends}
    return texts | {text for text, bound in bounds.items() if bound and bound[0] == bound[1]}  # not a year or month


def _closed_ends(label: str) -> list[str]:
    """Return the closed ends of an interval."""
    if ends := _INTERVAL.fullmatch(label):
        return [text for closed, text in ((ends[1], ends[2]), (ends[4], ends[3])) if closed in "[]"]
    return [label[2:]] if label.startswith(("<=", ">=")) else []


_INTERVAL = re.compile(r"([\[(])(.+), (.+)([\])])")
"""Interval in the notation of releases: bracket and text of each end."""
