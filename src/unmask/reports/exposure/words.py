"""Sentences about what columns give away, what the order of rows tells, and who is seen to be inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unmask.facts import Printed, Restored
from unmask.reports.data import FEWEST, Heads, Scope
from unmask.reports.exposure.values import APART, INSIDER, ORDER, Exposure
from unmask.reports.small import few
from unmask.reports.words import IDENTITY, needs_truth, percent, release_name, row_estimate
from unmask.results import Row

SHOWN = 3
"""Columns that a sentence names."""


def leading(heads: Heads) -> Heads:
    """The rows that may lead the findings: none of an adversary apart, and the order's only where it is strongest."""
    others = {key: row for key, row in heads.items() if key[1] not in {*APART, ORDER}}
    strongest: dict[str, float] = {}
    for (release, _, target), row in others.items():
        if target == IDENTITY:
            strongest[release] = max(strongest.get(release, 0.0), row.posterior)

    def leads(release: str, adversary: str, row: Row) -> bool:
        return adversary == ORDER and row.posterior > strongest.get(release, 0.0)

    return {key: row for key, row in heads.items() if key in others or leads(key[0], key[1], row)}


def exposure_findings(exposure: Exposure | None, scope: Scope, heads: Heads, least: int = FEWEST) -> list[str]:
    """A sentence each about the order of rows, those who know sensitive values, restored cells, and membership.

    least : the fewest people of whom is told how many they are
    """
    if exposure is None:
        return []
    led, found = leading(heads), []
    for release in scope.protected:
        own = {key[1:]: row for key, row in heads.items() if key[0] == release}
        lines = [] if (release, ORDER, IDENTITY) in led else list(_ordered(own))
        lines += [*_insider(own), *_restored(exposure.restored.get(release, ()))]
        lines += _printed(exposure.printed.get(release, ()), least)
        where = f"From {release_name(release)}, " if len(scope.protected) > 1 else ""
        found += [where + line if where else line[0].upper() + line[1:] for line in lines]
    return found


Own = Mapping[tuple[str, str], Row]
"""The rows of one release by adversary and target."""


def _did(row: Row) -> str:
    verb = "names" if needs_truth(row.measure) else "expects to name"
    return f"{verb} {row_estimate(row)} of {row.n:,} people correctly; guessing gives {percent(row.prior)}"


def _ordered(own: Own) -> Iterator[str]:
    row = own.get((ORDER, IDENTITY))
    if row is not None:
        yield f"an adversary who has the original in its order and reads only the order of the rows {_did(row)}."


def _insider(own: Own) -> Iterator[str]:
    """Sensitive columns are quasi-identifiers of each other, for whoever knows one."""
    row = own.get((INSIDER, IDENTITY))
    if row is not None:
        yield f"an insider who knows the sensitive values, too, {_did(row)}."
    told = []
    for (who, target), row in own.items():
        others = [one.posterior for (other, what), one in own.items() if what == target and other not in APART]
        if who == INSIDER and target != IDENTITY and row.posterior > max(others, default=1.0):
            told.append(f"{target} for {row_estimate(row)} ({percent(max(others))} without them)")
    if told:
        yield f"an insider who knows the other sensitive values infers {', '.join(told)}."


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


def _printed(columns: tuple[Printed, ...], least: int) -> Iterator[str]:
    """Who is seen to be inside; without an original only how many values are printed."""
    if not columns:
        return
    if columns[0].alone is None:
        most = max(columns, key=lambda one: one.values)
        yield f"released cells print up to {most.values:,} exact values of {most.column}, each of somebody in the data."
        return
    alone = [f"{share(one.alone or 0, one.people, least)} by {one.column}" for one in columns if one.alone]
    if alone:
        yield (
            f"released cells print exact values that one person alone has, so that whoever knows the value reads off "
            f"that they are inside: {', '.join(alone)}."
        )
    else:
        yield "no released cell prints an exact value that one person alone has: by that, nobody is seen to be inside."


def share(count: int, whole: int, least: int) -> str:
    """How many of all in percent, never telling of fewer than `least`.

    >>> share(0, 500, 10), share(3, 500, 10), share(250, 500, 10).replace("\u00a0", " ")
    ('none', 'fewer than 10', '50.0 %')
    """
    shown = few(count, least)
    return shown if isinstance(shown, str) else percent(shown / whole) if shown else "none"
