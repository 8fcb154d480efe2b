"""How many people the classes of a release have, where one person has several rows: k counts rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from unmask.tables.column import Column
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
    """Both of the classes of the rows that take part; person : (n_rows,) who each row is of, by any numbers.

    >>> from unmask.tables import Table
    >>> release = Table.read({"age": [30, 30, 30, 41, 41]}, quasi_identifiers="age")
    >>> people_in_classes(release, np.array([7, 7, 2, 5, 6]))
    PeopleInClasses(fewest=2, share=0.6666666666666666)
    """
    kept = release.taking_part
    of_row = release.classes.of_row[kept]
    pairs, rows = np.unique(np.stack([of_row, person[kept]]), axis=1, return_counts=True)
    people, sizes = np.bincount(pairs[0]), np.bincount(of_row)
    return PeopleInClasses(int(people[people > 0].min()), float((rows / sizes[pairs[0]]).max()))


def person_by(identifiers: Iterable[Column]) -> NDArray[np.int64] | None:
    """(n_rows,) who each row is of, by the columns that identify a person; None where none of them has a value twice.

    Of several that repeat the one with the most values tells: the number of a patient before their name, and that of an
    admission, which never repeats, not at all. A missing cell is somebody of their own.

    >>> from unmask.tables import Table
    >>> table = Table.read(
    ...     {"patient": ["a", "b", "a", "", ""], "stay": range(5)}, quasi_identifiers=["patient", "stay"]
    ... )
    >>> person_by(table.columns)
    array([0, 1, 0, 6, 7])
    """
    found = [(column, column.codes != column.levels.missing) for column in identifiers]
    repeated = [one for one in found if np.bincount(one[0].codes[one[1]]).max(initial=0) > 1]
    if not repeated:
        return None
    finest, stated = max(repeated, key=lambda one: len(np.unique(one[0].codes)))
    alone = len(finest.levels) + np.arange(len(finest.codes))
    return np.where(stated, finest.codes, alone)
