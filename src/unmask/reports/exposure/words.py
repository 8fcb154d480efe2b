"""Sentences about what columns give away, what the order of rows tells, and who is seen to be inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unmask.facts import Count, Printed, Restored
from unmask.measures.registry import needs_truth
from unmask.reports.data import Heads, Scope
from unmask.reports.exposure.values import APART, INSIDER, ORDER, Exposure
from unmask.reports.words import IDENTITY, percent, release_name, row_estimate
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


def exposure_findings(exposure: Exposure | None, scope: Scope, heads: Heads) -> list[str]:
    """A sentence each about the order of rows, those who know sensitive values, restored cells, and membership.

    Of several releases, about the one from which most people are re-identified.
    """
    if exposure is None or not scope.protected:
        return []
    led = leading(heads)

    def named(release: str) -> float:
        return max((row.posterior for key, row in led.items() if key[::2] == (release, IDENTITY)), default=0.0)

    release = max(scope.protected, key=named)
    own = {key[1:]: row for key, row in heads.items() if key[0] == release}
    lines = [] if (release, ORDER, IDENTITY) in led else list(_ordered(own))
    lines += [*_insider(own), *_restored(exposure.restored.get(release, ()))]
    lines += _printed(exposure.printed.get(release, ()))
    where = f"From {release_name(release)}, " if len(scope.protected) > 1 else ""
    return [where + line if where else line[0].upper() + line[1:] for line in lines]


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
        yield f"an insider who also knows the sensitive values {_did(row)}."
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


def _printed(columns: tuple[Printed, ...]) -> Iterator[str]:
    """Who is seen to be inside; without an original only how many values are printed."""
    if not columns:
        return
    if columns[0].alone is None:
        most = max(columns, key=lambda one: one.values)
        many = f"{most.values:,} exact value{'' if most.values == 1 else 's'} of {most.column}"
        yield f"released cells print up to {many}; each belongs to a person in the data."
        return
    alone = [
        f"{share(one.alone, one.people)}{'' if isinstance(one.alone, str) else ' of all'} people by {one.column}"
        for one in columns
        if one.alone
    ]
    if alone:
        yield (
            f"released cells print exact values that only one person has; whoever knows such a value learns that "
            f"this person is in the data: {', '.join(alone)}."
        )
    else:
        yield "no released cell prints an exact value that only one person has, so none shows who is in the data."


def share(count: Count, whole: int) -> str:
    """How many of all; words stay as they are.

    >>> share(0, 500), share("fewer than 10", 500), share(250, 500).replace("\u00a0", " ")
    ('none', 'fewer than 10', '50.0 %')
    """
    return count if isinstance(count, str) else percent(min(count, whole) / whole) if count else "none"
