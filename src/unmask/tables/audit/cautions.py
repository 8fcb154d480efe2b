"""What the owner of releases is told first: warnings of an audit of tables, and how it read what others wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unmask.core.csr_rows import distinct
from unmask.results.formats import percent
from unmask.results.words import release_name
from unmask.tables.audit.assumptions import OTHERS
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.several import put_together
from unmask.tables.reinterpret import Reading, changed, strange
from unmask.tables.sensitive_bands import TOLERATED
from unmask.tables.table import Table


def unfitting(found: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    """Origins that seem to be another release's; found : by release, the rows that fit, and that may be people's."""
    for name, (own, may) in found.items():
        yield _UNFITTING.format(percent(own), release_name(name), percent(may))


_UNFITTING = (
    "{} of the rows of {} fit the person that the origin names, and {} can be rows of different people: check "
    "that it is the origin of this release, with rows counted from 0, unless cells were exchanged between rows; "
    "realized numbers rest on it"
)


def of_releases(
    foreign: Mapping[str, float | None], releases: Mapping[str, Table], evidence: AuditorKnowledge
) -> Iterator[str]:
    """What the owner of releases is told first: whose rows are nobody's, which columns say which rows are one person's,
    and which nobody compares.

    foreign : as of `nobodys`; who says that a release is synthetic knows it
    """
    for name, share in foreign.items():
        if share is not None:
            yield f"nobody asks whose the records of {release_name(name)} are, nor k: {OTHERS.format(percent(share))}"
    original = evidence.original
    yield from (_FEWER.format(*said) for said in _sampled(evidence))
    people = evidence.register if original is None else original
    for name, table in releases.items():
        told = put_together(name, table, evidence)
        yield from told.values()
        if isinstance(people, Table):
            yield from _strangers(name, table, people)
        if original is None:
            continue
        alone = sorted({column.name for column in table.kept} - {*told, *original.names})
        if alone:
            yield _LACKING.format(release_name(name), ", ".join(alone))
        for sentence, columns in ((_CHANGED, table.kept), (_UNTOLD, table.sensitive)):
            for column in columns:
                if column.name in original.names and (share := changed(original.column(column.name), column)):
                    yield sentence.format(column.name, release_name(name), percent(share))


def _sampled(evidence: AuditorKnowledge) -> Iterator[tuple[str, int, int, float]]:
    """Releases that lack more than a tenth of the people: how many, of how many, and all over those who are in it."""
    if evidence.original is None or evidence.person is not None:
        return
    n = evidence.original.n_rows
    for name, origin in evidence.origins.items():
        inside = len(distinct(origin[origin >= 0]))
        if 0 < inside < (1 - TOLERATED) * n:
            yield release_name(name), n - inside, n, n / inside


def _strangers(release: str, table: Table, people: Table) -> Iterator[str]:
    """Quasi-identifiers with values that none of the people has."""
    for column in table.quasi_identifiers:
        share = strange(people.column(column.name), column) if column.name in people.names else 0.0
        if share > TOLERATED:
            yield _STRANGE.format(percent(share), column.name, release_name(release))


_LACKING = (
    "no adversary was given columns of {} that the original lacks: {}; a row number, a hash of a name or another code "
    "that somebody can compute again re-identifies people: leave such columns out, or add them to the original"
)

_FEWER = (
    "{} has no row of {:,} of the {:,} people, and averages count them as not found: of the people who are in it, "
    "{:.1f} times that share is re-identified"
)

_CHANGED = (
    "cells of {} in {} were changed: {} of them are nobody's; who compares every column leaves it out, and with "
    "the origin of the rows (--origin) somebody takes the nearest; name it as a quasi-identifier, with the origin, and "
    "values that were renamed or grouped are read"
)

_UNTOLD = (
    "cells of {} in {} were changed: {} of them are nobody's, so that guesses count as wrong that may be right; "
    "values that were renamed or grouped are read with the origin of the rows (--origin)"
)

_STRANGE = (
    "{} of the cells of {} in {} are values that nobody of the original or the register has: they fit nobody; if "
    "they were renamed or grouped, say what they stand for: by a hierarchy (--hierarchy), or by the original and the "
    "origin of the rows (--origin)"
)


def read_so(readings: Mapping[str, Mapping[str, Reading]]) -> Iterator[str]:
    """How columns of releases are read whose cells, as they are written, fit few people."""
    for name, columns in readings.items():
        for column, read in columns.items():
            if read.rule:
                yield (
                    f"cells of {column} in {release_name(name)} were {read.rule}: as they are written, "
                    f"{percent(read.misfit)} of them are nobody's, and an adversary reads each as all that it stands "
                    "for"
                )
            if read.hidden:
                yield (
                    f"{percent(read.hidden)} of the cells of {column} are missing in {release_name(name)}, where the "
                    "original or the register states them: they were suppressed, and an adversary reads each as any "
                    "value"
                )


def stated_so(coarser: Mapping[str, bool]) -> Iterator[str]:
    """What is asked for of sensitive columns whose cells stand for several values; coarser : as of `as_coarse`."""
    for column, read in coarser.items():
        yield (_STATED if read else _OVERLAP).format(column)


_STATED = (
    "what is inferred of {} is the interval or the group that a release states, and not the value: a guess is right "
    "that names the interval or group"
)

_OVERLAP = (
    "cells of {} stand for several values and overlap, in one release or between them, so that a guess of such a cell "
    "counts as wrong: audit releases one by one, with cells that do not overlap"
)
