"""What each single record added, person by person: with it in the release, and without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unmask.reports.data import Scope
from unmask.reports.facts.own import EDGES, How, OwnRecord, OwnRecords
from unmask.reports.parts import Figure, Figures, Section, grid, lead, parts
from unmask.reports.people import Spread, people
from unmask.reports.words import SPACE, estimate, number, release_name, what

LEAD = (
    "Added, in percentage points, is what the adversary believes of a person's true value when their record is in the "
    "release, less what the same adversary believes of it when it is not. Each bar is the people whose record added "
    "between the edges below it; those whose record added nothing, or took away, are in the first."
)

IN_STEPS = " Each bar is rounded up to a multiple of {:,} people, so that bars may add up to more than all."

HOW: Mapping[How, str] = {
    "removed": "The protection treats each record on its own, so the record was taken out of the release and all "
    "others stayed. Nothing is drawn again, so these figures are exact. An adversary who knows the protection is asked "
    "again about each person; a quicker estimate chose the worst-off, and some of them may turn out otherwise.",
    "rerun": "The protection comes out the same whenever it runs, so it was run again without each of these people, "
    "one at a time. Releases of nine tenths of the people chose the worst-off; their figures are from the runs without "
    "them, in which some of them may turn out otherwise.",
    "sampled": "The protection draws at random, so it was run many times on nine tenths of the people: added is the "
    "mean over releases that a person was in, less that over releases that they were not in. Half of the releases "
    "chose the worst-off, and the other half gave these figures, in which some of them may turn out otherwise. One "
    "person's figure is uncertain by the error in the table.",
}  # fmt: skip
"""How it was found, in words."""


HEAD = ("Value", "People", "Mean", "Half below", f"95{SPACE}% below", "Error of one", "Worst-off, mean", "Most")


def section(facts: OwnRecords, scope: Scope) -> Section | None:
    """A chart and a line of a table for each release and column."""
    if not facts.records:
        return None
    least = scope.data.least
    said = IN_STEPS.format(least) if least > 1 else ""
    figures = Figures(tuple(_figure(scope, one) for one in facts.records))
    ways = [HOW[how] for how in dict.fromkeys(one.how for one in facts.records)]
    table = grid(
        (*scope.who_head, *HEAD),
        [(*scope.who(one.release, one.adversary), *_cells(one)) for one in facts.records],
        "Points of belief in the true value added by the own record",
        text=len(scope.who_head) + 1,
    )
    shown = parts(lead(LEAD + said), figures, *map(lead, ways), table)
    return Section("own-records", "What each single record added", shown, findings(facts, scope)[0])


def findings(facts: OwnRecords, scope: Scope) -> list[str]:
    """A sentence about the record of one person, of the release and column where the worst-off lose most."""
    if not facts.records:
        return []
    worst = max(facts.records, key=lambda one: one.worst_mean)
    where = f"In {release_name(worst.release)}, a" if len(scope.protected) > 1 else "A"
    said = (
        f"{where} person\u2019s own record adds {_mean(worst)} points to what is believed of their {worst.target}, "
        f"on average over {worst.people:,} people; to the {worst.worst:,} worst-off it adds "
        f"{_points(worst.worst_mean)}, and to one of them {_points(max(worst.worst_most, worst.most))}."
    )
    return [said]


def _figure(scope: Scope, one: OwnRecord) -> Figure:
    caption = f"{one.target}, {release_name(one.release)}" if len(scope.protected) > 1 else what(one.target)
    rows = [
        Spread(f"{one.people:,} people", one.shares, one.people),
        Spread(f"The {one.worst:,} worst-off", one.worst_shares, one.worst),
    ]
    style = scope.styles.get(one.adversary, 0)
    drawn = people(rows, EDGES, style=style, points=True, label=f"People by what their own record added. {caption}.")
    return Figure(f"{caption}, in points", drawn)


def _cells(one: OwnRecord) -> Iterator[str]:
    yield from (one.target, f"{one.people:,}", _mean(one), _points(one.half), _points(one.most_people))
    yield _points(one.error) if one.error == one.error else "\u2013"
    yield from (_points(one.worst_mean), _points(max(one.worst_most, one.most)))


def _mean(one: OwnRecord) -> str:
    ends = (None if end is None else 100 * end for end in (one.low, one.high))
    return estimate(100 * one.mean, "points", *ends)


def _points(share: float) -> str:
    return number(100 * share, 1)
