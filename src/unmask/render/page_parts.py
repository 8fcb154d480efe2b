"""The grammar of pages: a page is sections, a section is a heading and parts, and every part has one form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from unmask.render import Figure
from unmask.results import Alternative, DecisionItem


@dataclass(frozen=True)
class Heading:
    """A heading inside a section; told : what stands below it, in a sentence."""

    form: ClassVar = "heading"
    text: str
    told: str = ""


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
    """A table as text: heads, then groups of rows under an optional line of their own; figures from column `text`.

    meaning : whether the second column says what the first one means
    listed  : whether the last column is text, too
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
class AtRisk:
    """The people at risk: a figure, the words behind it, a chart of people by their risk, and labeled facts."""

    big: str
    people: str
    strip: Figure | None = None
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Advice:
    """The next step: a sentence, the command for it, and changes that were tried under the heads of their figures; note
    : the meaning of the figures.
    """

    said: str
    command: str = ""
    changes: tuple[Alternative, ...] = ()
    heads: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Screen:
    """The first screen: acceptable or not from the first words on, condition by condition, who is at risk, what next.

    state : "met", "missed", "untested", or "none" where no policy was given
    lede  : what the strongest adversary reaches
    asked : the question that the items answer, or the words if there are no items
    """

    form: ClassVar = "screen"
    state: str
    first: str
    rest: str
    lede: str
    items: tuple[DecisionItem, ...]
    words: tuple[str, ...] = ()
    who: AtRisk | None = None
    next: Advice | None = None
    asked: str = "Is it acceptable?"
    beside: str = "distance to each limit"


@dataclass(frozen=True)
class Fold:
    """Tables that are folded away under a line."""

    form: ClassVar = "fold"
    text: str
    items: tuple[Grid, ...]


Part = Heading | Words | Bullets | Terms | Grid | Figures | Fold | Screen


@dataclass(frozen=True)
class Section:
    """A part of a page under a heading of its own; `name` is its anchor.

    told : what it says, in a sentence
    open : whether what stands above its first inner heading is seen on a page that is folded
    """

    name: str
    heading: str
    parts: tuple[Part, ...]
    told: str = ""
    open: bool = False

    def folds(self) -> Iterator[tuple[Heading, tuple[Part, ...]]]:
        """Yield the parts above the first inner heading under the section's heading; then each inner heading with its
        parts.
        """
        first = next((i for i, part in enumerate(self.parts) if part.form == "heading"), len(self.parts))
        if first:
            yield Heading(self.heading, self.told), self.parts[:first]
        starts = [i for i, part in enumerate(self.parts) if part.form == "heading"]
        for start, end in pairwise([*starts, len(self.parts)]):
            heading = self.parts[start]
            assert isinstance(heading, Heading)
            yield heading, self.parts[start + 1 : end]


@dataclass(frozen=True)
class Page:
    """All that stands on a page; `links` lead from its top to sections: name and words.

    kind   : what the page is, such as "Table audit"; it stands above the first screen
    folded : whether sections are folded away under what they say
    foot   : for whom the page is
    look   : its class of style
    """

    title: str
    head: tuple[Part, ...]
    sections: tuple[Section, ...]
    links: tuple[tuple[str, str], ...] = ()
    kind: str = ""
    folded: bool = False
    foot: str = ""
    look: str = ""

    def shown(self) -> Iterator[tuple[str, Figure | Grid]]:
        """Yield every chart and every table in the order of the page, each with words to find it by."""
        for section in self.sections:
            heading = ""
            for part in section.parts:
                heading = part.text if isinstance(part, Heading) else heading
                items = part.items if isinstance(part, Figures | Fold) else (part,) if isinstance(part, Grid) else ()
                for item in items:
                    yield f"{section.name} {item.caption or heading}".strip(), item


Loose = Part | str | Iterable["Loose"] | None


def parts(*items: Loose) -> tuple[Part, ...]:
    """Return parts in their order: text becomes a paragraph; empty parts, and headings without content, are left out.

    >>> parts("Once.", None, [Heading("Empty"), Figures(())], Heading("Last"))
    (Words(text='Once.', kind='', start=''),)
    """
    flat = [part for item in items for part in _flat(item)]
    return tuple(
        part
        for i, part in enumerate(flat)
        if part.form != "heading" or (i + 1 < len(flat) and flat[i + 1].form != "heading")
    )


def _flat(item: Loose) -> Iterator[Part]:
    if isinstance(item, str):
        yield from (Words(item),) if item else ()
    elif isinstance(item, Heading | Words):
        yield from (item,) if item.text else ()
    elif isinstance(item, Screen):
        yield item
    elif isinstance(item, Bullets | Terms | Figures | Fold):
        yield from (item,) if item.items else ()
    elif isinstance(item, Grid):
        yield from (item,) if item.rows else ()
    else:
        yield from (part for part in item or () for part in _flat(part))


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


def grouped(
    head: Iterable[str],
    rows: Iterable[tuple[str, Iterable[str]]],
    caption: str = "",
    *,
    named: bool = True,
    **look: Any,
) -> Grid:
    """Return a table of (group, cells), groups in the order of their first row; named : each under a line with its
    name.
    """
    groups: dict[str, list[tuple[str, ...]]] = {}
    for group, cells in rows:
        groups.setdefault(group, []).append(tuple(cells))
    row_groups = ((name if named else "", tuple(group_rows)) for name, group_rows in groups.items())
    return Grid(tuple(head), tuple(row_groups), caption=caption, **look)
