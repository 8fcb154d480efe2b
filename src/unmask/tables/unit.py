"""The unit of counting: one row is one person, or a column tells which rows belong to one person.

Names never join rows. A number of people that no row shares proves that one row is one person. If rows share such a
number, unmask asks the owner, because the answer decides what k, shares and numbers of people count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from shlex import quote
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.data.column_names import split_words
from unmask.tables.column import Column

ROW = "row"
"""The answer that each row is another person."""

FEW = 5
"""Different values below which a column without a word such as "id" or "number" labels groups and not people."""

_NAME = re.compile(
    "(full|first|last|middle|given|family|birth|maiden|sur|fore|user|vor|nach|familien|geburts)?names?"
    "|(straße|strasse|street|address|adresse|anschrift)(name)?|prenom|nom|apellidos?|initials"
)
_NUMBER = "(id|nr|no|num|number|nummer|key|code|kennung|kennziffer|uuid|guid)"
_NUMBERS = re.compile(_NUMBER)
_PERSON = re.compile(
    "(patient|pat|person|pers|people|proband|participant|teilnehmer|respondent|resp|individual|indiv|subject|subj|member"
    "|mitglied|customer|cust|client|kunde|employee|emp|mitarbeiter|student|pupil|user|nutzer|benutzer|beneficiary|bene"
    "|versicherte|insured|donor|worker|driver|rider|subscriber|citizen|voter|resident|player|learner|pseudonym)"
    f"(en|in|s|n|r|rn)?{_NUMBER}?|[pu]id|mrn|ssn|nhs|security"
)
_GENERIC = re.compile(f"(case|fall|record|rec|unique|lfd|pseudo|hashed)+{_NUMBER}|id|uuid|guid")


class Key(NamedTuple):
    """A column that may number people, its different values, and its missing cells.

    rank : 2 if the name speaks of people, 1 if it numbers something, 0 if it never joins rows.
    """

    name: str
    rank: int
    distinct: int
    missing: int


class CountingUnit(NamedTuple):
    """Unit that counts as one person.

    words : the unit, and how it was decided. question : what decides it, if that is open. column : its column.
    """

    words: str
    question: str = ""
    column: str = ""


ASSUMED = CountingUnit("one row is one person (assumed; --person names a column that joins the rows of one person)")


def key_rank(name: str, distinct: int, *, identifies: bool) -> int:
    """Return how strongly a column speaks for a number of people, see `Key`.

    Parameters
    ----------
    name : str
        Name of the column.
    distinct : int
        Different values of the column.
    identifies : bool
        The column has the role identifier.

    Examples
    --------
    >>> key_rank("PatientenNr", 480, identifies=True), key_rank("id", 480, identifies=True)
    (2, 1)
    >>> key_rank("Name", 480, identifies=True), key_rank("customer_age", 60, identifies=False)
    (0, 0)
    """
    words = split_words(name)
    if any(map(_NAME.fullmatch, words)):
        return 0
    bare = [word for word in words if not _NUMBERS.fullmatch(word)]
    only_generic = len(words) == 1 and (identifies or distinct >= FEW)
    if (
        bare
        and _PERSON.fullmatch(bare[-1])
        and (only_generic or len(bare) < len(words) or re.search(_NUMBER + "$", bare[-1]))
    ):
        return 2
    return int(identifies or bool(_GENERIC.fullmatch("".join(words))))


def counting_unit(keys: Iterable[Key], n_rows: int) -> CountingUnit:
    """Return the unit that columns prove, or the question that they raise.

    Examples
    --------
    >>> counting_unit([Key("Name", 0, 480, 0), Key("PatientenNr", 2, 10_000, 0)], 10_000).words
    'one row is one person (no two rows have the same PatientenNr)'
    >>> counting_unit([Key("patient", 2, 400, 0)], 1_771).question[:74]
    "Is one row one person? Column 'patient' has 400 different values in 1,771 "
    """
    ranked = sorted((key for key in keys if key.rank and key.distinct), key=lambda key: (-key.rank, -key.distinct))
    top = [key for key in ranked if key.rank == ranked[0].rank]
    if proof := next((key.name for key in top if key.distinct == n_rows), ""):
        return _proved(proof)
    shared = next((key for key in top if key.distinct + key.missing < n_rows), None)
    if shared is None:
        return ASSUMED
    question = (
        f"Is one row one person? Column {shared.name!r} has {shared.distinct:,} different values in {n_rows:,} rows. "
        f"If it is, say --person {ROW}. If equal values are one person, say --person {quote(shared.name)}"
    )
    return CountingUnit("", question, shared.name)


def stated_unit(person: str, *, shared: bool) -> CountingUnit:
    """Return the unit that the owner states. shared : whether rows share a value of the column."""
    if person == ROW:
        return CountingUnit("one row is one person (stated)")
    return CountingUnit(f"rows with the same {person} are one person (stated)") if shared else _proved(person)


def _proved(name: str) -> CountingUnit:
    return CountingUnit(f"one row is one person (no two rows have the same {name})")


def key_of(name: str, column: Column | None, n_rows: int) -> Key:
    """Return what a column with the role identifier says about the number of people. column : None without repeats."""
    sizes = np.ones(n_rows) if column is None else column.counts
    missing = 0 if column is None or column.levels.missing < 0 else int(sizes[column.levels.missing])
    distinct = int(np.count_nonzero(sizes)) - (missing > 0)
    return Key(name, key_rank(name, distinct, identifies=True), distinct, missing)


def person_by(column: Column) -> NDArray[np.int64] | None:
    """(n_rows,) the person of each row by a column; None if no value occurs twice. A missing cell is a person alone.

    >>> from unmask.tables import Table
    >>> table = Table.read({"patient": ["a", "b", "a", "", ""]}, quasi_identifiers=["patient"])
    >>> person_by(table.columns[0])
    array([0, 1, 0, 6, 7])
    """
    has_person = column.codes != column.levels.missing
    if np.bincount(column.codes[has_person]).max(initial=0) < 2:
        return None
    row_person = len(column.levels) + np.arange(len(column.codes))
    return np.where(has_person, column.codes, row_person)
