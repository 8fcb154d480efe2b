"""Cautions of an audit of tables: what its owner must know before they rely on a number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from unmask.core.arrays import Integers
from unmask.core.csr_rows import distinct
from unmask.languages import gettext as _
from unmask.results.formats import percent
from unmask.results.rows import ORIGINAL
from unmask.results.words import release_name
from unmask.tables import criteria
from unmask.tables.attacks import StringLinkage
from unmask.tables.audit.auditor_knowledge import MIN_OWN_ROWS, AuditorKnowledge, Release
from unmask.tables.audit.linked_rows import find_pseudonym, find_repeated_keys
from unmask.tables.audit.not_run import FOREIGN
from unmask.tables.audit.release_attacks import TEXT_EQUALITY, has_generalized_cells
from unmask.tables.matching import compatible
from unmask.tables.meanings import scale_weights
from unmask.tables.reinterpret import Reading, share_changed, share_unknown
from unmask.tables.sensitive_bands import MAX_MISFIT_SHARE
from unmask.tables.table import Table

PAIRS = 1 << 22
"""Pairs of an original and a released value up to which a column is compared with an origin."""


def list_cautions(
    releases: Sequence[Release], knowledge: AuditorKnowledge, measured: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Yield what the owner must know first.

    Parameters
    ----------
    releases : sequence of Release
        Releases, in memory or counted by an engine.
    knowledge : AuditorKnowledge
        Tables that the auditor has.
    measured : mapping
        Criteria of each release.
    """
    if knowledge.original is not None:
        for release in releases:
            yield from _wrong_origin(release, knowledge.original)
    for release in releases:
        if release.own_rows is not None:
            reason = FOREIGN.format(share=percent(release.own_rows))
            yield _(
                "re-identification and k are not tested for {release}: {reason}",
                release=release_name(release.name),
                reason=reason,
            )
    if knowledge.original is not None and knowledge.person is None:
        for release in releases:
            yield from _missing_people(release, knowledge.original)
    yield from _limited_adversaries(releases, knowledge)
    for release in (release for release in releases if release.has_rows):
        yield from _unread_columns(release, knowledge)
        yield from _small_weights(release, knowledge.population)
    yield from _several_rows(releases[0], knowledge, measured)


def _small_weights(release: Release, population: int | None) -> Iterator[str]:
    """Yield that the weights of some classes are smaller than their rows."""
    weight = scale_weights(release.table.weight, population)
    if weight is None:
        return
    classes = release.complete.classes
    people = np.bincount(classes.of_row, weight[release.complete_rows], len(classes.sizes))
    is_small = people < classes.sizes * (1 - 1e-9)
    if is_small.any():
        yield _(
            "the weights of {share} of the classes of {release} sum to fewer people than the class has rows; their "
            "risk by weights is that of the rows",
            share=percent(float(is_small.mean())),
            release=release_name(release.name),
        )


def _limited_adversaries(releases: Sequence[Release], knowledge: AuditorKnowledge) -> Iterator[str]:
    """Yield that adversaries know or compare less than they might."""
    if not knowledge.knowledge.is_complete:
        yield _("the verdict is about adversaries who know as much as stated; others may know every quasi-identifier")
    for name, attack in knowledge.attacks.items():
        if isinstance(attack, StringLinkage) and any(has_generalized_cells(release.table) for release in releases):
            yield f"{name}: {TEXT_EQUALITY}"


def _wrong_origin(release: Release, original: Table) -> Iterator[str]:
    """Yield that an origin seems to belong to another release, counts rows from 1, or is in another order."""
    if release.origin is None or not (release.origin >= 0).any():
        return
    fit_share = _share_that_fits(release, original, release.origin)
    if fit_share < MIN_OWN_ROWS <= (possible := criteria.own_rows(release.table, original)):
        yield (
            f"{percent(fit_share)} of the rows of {release_name(release.name)} fit the person of their origin, but "
            f"{percent(possible)} can be rows of different people: check that it is the origin of this release "
            "and counts rows from 0, unless cells were exchanged between rows. Realized numbers depend on it"
        )


def _share_that_fits(release: Release, original: Table, origin: Integers) -> float:
    """Return the share of rows that match their person in all shared columns; very wide columns are left out."""
    traced = np.flatnonzero(origin >= 0)
    fit = np.ones(len(traced), dtype=np.bool_)
    for column in release.table.columns:
        if column.name not in original.names or share_changed(original.column(column.name), column):
            continue
        original_column = original.column(column.name)
        if len(original_column.levels) * len(column.levels) <= PAIRS:
            fits = compatible(original_column.levels, column.levels, missing="wildcard")
            fit &= fits[original_column.codes[origin[traced]], column.codes[traced]]
    return float(fit.mean())


