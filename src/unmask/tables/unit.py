"""Unit of counting: one row is one person, or a column shows which rows belong to one person.

Names never join rows. An identifier that no two rows share proves that one row is one person. If rows share an
identifier, unmask asks the owner, because the answer determines k, all shares and all numbers of people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from shlex import quote
from typing import NamedTuple

import numpy as np

from unmask.core.arrays import Integers
from unmask.data.column_names import split_words
from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.tables.column import Column

ROW = "row"
"""Answer that each row is another person."""

MIN_DISTINCT = 5
"""Number of different values below which a column labels groups and not people, unless its name has a word such
as "id".
"""

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
    """Column that may identify people.

    rank     : 2 if its name refers to people, 1 if it numbers something, 0 if it never joins rows
    distinct : number of different values
    missing  : number of missing cells
    """

    name: str
    rank: int
    distinct: int
    missing: int


class CountingUnit(NamedTuple):
    """Unit that counts as one person.

    words    : the unit, and how it was determined
    question : question to the owner if the unit is open
    column   : column that the question is about
    """

    words: str
    question: str = ""
    column: str = ""


ASSUMED = CountingUnit(
    mark("one row is one person (assumed; --person names a column that joins the rows of one person)")
)


def key_rank(name: str, distinct: int, *, identifies: bool) -> int:
    """Return how likely a column identifies people, see `Key`.

    Parameters
    ----------
    name : str
        Name of the column.
    distinct : int
        Number of different values.
    identifies : bool
        True if the column has the role identifier.

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
    other_words = [word for word in words if not _NUMBERS.fullmatch(word)]
    only_generic = len(words) == 1 and (identifies or distinct >= MIN_DISTINCT)
    if (
        other_words
        and _PERSON.fullmatch(other_words[-1])
        and (only_generic or len(other_words) < len(words) or re.search(_NUMBER + "$", other_words[-1]))
    ):
        return 2
    return int(identifies or bool(_GENERIC.fullmatch("".join(words))))


def counting_unit(keys: Iterable[Key], n_rows: int) -> CountingUnit:
    """Return the unit that the columns prove, or a question to the owner.

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
        return _proven_unit(proof)
    shared = next((key for key in top if key.distinct + key.missing < n_rows), None)
    if shared is None:
        return ASSUMED
    question = (
        f"Is one row one person? Column {shared.name!r} has {shared.distinct:,} different values in {n_rows:,} rows. "
        f"If it is, say --person {ROW}. If equal values are one person, say --person {quote(shared.name)}"
    )
    return CountingUnit("", question, shared.name)


def stated_unit(person: str, *, shared: bool) -> CountingUnit:
    """Return the unit that the owner states.

    shared : True if rows share a value of the column
    """
    if person == ROW:
        return CountingUnit(_("one row is one person (stated)"))
    words = _("rows with the same {column} are one person (stated)", column=person)
    return CountingUnit(words) if shared else _proven_unit(person)


def _proven_unit(name: str) -> CountingUnit:
    return CountingUnit(_("one row is one person (no two rows have the same {column})", column=name))


def identifier_key(name: str, column: Column | None, n_rows: int) -> Key:
    """Return the key of a column with the role identifier.

    column : None if no value occurs twice
    """
    sizes = np.ones(n_rows) if column is None else column.counts
    missing = 0 if column is None or column.levels.missing < 0 else int(sizes[column.levels.missing])
    distinct = int(np.count_nonzero(sizes)) - (missing > 0)
    return Key(name, key_rank(name, distinct, identifies=True), distinct, missing)


def number_people(column: Column) -> Integers | None:
    """Return (n_rows,) the person of each row by a column; None if no value occurs twice.

    A row with a missing cell is a separate person.

    >>> from unmask.tables import Table
    >>> table = Table.read({"patient": ["a", "b", "a", "", ""]}, quasi_identifiers=["patient"])
    >>> number_people(table.columns[0])
    array([0, 1, 0, 6, 7])
    """
    has_person = column.codes != column.levels.missing
    if np.bincount(column.codes[has_person]).max(initial=0) < 2:
        return None
    row_person = len(column.levels) + np.arange(len(column.codes))
    return np.where(has_person, column.codes, row_person)
