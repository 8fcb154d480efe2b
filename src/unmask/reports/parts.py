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
    """Names and what is said of them, with the mark of an adversary where there is one: a "key", or "findings" ..."""

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
        """How many lines of cells there are."""
        return sum(len(rows) for _, rows in self.groups)


@dataclass(frozen=True)
class Figures:
    """Charts, two beside each other where there is room."""

    form: ClassVar = "figures"
    items: tuple[Figure, ...]


@dataclass(frozen=True)
class AtRisk:
    """Who is at risk: a figure, the words behind it, people by their risk as a chart, names and what they mean."""

    big: str
    people: str
    strip: Figure | None = None
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Advice:
    """What to do next: a sentence, the command that does it, and changes that were tried under the heads of their
    figures; note : what the figures are.
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
    asked : the question that the items answer, or where there are none, the words
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
        """What stands above its first inner heading, under its own; then each inner heading with what stands below."""
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
        """Every chart and every table in the order of the page, each with the words that it is found by."""
        for section in self.sections:
            heading = ""
            for part in section.parts:
                heading = part.text if isinstance(part, Heading) else heading
                items = part.items if isinstance(part, Figures | Fold) else (part,) if isinstance(part, Grid) else ()
                for item in items:
                    yield f"{section.name} {item.caption or heading}".strip(), item


Loose = Part | str | Iterable["Loose"] | None


def parts(*items: Loose) -> tuple[Part, ...]:
    """Parts in their order: text is a paragraph; what is missing or empty is left out, and so is a heading of nothing.

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
    """A note that a chart or table follows."""
    return Words(text, "lead")


FEW_LINES = 10
"""Lines of tables that are never folded away."""


def folded(text: str, tables: Iterable[Grid]) -> tuple[Grid | Fold, ...]:
    """Tables under a line that opens them; where they have few lines together, as they are."""
    grids = tuple(tables)
    return grids if sum(table.rows for table in grids) <= FEW_LINES else (Fold(text, grids),)


def notes(texts: Iterable[str]) -> tuple[Words, ...]:
    """Notes below a chart or table."""
    return tuple(Words(text, "note") for text in texts)


def grid(head: Iterable[str], rows: Iterable[Iterable[str]], caption: str = "", **look: Any) -> Grid:
    """A table without groups."""
    return Grid(tuple(head), (("", tuple(tuple(row) for row in rows)),), caption=caption, **look)


def grouped(
    head: Iterable[str],
    rows: Iterable[tuple[str, Iterable[str]]],
    caption: str = "",
    *,
    named: bool = True,
    **look: Any,
) -> Grid:
    """A table of (group, cells), groups in the order of their first row; named : each under a line with its name."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for group, cells in rows:
        groups.setdefault(group, []).append(tuple(cells))
    row_groups = ((name if named else "", tuple(group_rows)) for name, group_rows in groups.items())
    return Grid(tuple(head), tuple(row_groups), caption=caption, **look)