def _missing_people(release: Release, original: Table) -> Iterator[str]:
    """Yield that a release lacks more than a tenth of the people."""
    if release.origin is None:
        return
    n, released = original.n_rows, len(distinct(release.origin[release.origin >= 0]))
    if 0 < released < (1 - MAX_MISFIT_SHARE) * n:
        yield _(
            "{release} has no row of {n} of the {total} people, and averages count them as not found. Among released "
            "people the re-identified share is {factor} times as high",
            release=release_name(release.name),
            n=n - released,
            total=n,
            factor=f"{n / released:.1f}",
        )


def _unread_columns(release: Release, knowledge: AuditorKnowledge) -> Iterator[str]:
    """Yield columns of a release that no attack reads as an adversary might."""
    table, original, name = release.table, knowledge.original, release_name(release.name)
    linking = _linking_columns(release, knowledge)
    yield from linking.values()
    people = knowledge.register if original is None else original
    for column in table.quasi_identifiers:
        is_known = people is not None and column.name in people.names
        share = share_unknown(people.column(column.name), column) if is_known and people is not None else 0.0
        if share > MAX_MISFIT_SHARE:
            yield (
                f"{percent(share)} of the {column.name} cells in {name} have a value that no person of the "
                "original or register has, so they match no one. If values were renamed or grouped, add --hierarchy, "
                "or the original and --origin"
            )
    if original is None:
        return
    unknown = sorted({column.name for column in table.kept} - {*linking, *original.names})
    if unknown:
        yield (
            f"the original lacks columns of {name}, so no adversary knows them: {', '.join(unknown)}. A row number, "
            "a hash of a name or another code that can be computed again re-identifies people: drop such columns, or "
            "add them to the original"
        )
    for sensitive, columns in ((False, table.kept), (True, table.sensitive)):
        for column in columns:
            if column.name in original.names and (share := share_changed(original.column(column.name), column)):
                yield f"{column.name} was changed in {name}: {percent(share)} of its cells have a value that no " + (
                    "person has, so right guesses may count as wrong. Add --origin if values were renamed or grouped"
                    if sensitive
                    else "person has. Attacks on all columns skip it. Add --origin for the nearest-row attack; declare "
                    "it a quasi-identifier as well if values were renamed or grouped"
                )


def _linking_columns(release: Release, knowledge: AuditorKnowledge) -> dict[str, str]:
    """Return released columns that link rows of one person, or seem to, each with a caution."""
    kept, name = release.table.kept, release_name(release.name)
    if column := find_pseudonym(kept, release.person(knowledge)):
        return {
            column.name: f"the column {column.name} links the rows of each person in {name}: an adversary who "
            "recognizes a few rows has all rows of that person, for any k"
        }
    effect = (
        "no attack links rows by it. If it does, name it with --person, and add the original and --origin"
        if knowledge.original is not None
        else "people are attacked by several of their rows. If it does not, leave the column out"
    )
    return {
        column.name: f"the column {column.name} of {name} seems to link rows of one person: {effect}"
        for column in find_repeated_keys(kept)
    }


def _several_rows(
    release: Release, knowledge: AuditorKnowledge, measured: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Yield that rows are not people if some people have several."""
    population = release.table if knowledge.original is None else knowledge.original
    if population.person is None:
        return
    shares = {name: values["person_share"] for name, values in measured.items() if "person_share" in values}
    released = {name: share for name, share in shares.items() if name != ORIGINAL} or shares
    largest = max(released, key=lambda name: released[name])
    yield (
        f"{population.n_rows:,} rows are of {population.n_people:,} people, and up to {100 * shares[largest]:.0f} % of "
        f"the rows of a class of {release_name(largest)} belong to one person. Any of these rows re-identifies them. "
        "k counts rows; k_people and person_share count people"
    )


def list_readings(readings: Mapping[str, Mapping[str, Reading]]) -> Iterator[str]:
    """Yield columns of releases whose cells stand for several values, or were suppressed."""
    for name, columns in readings.items():
        for column, reading in columns.items():
            if reading.rule:
                yield (
                    f"{column} was {reading.rule} in {release_name(name)}: as written, {percent(reading.misfit)} of "
                    "its cells have a value that no person has, so each is read as all values that it stands for"
                )
            if reading.hidden:
                yield (
                    f"{percent(reading.hidden)} of the {column} cells were suppressed in {release_name(name)}: the "
                    "original or the register has them, so each is read as any value"
                )


def list_bands(bands: Mapping[str, bool]) -> Iterator[str]:
    """Yield sensitive columns whose cells stand for several values; `bands` has whether their cells do not overlap."""
    for column, is_read in bands.items():
        if is_read:
            yield f"the interval or group of {column} that a release states is inferred, not the exact value"
        else:
            yield (
                f"cells of {column} stand for several values and overlap, in one release or between them, so a guess "
                "of such a cell counts as wrong. Audit releases one by one, with cells that do not overlap"
            )
