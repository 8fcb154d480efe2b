"""Sentences about what columns give away, what the order of rows tells, and who is seen to be inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unmask.facts import Printed, Restored
from unmask.reports.data import Heads, Scope
from unmask.reports.exposure.values import INSIDER, ORDER, Exposure
from unmask.reports.words import IDENTITY, needs_truth, percent, release_name, row_estimate
from unmask.results import Row

SHOWN = 3
"""Columns that a sentence names."""


def leading(heads: Heads) -> Heads:
    """The rows that may lead the findings: not the insider's, who knows sensitive values to begin with, and the order's
    only where it is the strongest.
    """
    outsiders = {key: row for key, row in heads.items() if key[1] not in (INSIDER, ORDER)}
    strongest: dict[str, float] = {}
    for (release, _, target), row in outsiders.items():
        if target == IDENTITY:
            strongest[release] = max(strongest.get(release, 0.0), row.posterior)
    by_order = {
        key: row for key, row in heads.items() if key[1] == ORDER and row.posterior > strongest.get(key[0], 0.0)
    }
    return {key: row for key, row in heads.items() if key in outsiders or key in by_order}


def exposure_findings(exposure: Exposure | None, scope: Scope, heads: Heads) -> list[str]:
    """A sentence each about the order of rows, those who know sensitive values, restored cells, and membership."""
    if exposure is None:
        return []
    led = leading(heads)
    several = len(scope.protected) > 1
    found = []
    for release in scope.protected:
        where = f"From {release_name(release)}, " if several else ""
        own = {key[1:]: row for key, row in heads.items() if key[0] == release}
        lines = [*_ordered(own, told=(release, ORDER, IDENTITY) in led), *_insider(own)]
        lines += [*_restored(exposure.restored.get(release, ())), *_printed(exposure.printed.get(release, ()))]
        found += [where + (line if where else line[0].upper() + line[1:]) for line in lines]
    return found


Own = Mapping[tuple[str, str], Row]
"""The rows of one release by adversary and target."""


def _did(row: Row) -> str:
    verb = "names" if needs_truth(row.measure) else "expects to name"
    return f"{verb} {row_estimate(row)} of {row.n:,} people correctly; guessing gives {percent(row.prior)}"


def _ordered(own: Own, *, told: bool) -> Iterator[str]:
    row = own.get((ORDER, IDENTITY))
    if row is not None and not told:
        yield f"an adversary who has the original in its order and reads only the order of the rows {_did(row)}."


def _insider(own: Own) -> Iterator[str]:
    row = own.get((INSIDER, IDENTITY))
    if row is not None:
        yield f"whoever knows the sensitive values, too, {_did(row)}."
    inferred = [row for (who, target), row in own.items() if who == INSIDER and target != IDENTITY]
    if inferred:
        each = ", ".join(f"{row.target} for {row_estimate(row)} (guessing {percent(row.prior)})" for row in inferred)
        yield f"whoever knows all columns but one of the sensitive ones infers {each}."


def _restored(pairs: tuple[Restored, ...]) -> Iterator[str]:
    if not pairs:
        return
    best = sorted(pairs, key=lambda one: one.guessed - one.restored)[:SHOWN]
    each = "; ".join(
        f"{one.by} restores {percent(one.restored)} of the {one.cells:,} generalized cells of {one.column} "
        f"({percent(one.guessed)} can be guessed without it)"
        for one in best
    )
    more = f"; {len(pairs) - len(best)} more are in the report" if len(pairs) > len(best) else ""
    yield f"columns beside the generalized ones give them away: {each}{more}."


def _printed(columns: tuple[Printed, ...]) -> Iterator[str]:
    if not columns:
        return
    if columns[0].alone is None:
        many = max(columns, key=lambda one: one.values)
        if many.values:
            yield (
                f"released cells print up to {many.values:,} exact values of {many.column}: whoever knows that only one "
                f"person has such a value reads off that they are inside."
            )
    elif any(one.alone for one in columns):
        each = ", ".join(
            f"{one.column} of {percent((one.alone or 0) / one.people)} of all people" for one in columns if one.alone
        )
        yield (
            f"released cells print exact values that one person alone has, so that whoever knows the value reads off "
            f"that they are inside: {each}."
        )
        return
    if not any(one.values if one.alone is None else one.alone for one in columns):
        yield "no released cell prints an exact value that one person alone has: none tells who is inside."
