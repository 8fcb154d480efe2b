"""A result as a page shows it: its releases, adversaries and targets, with a style and a description for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from unmask.languages import gettext as _
from unmask.languages import retranslate
from unmask.results.names import FAILURES, IDENTITY
from unmask.results.result import Result
from unmask.results.rows import ORIGINAL, PreferredRows, Row, preferred_rows
from unmask.results.words import styles_of


def headlines(result: Result) -> dict[tuple[str, str, str], Row]:
    """Return for each (release, adversary, target) the row of success for findings and charts, in the order of rows.

    It is the first of `preferred_measures` that has a value: realized success if the truth is known, else expected.
    """
    return preferred_rows((row for row in result.rows if row.status not in FAILURES), result.preferred_measures)


@dataclass(frozen=True)
class Scope:
    """A result, and what there is to tell apart in it, in the order of first rows.

    page_adversaries : adversaries of the whole page, of a scope with some of its rows
    """

    result: Result
    page_adversaries: tuple[str, ...] = ()

    def narrow(self, where: Mapping[str, Any]) -> Scope:
        """Return the scope of the rows with these values, or one of these values for a tuple."""
        values = {name: value if isinstance(value, tuple) else (value,) for name, value in where.items()}
        rows = (row for row in self.result.rows if all(getattr(row, name) in values[name] for name in values))
        return Scope(replace(self.result, rows=tuple(rows)), tuple(self.styles))

    @cached_property
    def heads(self) -> PreferredRows[Row]:
        """Return the rows for findings and charts."""
        return headlines(self.result)

    @cached_property
    def releases(self) -> tuple[str, ...]:
        """Return the releases of the rows."""
        return tuple(dict.fromkeys(row.release for row in self.result.rows))

    @cached_property
    def adversaries(self) -> tuple[str, ...]:
        """Return the adversaries of the rows; their position is their color and shape."""
        return tuple(dict.fromkeys(row.adversary for row in self.result.rows))

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """Return the targets of the rows, identity first."""
        targets = dict.fromkeys(row.target for row in self.result.rows)
        return tuple(sorted(targets, key=lambda target: target != IDENTITY))

    @cached_property
    def words(self) -> dict[str, str]:
        """Return for each adversary the words that complete "an adversary who ...", or their name."""
        return {name: self.result.adversaries.get(name, name) for name in self.adversaries}

    @cached_property
    def styles(self) -> dict[str, int]:
        """Return for each adversary the number of its color and shape."""
        return styles_of(self.page_adversaries or self.adversaries)

    @property
    def protected(self) -> tuple[str, ...]:
        """Return the releases without the original, unless there is only the original."""
        return tuple(name for name in self.releases if name != ORIGINAL) or self.releases

    @cached_property
    def cases(self) -> bool:
        """Return whether the rows are about cases, such as secrets behind a channel, and not about people."""
        return not self.result.about_people and all(row.target != IDENTITY for row in self.result.rows)

    def replace_people(self, text: str) -> str:
        """Return a sentence about people, with "cases" for "people" if the rows are about cases; notes of rows stay
        unchanged.
        """
        if not self.cases or any(row.note and row.note in text for row in self.result.rows):
            return text
        return text.replace("people", "cases").replace("person", "case")

    def subject(self, adversary: str) -> str:
        """Turn "knows age" into "an adversary who knows age"; any other name is kept as a name."""
        return describe_subject(adversary, self.words[adversary])

    def label(self, adversary: str) -> str:
        """Return the name of an adversary next to a mark of a chart; "" if there is only one adversary."""
        return adversary if len(self.adversaries) > 1 else ""

    def row_labels(self, release: str, adversary: str) -> tuple[str, ...]:
        """Return the cells that identify a row, without columns that have the same value everywhere."""
        name = (adversary,) if len(self.styles) > 1 else ()
        return (release, *name) if self._names_releases else name

    @property
    def _names_releases(self) -> bool:
        """Return whether lines name their release: if there are several, or one adversary, or a part of the page."""
        return len(self.releases) > 1 or len(self.styles) == 1 or bool(self.page_adversaries)

    @property
    def row_label_heads(self) -> tuple[str, ...]:
        """Return the heads of the columns of `who`."""
        head = ("Release",) if self._names_releases else ()
        return head + (("Adversary",) if len(self.styles) > 1 else ())


def describe_subject(adversary: str, words: str) -> str:
    """Return an adversary as the subject of a sentence, by the words that complete "an adversary who ..."."""
    is_description = words == adversary or words.startswith(f"{adversary} (")
    if not is_description or words.startswith("knows "):
        return _("an adversary who {words}", words=retranslate(words))
    return _("the adversary {name}", name=retranslate(words))
