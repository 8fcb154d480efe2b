"""Facts about columns, and the role that fits each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from unmask.data.column_names import Role, design_role, find_role, is_visible
from unmask.facts import ColumnFacts, Printed
from unmask.tables.cells import plain_levels
from unmask.tables.column import Classes, Column, classes_of
from unmask.tables.levels import Levels
from unmask.tables.notation import EVERYTHING, split_set
from unmask.tables.risk.dependence import dependencies
from unmask.tables.table import Table
from unmask.tables.unit import key_rank

DISTINCT = 0.999
"""Share of distinct values from which on a column is taken to number the people."""

SOMEBODY = "somebody may know it"

MOST_KNOWN, FEWEST_KNOWN = 10, 3
"""Quasi-identifiers that an outsider plausibly knows of a person; of more, those that are not known by their names are
kept, if at least the second number stays.
"""

RARE = 0.05
"""Share of rows that a column may single out alone before it is better dropped."""


def known_as_values(column: Column, hides: bool = False) -> Column:
    """Return the column as known to an adversary who knows the released cells: each is a value, a missing one too.

    hides : a missing cell may be any value

    Labels get a mark, so that neither `*` nor the empty text has a meaning.
    """
    texts = [f"={label}" for label in column.levels.labels]
    if hides:
        texts[column.levels.missing] = EVERYTHING
    levels, code = plain_levels(texts)
    return Column(column.name, code[column.codes], levels)


def column_facts(
    columns: Sequence[Column], *, roles: Mapping[str, str], classes: Classes | None = None
) -> tuple[ColumnFacts, ...]:
    """Return the facts about each column, and the role that fits it. roles : name -> role, for the columns that have
    one;
    classes : those of the quasi-identifiers, where they are known.

    A suggestion is made from what was counted and from the column's name; it is a place to start from, no finding.
    """
    quasi = [column for column in columns if roles.get(column.name) == "quasi-identifier"]
    classes = classes_of(quasi) if quasi and classes is None else classes
    restored = dependencies(columns)
    designs = _designs(columns)
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
        if part := designs.get(column.name):
            role, reason = _of_design(part, counted, facts)
        else:
            role, reason = _suggested(counted, column, facts, roles, present=counted.rows - missing, n_unique=n_unique)
        stated_role = counted.role or find_role(column.name) or ("identifier" if n_unique < counted.rows else "")
        identifies = (counted.role or role) == stated_role == "identifier"
        key = key_rank(column.name, counted.distinct, identifies=identifies)
        facts.append(replace(counted, suggestion=role, reason=reason, key=key))
    return tuple(_plausible(facts))


def _plausible(facts: Sequence[ColumnFacts]) -> Iterator[ColumnFacts]:
    """Yield the facts; of more quasi-identifiers than an outsider knows only those that people know by their names."""
    quasi_identifiers = [item for item in facts if item.suggestion == "quasi-identifier"]
    unlikely = {item.name for item in quasi_identifiers if item.reason == SOMEBODY and not is_visible(item.name)}
    crowded = len(quasi_identifiers) > MOST_KNOWN and len(quasi_identifiers) - len(unlikely) >= FEWEST_KNOWN
    reason = f"one of {len(quasi_identifiers)} columns, too many for one outsider; add it with -q if one knows it"
    for item in facts:
        yield replace(item, suggestion="keep", reason=reason) if crowded and item.name in unlikely else item


def _count_unique(classes: Classes, column: Column | None) -> int:
    """Return rows that are alone in their class, or with their value of a column that does not tell classes apart
    already.
    """
    sizes = classes.sizes if column is None else classes.counts(column).data
    return int(np.count_nonzero(sizes == 1))


def _designs(columns: Sequence[Column]) -> dict[str, str]:
    """Return the part of columns in a survey design, by their names and values.

    A bare "weight" is a body weight unless other columns are of a design, or it is on no scale of bodies.
    """
    names = {column.name.lower() for column in columns}
    parts = {column.name: part for column in columns if (part := design_role(column.name))}
    for column in columns:
        part, low = parts.get(column.name, ""), column.levels.low[np.isfinite(column.levels.low)]
        middle = float(np.median(low)) if low.size else 0.0
        bare = column.name.lower() in ("w", "weight", "weights", "gewicht")
        body = bare and len(parts) == 1 and 5 <= middle <= 250
        if ("weight" in part and (not low.size or low.min() < 0 or body)) or (
            part == "flag" and re.sub("_?(flag|imputed|imp)_?", "", column.name.lower()) not in names
        ):
            del parts[column.name]
    return parts


def _of_design(part: str, facts: ColumnFacts, previous: Sequence[ColumnFacts]) -> tuple[Role, str]:
    """Return the role of a column of a survey design; previous : the columns to its left."""
    risk = "; a value may single out a person" if facts.alone else ""
    if part == "weight" and not any(column.suggestion == "weight" for column in previous):
        return "weight", f"survey weight: number of people that a row represents{risk}"
    return "drop", f"{part} of the survey design{risk}"


def _suggested(
    facts: ColumnFacts,
    column: Column,
    previous: Sequence[ColumnFacts],
    roles: Mapping[str, str],
    *,
    present: int,
    n_unique: int,
) -> tuple[Role, str]:
    """Return the role that fits a column, and a reason; previous : the columns to its left."""
    meant = "identifier" if key_rank(facts.name, facts.distinct, identifies=False) else find_role(facts.name)
    if meant == "drop" and column.type != "text":
        meant = None  # no remarks: a mark, or a number of comments
    if not facts.distinct:
        return "drop", "all cells are empty"
    if facts.distinct == 1:
        return "keep", "one value, which distinguishes nobody"
    if _is_hashed(column):
        return "identifier", "hashes or keys: a guess of the hashed value can be checked"
    counts = _measured(column) or (column.levels.kind == "numeric" and meant is None)
    if facts.distinct >= DISTINCT * present and meant in (None, "identifier") and not counts:
        return "identifier", f"differs in {'every' if facts.distinct == present else 'almost every'} row"
    if twin := _twin(facts, previous):
        return "drop", f"says the same as {twin}"
    if meant == "identifier":
        return "identifier", "its name stands for an identifier"
    determined = [
        item.column for item in facts.determines if roles.get(item.column) in ("quasi-identifier", "sensitive")
    ]
    if determined and not facts.role:
        return "drop", f"determines {', '.join(determined[:3])}"
    if meant is not None:
        return meant, _WHY[meant]
    if facts.distinct > CHOSEN * present and _is_prose(column):
        return "drop", "free text may name a person"
    if n_unique > RARE * facts.rows:
        return "drop", "singles out many rows without any other column"
    return "quasi-identifier", SOMEBODY


_WHY: Mapping[str, str] = {
    "quasi-identifier": "others may know it",
    "sensitive": "should stay private",
    "drop": "remarks may name a person",
}


PROSE = 4
"""Words of most cells from which on a column is taken for written sentences."""

CHOSEN = 0.05
"""Share of distinct values up to which cells are taken for chosen from a list, however many words they have."""


def _is_prose(column: Column) -> bool:
    """Return whether most of the cells that are there have `PROSE` words or more."""
    if column.type != "text" or column.hierarchy is not None:
        return False
    words = np.array([len(label.split()) for label in column.levels.labels])
    return bool(2 * column.counts[words >= PROSE].sum() > column.counts[words > 0].sum())


HASH = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{16,}|(?=.*\d)(?=.*[A-F])[0-9A-F]{16,}")
"""A digest in hexadecimal digits, of 64 bits or more."""


def _is_hashed(column: Column) -> bool:
    """Return whether most stated cells are digests, as of names: of one length, in hexadecimal digits."""
    if column.levels.kind == "numeric" or column.hierarchy is not None:
        return False
    length = np.array([len(label) for label in column.levels.labels])
    like = np.array([bool(HASH.fullmatch(label)) for label in column.levels.labels])
    lengths = np.unique(length[like])
    return len(lengths) == 1 and bool(2 * column.counts[like].sum() > column.counts[length > 0].sum())


def _measured(column: Column) -> bool:
    """Return whether the column holds dates, or numbers with fractions: measured, not dealt out."""
    if column.levels.type in ("date", "datetime"):
        return True
    low = column.levels.low[np.isfinite(column.levels.low)]
    return bool(low.size and np.any(low != np.floor(low)))


def _twin(facts: ColumnFacts, previous: Sequence[ColumnFacts]) -> str:
    """Return the name of a column to the left that says exactly the same, if there is one."""
    mine = {item.column for item in facts.determines if item.exact}
    likewise = (item.name for item in previous if any(d.exact and d.column == facts.name for d in item.determines))
    return next((name for name in likewise if name in mine), "")


def printed_values(release: Table, original: Table | None = None) -> tuple[Printed, ...]:
    """Count for each quasi-identifier the exact values that its released cells print, and the people alone in one.

    A cell prints the value that it is, the members of a set `{a, b}` and the closed ends of an interval `[a, b]`, which
    are tight when a class is written from its smallest to its largest value. Nodes of a hierarchy, open ends, masks and
    `*` print none. With the original only values that it has count, so that ends of fixed bins do not; without it the
    number is an upper bound.

    >>> release = Table.read({"age": ["[20, 29]", "[20, 29]", "[30, 35)"]}, quasi_identifiers="age")
    >>> printed_values(release)[0].values
    3
    """
    return tuple(_printed(column, original) for column in release.quasi_identifiers)


def _printed(column: Column, original: Table | None) -> Printed:
    texts = {text for level in np.flatnonzero(column.counts).tolist() for text in _texts(column.levels, level)}
    if original is None or column.name not in original.names:
        return Printed(column.name, len(texts), None, len(column.codes))
    original_column = original.column(column.name)
    inside = (
        np.array([text in texts for text in original_column.levels.labels])
        & original_column.levels.atomic
        & (original_column.counts > 0)
    )
    if original.person is None:
        n_unique = int(np.count_nonzero(inside & (original_column.counts == 1)))
    else:
        codes, person = np.unique(np.stack([original_column.codes, original.person]), axis=1)
        n_unique = len(np.unique(person[(inside & (np.bincount(codes, minlength=len(inside)) == 1))[codes]]))
    return Printed(column.name, int(inside.sum()), n_unique, original.n_people)


def _texts(levels: Levels, level: int) -> Iterator[str]:
    """Yield the values that a cell prints, as they are written."""
    label = levels.labels[level]
    if level == levels.missing or label == EVERYTHING:
        return
    if levels.atomic[level]:
        yield label
    elif (members := split_set(label)) is not None:
        yield from members
    elif levels.low.size:
        yield from (text for text in _closed_ends(label) if _is_exact(levels, text))


def _is_exact(levels: Levels, text: str) -> bool:
    """Return whether a text is one value, and not a period such as a year."""
    bounds = levels.scale.read(text)
    return bounds is not None and bounds[0] == bounds[1]


def _closed_ends(label: str) -> Iterator[str]:
    """Return the closed ends of an interval."""
    if ends := _INTERVAL.fullmatch(label):
        yield from (text for closed, text in ((ends[1], ends[2]), (ends[4], ends[3])) if closed in ("[", "]"))
    elif label.startswith(("<=", ">=")):
        yield label[2:]


_INTERVAL = re.compile(r"([\[(])(.+), (.+)([\])])")
"""An interval as releases write it, with the bracket and the text of each end."""
