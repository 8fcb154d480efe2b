"""Our docstrings are plain text with a few habits; this says the same in the markup that Sphinx reads."""

import re
from collections.abc import Callable, Iterator

_NAME = r"(?:\*{0,2}[A-Za-z][\w*-]*|\.\.\.)"
_DEFINITION = re.compile(rf"({_NAME}(?:, {_NAME})*)\s+: (?=\S)")
_NEXT = re.compile(rf"(?:;|(?<=\.)) (?={_DEFINITION.pattern})")
_ITEM = re.compile(r"([-*]|\d+\.) ")


def to_rst(lines: list[str], link: Callable[[str], str | None]) -> list[str]:
    r"""A docstring as reStructuredText.

    lines : the docstring without its indentation
    link  : where code in backticks leads: markup, or None for code that leads nowhere

    Lines `name : meaning` become a list of definitions; what goes on in one is indented or begins with a small letter.
    Lines `- item` and `1. item` become a list; other indented lines keep their breaks; examples stay; all else is prose
    without markup.

    >>> to_rst(["Chance p*_i.", "", "k, l : rows in a class,", "    at least `2`"], {}.get)
    ['Chance p\\*\\_i.', '', '``k``, ``l``', '    rows in a class,', '    at least ``2``\\ ', '']
    """
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line.rstrip())
        elif blocks[-1]:
            blocks.append([])
    return [line for block in blocks if block for line in (*_block(block, link), "")]


def _block(block: list[str], link: Callable[[str], str | None]) -> Iterator[str]:
    """Lines without an empty one between them: an example, or prose, definitions, items and lines in any order."""
    if block[0].startswith(">>>"):
        yield from block
        return
    before = ""
    for line in block:
        kind, written = _line(line, before, link)
        if kind == "lines" != before:
            yield from ("", "::", "")
        elif before and kind != before:
            yield ""
        yield from written
        before = kind


def _line(line: str, before: str, link: Callable[[str], str | None]) -> tuple[str, list[str]]:
    """What a line is, given what the one before it is, and the line in markup."""
    item = _ITEM.match(line)
    if _DEFINITION.match(line) or (before == "definition" and line[0] in " abcdefghijklmnopqrstuvwxyz"):
        return "definition", _definitions(line.strip(), link)
    if item:
        return "item", [item[0] + _text(line[item.end() :], link)]
    if not line.startswith(" "):
        return "prose", [_text(line, link)]
    if before == "item":
        return before, [line[: len(line) - len(line.lstrip())] + _text(line.strip(), link)]
    return "lines", [line]


def _definitions(line: str, link: Callable[[str], str | None]) -> list[str]:
    """`name : meaning`, or the rest of a meaning; the next name may stand in the same line."""
    written = []
    for part in _NEXT.sub("\n", line).split("\n"):
        named = _DEFINITION.match(part)
        if named:
            written.append(", ".join(f"``{name}``" for name in named[1].split(", ")))
        written.append("    " + _text(part[named.end() if named else 0 :], link))
    return written


def _text(line: str, link: Callable[[str], str | None]) -> str:
    """Prose with its code set as code, and nothing else in it read as markup."""
    first, *rest = re.split(r"(`+[^`]+`+)", line)
    first = re.sub(r"^(\w{1,3}|#)\.(?= )|^(?=[-+:]|\.\.)", r"\\\g<0>", _plain(first))  # no lists, no fields
    return first + "".join(_code(part, link) if part.startswith("`") else _plain(part) for part in rest)


def _plain(text: str) -> str:
    return re.sub(r"([\\*_|`<>])", r"\\\1", text)


def _code(part: str, link: Callable[[str], str | None]) -> str:
    name = part.strip("`")
    return (link(name) or f"``{name}``") + r"\ "
