"""The grammar of pages: a page is sections, a section is a heading and parts, and every part has one form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from unmask.languages import Language
from unmask.render import Figure
from unmask.results import Advice, AtRisk, Decision


@dataclass(frozen=True)
class Words:
    """A paragraph: plain, a "note", a note that a chart or table follows ("lead"), or a caution ("mind")."""

    form: ClassVar = "words"
    text: str
    kind: str = ""
    start: str = ""


@dataclass(frozen=True)
class Bullets:
    """Sentences one below the other."""

    form: ClassVar = "bullets"
    items: tuple[str, ...]
    kind: str = ""


@dataclass(frozen=True)
class Terms:
    """Names and texts about them, with the marks of adversaries if there are any: a "key", or "findings" ..."""

    form: ClassVar = "terms"
    items: tuple[tuple[str, tuple[str, ...]], ...]
    kind: str = "key"
    styles: tuple[int, ...] = ()


@dataclass(frozen=True)
class Grid:
    """A table as text: heads, and groups of rows under an optional heading. Columns from `text` on are figures.

    meaning : True if the second column explains the first one
    listed  : True if the last column is text, too
    """

    form: ClassVar = "grid"
    head: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]
    text: int = 1
    caption: str = ""
    meaning: bool = False
    listed: bool = False

    @property
    def rows(self) -> int:
        """Return the number of lines of cells."""
        return sum(len(rows) for _, rows in self.groups)


@dataclass(frozen=True)
class Figures:
    """Charts, two in a row if there is room."""

    form: ClassVar = "figures"
    items: tuple[Figure, ...]


@dataclass(frozen=True)
class Screen:
    """The first screen: the decision, what the strongest adversary reaches, who is at risk, and what to do next.

    Parameters
    ----------
    decision : Decision
        Acceptable or not from the first words on, condition by condition.
    headline : str
        What the strongest adversary reaches.
    at_risk : AtRisk, optional
        Who is at risk.
    people : Figure, optional
        Chart of people by their risk.
    advice : Advice, optional
        What to do next.
    """

    form: ClassVar = "screen"
    decision: Decision
    headline: str
    at_risk: AtRisk | None = None
    people: Figure | None = None
    advice: Advice | None = None


@dataclass(frozen=True)
class Fold:
    """Tables that are folded away under a line."""

    form: ClassVar = "fold"
    text: str
    items: tuple[Grid, ...]


Part = Words | Bullets | Terms | Grid | Figures | Fold | Screen


@dataclass(frozen=True)
class Section:
    """A part of a page under a heading of its own.

    Parameters
    ----------
    name : str
        Anchor of the section.
    heading, sentence : str
        Heading, and the finding of the section.
    parts : tuple of Part
        Contents.
    open : bool
        True if the contents are visible on a page whose sections are folded.
    """

    name: str
    heading: str
    parts: tuple[Part, ...]
    sentence: str = ""
    open: bool = False


@dataclass(frozen=True)
class Page:
    """All contents of a page.

    Parameters
    ----------
    title : str
        Title.
    head : tuple of Part
        Contents above the sections.
    sections : tuple of Section
        Sections in their order.
    kind : str
        Kind of the result, such as "Table audit", above the first screen.
    folded : bool
        True if sections are folded under their sentences.
    foot : str
        Readers of the page.
    style : str
        Class of its style.
    language : {"en", "de", "fr", "es"}
        Language of the first screen, or of a whole certificate; the sections of a folded page are in English.
    """

    title: str
    head: tuple[Part, ...]
    sections: tuple[Section, ...]
    kind: str = ""
    folded: bool = False
    foot: str = ""
    style: str = ""
    language: Language = "en"

    def list_items(self) -> Iterator[tuple[str, Figure | Grid]]:
        """Yield every chart and every table in the order of the page, each with words to find it by."""
        for section in self.sections:
            for part in section.parts:
                items = part.items if isinstance(part, Figures | Fold) else (part,) if isinstance(part, Grid) else ()
                for item in items:
                    yield f"{section.name} {item.caption}".strip(), item


Loose = Part | str | Iterable["Loose"] | None


def parts(*items: Loose) -> tuple[Part, ...]:
    """Return parts in their order: text becomes a paragraph, and empty parts are left out.

    >>> parts("Once.", None, [Figures(())])
    (Words(text='Once.', kind='', start=''),)
    """
    return tuple(part for item in items for part in _flatten(item))


def _flatten(item: Loose) -> Iterator[Part]:
    if isinstance(item, str):
        yield from _flatten(Words(item))
    elif isinstance(item, Screen):
        yield item
    elif isinstance(item, Words):
        yield from (item,) if item.text else ()
    elif isinstance(item, Grid):
        yield from (item,) if item.rows else ()
    elif isinstance(item, Bullets | Terms | Figures | Fold):
        yield from (item,) if item.items else ()
    else:
        yield from (part for part in item or () for part in _flatten(part))


def lead(text: str) -> Words:
    """Return a note above a chart or table."""
    return Words(text, "lead")


FEW_LINES = 10
"""Lines of tables that are never folded away."""


def folded(text: str, tables: Iterable[Grid]) -> tuple[Grid | Fold, ...]:
    """Return tables under a line that opens them; unchanged if they have few lines together."""
    grids = tuple(tables)
    return grids if sum(table.rows for table in grids) <= FEW_LINES else (Fold(text, grids),)


def notes(texts: Iterable[str]) -> tuple[Words, ...]:
    """Return notes below a chart or table."""
    return tuple(Words(text, "note") for text in texts)


def grid(head: Iterable[str], rows: Iterable[Iterable[str]], caption: str = "", **look: Any) -> Grid:
    """Return a table without groups."""
    return Grid(tuple(head), (("", tuple(tuple(row) for row in rows)),), caption=caption, **look)
