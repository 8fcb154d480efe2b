"""Releases whose rows are not the people of the original: synthetic, perturbed, of other people."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from unmask.reports.words import release_name
from unmask.tables import criteria
from unmask.tables.release import Table

OWN_ROWS = 0.99
"""Share of released rows that must be able to be different people of the original, for who they are to be asked.

Rows that were only generalized or suppressed reach 1. Of Adult, other 2,000 people reach 0.86 of 2,000 with age and sex
alone and 0.44 with five columns; a synthetic release of 39,040 rows reaches 0.97 and 0.66 of all 48,842.
"""


def foreign(releases: Mapping[str, Table], original: Table | None, origins: Collection[str]) -> dict[str, float]:
    """Releases whose rows are not the original's, as far as the quasi-identifiers tell -> the share that may be.

    origins : releases of which it is stated whose row is whose; of them nothing is asked.
    """
    if original is None:
        return {}
    found = {name: criteria.own_rows(table, original) for name, table in releases.items() if name not in origins}
    return {name: share for name, share in found.items() if share < OWN_ROWS}


def of_nobody(own: Mapping[str, float]) -> Iterator[str]:
    """The same in a sentence for the head of a page."""
    if own:
        names = " and ".join(map(release_name, own))
        yield f"The rows of {names} are not people of the original, so nobody asks there which record is theirs."


def nobodys(own: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """What is not run of such releases, and why."""
    for name, share in own.items():
        why = (
            f"its rows are not people of the original: at most {share:.1%} of them can be, by the quasi-identifiers. "
            "They are synthetic, perturbed or other people's; if each is somebody's all the same, say whose (--origin)"
        )
        yield f"Whose record is whose in {name}", why
