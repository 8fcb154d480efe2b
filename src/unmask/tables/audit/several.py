"""What an audit of tables says in words of people some of whom have several rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unmask.core.csr_rows import distinct
from unmask.reports.data import ORIGINAL
from unmask.results.words import release_name
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.several_records import pseudonym, repeated
from unmask.tables.table import Table


def unit_of(table: Table, evidence: AuditorKnowledge) -> str:
    """What counts as one person, and how that was decided. table : the first release"""
    return (table if evidence.original is None else evidence.original).unit


def counted(table: Table, evidence: AuditorKnowledge) -> str:
    """What numbers of people count. table : the first release"""
    return _ROWS if _of_several(table, evidence) is None else _ONCE


_ROWS = "Each row is taken for one person: k, shares and numbers of people count rows."

_ONCE = (
    "A person with several rows counts once: the adversary knows one of their rows, drawn at random, and has found the "
    "person by picking any. How many are at risk counts people by the row that gives them away most."
)


def _of_several(table: Table, evidence: AuditorKnowledge) -> Table | None:
    """The table that says which rows are one person's, where some people have several: the original if there is one."""
    whole = table if evidence.original is None else evidence.original
    return whole if whole.person is not None else None


def unreleased(evidence: AuditorKnowledge) -> Iterator[str]:
    """Whom of the original a release has no row of; they may have been kept back, too."""
    if evidence.original is None:
        return
    for name, origin in evidence.origins.items():
        there, everybody = origin[origin >= 0], evidence.original.n_people
        gone = everybody - len(distinct(there if evidence.person is None else evidence.person[there]))
        if gone:
            yield (
                f"{release_name(name)} has no row of {gone:,} of the {everybody:,} people: nobody is "
                "right about their record, and averages over people count them. If they were held back at random, say "
                "so, and they are control people."
            )


def put_together(release: str, table: Table, evidence: AuditorKnowledge) -> dict[str, str]:
    """Released columns that say which rows are one person's, or seem to -> the same in a sentence."""
    if whose := pseudonym(table.kept, evidence.people_of(release, table)):
        return {whose.name: _TOGETHER.format(whose.name, release_name(release))}
    said = _WHOSE if evidence.original is not None else _TAKEN
    return {column.name: said.format(column.name, release_name(release)) for column in repeated(table.kept)}


_TOGETHER = (
    "the column {} says which rows of {} are one person's: whoever recognizes a few rows of a person has all of them, "
    "whatever k is"
)

_WHOSE = (
    "the column {} of {} seems to say whose a row is, and nobody puts the rows of a person together: name it "
    "(--person), with the original and the origin of the rows, and people are attacked by several of their rows"
)

_TAKEN = (
    "the column {} of {} seems to say whose a row is: it is taken for one person's, and people are attacked by several "
    "of their rows; leave it out, if it is"
)


def several_rows(table: Table, evidence: AuditorKnowledge, criteria: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """That rows are no people, where some people have several. table : the first release; criteria : by release"""
    whole = _of_several(table, evidence)
    if whole is None:
        return
    shares = {name: one["person_share"] for name, one in criteria.items() if "person_share" in one}
    released = {name: share for name, share in shares.items() if name != ORIGINAL} or shares
    most = max(released, key=lambda name: released[name])
    yield _SEVERAL.format(whole.n_rows, whole.n_people, 100 * shares[most], release_name(most))


_SEVERAL = (
    "{:,} rows are of {:,} people, and up to {:.0f} % of the rows of a class of {} are one person's: whoever picks any "
    "of them has re-identified that person; k counts rows, and numbers of people, people of a class (k_people) and one "
    "person's share of it (person_share) count people"
)
