"""Why one person is at risk, for the owner alone: it names a record, so no page and no file to share contains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from unmask.core.notebook import html_table
from unmask.results.formats import DASH, percent
from unmask.results.words import format_share


class PersonBelief(NamedTuple):
    """Belief of one adversary about one person.

    Parameters
    ----------
    adversary, target : str
        The attack; the target is "identity" or a sensitive column.
    probability : float, optional
        Probability that the adversary's best guess is right, by their own belief; None if they have only scores.
    guessing : float
        The same without the release.
    is_right : float, optional
        Probability that the guess is right, given the truth: 1 or 0, or a share if several candidates are equally
        likely. None if the truth is not known.
    """

    adversary: str
    target: str
    probability: float | None
    guessing: float
    is_right: float | None


class CoarserColumn(NamedTuple):
    """Records that fit a person after one step of generalization of one released column, such as "in steps of 10"."""

    column: str
    step: str
    n_records: int


@dataclass(frozen=True)
class Explanation:
    """Why one person is at risk.

    Parameters
    ----------
    release : str
        Release that is attacked.
    person : int
        Row of the original; of the release if there is no original.
    n_records : int
        Records that fit the person in all known columns.
    columns : tuple of str
        Smallest set of known columns in which no more records fit.
    n_without : mapping of str to int
        Known column -> records that fit in the other columns.
    why : str
        The columns, and the one column without which most records fit, in words.
    beliefs : tuple of PersonBelief
        Belief of each adversary, in the order of the page.
    coarser : tuple of CoarserColumn
        Effect of one step of generalization of each column, the most effective first.
    """

    release: str
    person: int
    n_records: int
    columns: tuple[str, ...]
    n_without: dict[str, int]
    why: str
    beliefs: tuple[PersonBelief, ...] = ()
    coarser: tuple[CoarserColumn, ...] = ()

    @property
    def _title(self) -> str:
        return f"Row {self.person} in {self.release}: {self.why}"

    def _list_beliefs(self) -> list[tuple[str, ...]]:
        return [
            (
                item.adversary,
                item.target,
                format_share(item.probability),
                percent(item.guessing),
                _describe(item.is_right),
            )
            for item in self.beliefs
        ]

    def __str__(self) -> str:
        """Return the explanation as text."""
        rows = [("adversary", "target", "believes", "guessing", "right?"), *self._list_beliefs()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        steps = [f"{item.column} {item.step}: {item.n_records:,} records fit" for item in self.coarser]
        return "\n".join([f"{self._title}.", *lines, *steps])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return two small tables for a notebook."""
        beliefs = html_table(
            self._title, ("adversary", "target", "believes", "guessing", "right?"), self._list_beliefs()
        )
        steps = [(item.column, item.step, item.n_records) for item in self.coarser]
        return beliefs + (
            html_table("One step coarser", ("column", "step", "records that fit"), steps) if steps else ""
        )


def _describe(is_right: float | None) -> str:
    if is_right is None:
        return DASH
    return {1.0: "right", 0.0: "wrong"}.get(is_right, f"right in {percent(is_right)} of draws")
