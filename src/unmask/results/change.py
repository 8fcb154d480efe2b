"""A change of a protection that was tried."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.results.table import Column


@dataclass(frozen=True)
class Change:
    """Outcome of a protection with other settings, audited like the release.

    Parameters
    ----------
    name : str
        Name of the change.
    missed, untested : int
        Conditions of the policy.
    above : int or str, optional
        People re-identified by the strongest adversary with more than the limit.
    people : int
        Number of people.
    utility : float, optional
        1 - global certainty penalty; a quasi-identifier that is left out counts as lost.
    k, l : int, optional
        Fewest rows and sensitive values of a class; `k` is empty for the release itself.
    without : str
        Column that is left out.
    protects_kept : bool
        Whether the kept columns become quasi-identifiers.
    """

    name: str
    missed: int
    untested: int
    above: int | str | None
    people: int
    utility: float | None
    k: int | None = None
    l: int | None = None  # noqa: E741  # the field's letter
    without: str = ""
    protects_kept: bool = False


CHANGE_COLUMNS = (
    Column("name"), Column("missed"), Column("untested"), Column("above", kind="people", of="people"), Column("people"),
    Column("utility"), Column("k"), Column("l"), Column("without"),
    Column("protects_kept"),
)  # fmt: skip
"""Fields of a change; the number of people above the limit is rounded."""
