"""Conversion of docstrings, which are numpydoc or plain text with a few habits, to reStructuredText."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

_NAME = r"(?:\*{0,2}[A-Za-z][\w*-]*|\.\.\.)"
_DEFINITION = re.compile(rf"({_NAME}(?:, {_NAME})*)\s+: (?=\S)")
_NEXT = re.compile(rf"(?:;|(?<=\.)) (?={_DEFINITION.pattern})")
_ITEM = re.compile(r"([-*]|\d+\.) ")
ENTRIES = frozenset({"Attributes", "Other Parameters", "Parameters", "Raises", "Returns", "Warns", "Yields"})
"""Numpydoc sections that consist of entries."""


def to_rst(lines: list[str], link: Callable[[str], str | None]) -> list[str]:
    r"""Return a docstring as reStructuredText.

    lines : the docstring without its indentation
    link  : returns the markup of a link for code in backticks, or None without a link

    A numpydoc section becomes a rubric, and its entries `name : type` a list of definitions. In other text, lines
    `name : meaning` become a list of definitions, whose continuation is indented or begins with a small letter. Lines
    `- item` and `1. item` become a list. Other indented lines keep their breaks, and examples are not changed. All
    other text is prose without markup.

    >>> to_rst(["Chance p*_i.", "", "k, l : rows in a class,", "    at least `2`"], {}.get)
    ['Chance p\\*\\_i.', '', '``k``, ``l``', '    rows in a class,', '    at least ``2``\\ ', '']
    >>> to_rst(["Parameters", "----------", "k : int", "    Rows in a class."], {}.get)
    ['.. rubric:: Parameters', '', '``k`` : *int*', '    Rows in a class.', '', '']
    """
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line.rstrip())
        elif blocks[-1]:
            blocks.append([])
    return [line for block in blocks if block for line in (*_block(block, link), "")]


def _block(block: list[str], link: Callable[[str], str | None]) -> Iterator[str]:
    """Yield the markup of adjacent lines: a section, an example, or any mix of prose, definitions and items."""
    if len(block) > 1 and set(block[1]) == {"-"}:
        yield from (f".. rubric:: {block[0]}", "")
        yield from (_entries if block[0] in ENTRIES else _block)(block[2:], link) if block[2:] else ()
        return
    if block[0].startswith(">>>"):
        yield from block
        return
    previous = ""
    for line in block:
        kind, markup = _line(line, previous, link)
        if kind == "lines" != previous:
            yield from ("", "::", "")
        elif previous and kind != previous:
            yield ""
        yield from markup
        previous = kind


def _entries(lines: list[str], link: Callable[[str], str | None]) -> Iterator[str]:
    """Yield a definition for each entry of a section: `name : type`, or a type alone, and an indented description."""
    starts = [place for place, line in enumerate(lines) if not line.startswith(" ")]
    for start, end in pairwise([*starts, len(lines)]):
        names, colon, kind = lines[start].partition(" : ")
        codes = ", ".join(f"``{name}``" for name in names.split(", "))
        yield f"{codes} : *{_plain(kind)}*" if colon else _text(lines[start], link)
        description = [line.removeprefix("    ") for line in lines[start + 1 : end]]
        yield from (f"    {line}".rstrip() for line in (_block(description, link) if description else ()))
        yield ""


def _line(line: str, previous: str, link: Callable[[str], str | None]) -> tuple[str, list[str]]:
    """Return the kind of a line, given the kind of the previous line, and its markup."""
    item = _ITEM.match(line)
    if _DEFINITION.match(line) or (previous == "definition" and line[0] in " abcdefghijklmnopqrstuvwxyz"):
        return "definition", _definitions(line.strip(), link)
    if item:
        return "item", [item[0] + _text(line[item.end() :], link)]
    if not line.startswith(" "):
        return "prose", [_text(line, link)]
    if previous == "item":
        return previous, [line[: len(line) - len(line.lstrip())] + _text(line.strip(), link)]
    return "lines", [line]


def _definitions(line: str, link: Callable[[str], str | None]) -> list[str]:
    """Return the markup of `name : meaning`, or of a continued meaning. A line may contain several definitions."""
    markup = []
    for part in _NEXT.sub("\n", line).split("\n"):
        definition = _DEFINITION.match(part)
        if definition:
            markup.append(", ".join(f"``{name}``" for name in definition[1].split(", ")))
        markup.append("    " + _text(part[definition.end() if definition else 0 :], link))
    return markup


def _text(line: str, link: Callable[[str], str | None]) -> str:
    """Return prose with code as code, and all other text without markup."""
    first, *parts = re.split(r"(`+[^`]+`+)", line)
    first = re.sub(r"^(\w{1,3}|#)\.(?= )|^(?=[-+:]|\.\.)", r"\\\g<0>", _plain(first))  # no lists, no fields
    return first + "".join(_code(part, link) if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    return re.sub(r"([\\*_|`<>])", r"\\\1", text)


def _code(part: str, link: Callable[[str], str | None]) -> str:
    name = part.strip("`")
    return (link(name) or f"``{name}``") + r"\ "
