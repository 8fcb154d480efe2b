"""How many people the classes of a release have, where one person has several rows: the k of a release counts rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.tables.attacks.relation import relation_of
from unmask.tables.counts import class_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.release import Table


class PeopleInClasses(NamedTuple):
    """Of a release some of whose people have several rows.

    fewest : people of the class that has the fewest; at most k
    share  : the largest share of the rows of a class that are one person's, in (0, 1]: who draws a row of that class
             has a row of theirs with this probability; at least 1 / fewest
    """

    fewest: int
    share: float


def people_in_classes(release: Table, person: NDArray[np.integer]) -> PeopleInClasses:
    """Return both for the classes of the rows that take part, each with all that it meets.

    person : (n_rows,) who each row is of, by any numbers.

    >>> from unmask.tables import Table
    >>> release = Table.read({"age": [30, 30, 30, 41, 41]}, quasi_identifiers="age")
    >>> people_in_classes(release, np.array([7, 7, 2, 5, 6]))
    PeopleInClasses(fewest=2, share=0.6666666666666666)
    """
    kept = release.taking_part
    table = release if len(kept) == release.n_rows else release.take(kept)
    who = np.unique(person[kept], return_inverse=True)[1]
    rows = class_counts(table.classes.of_row, len(table.classes.sizes), who, int(who.max(initial=-1)) + 1)
    relation = relation_of(table)
    rows = rows if relation is None else relation.sums(rows)
    people = np.diff(rows.indptr)
    return PeopleInClasses(int(people.min()), float((rows.data / np.repeat(rows.sum(axis=1), people)).max()))
