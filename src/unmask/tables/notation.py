"""Notation of cells that are not numbers: sets, masked values, suppressed and missing cells."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from unmask.core.errors import UnmaskError

EVERYTHING = "*"
"""Label of a suppressed cell, which may be any value."""

MISSING = ""
"""Label of a missing cell."""

UNKNOWN = "\0"
"""Label of a cell that the adversary does not know. Only `Knowledge(missing=...)` makes it; no file contains it."""

MASK = re.compile(r"([^*]+)(\*+)")
SPECIAL = re.compile(r'[,{}"|~*]|^\s|\s$')
_SET_PART = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^",{}]*[^",{}\s]))\s*(,|$)')


# --- sets ---------------------------------------------------------------------------------------------------------


def split_set(text: str) -> tuple[str, ...] | None:
    """Split `{a, b}` into its parts without quotes; None if the text is not a set in braces.

    >>> split_set('{a, "b, c"}'), split_set("a, b")
    (('a', 'b, c'), None)
    """
    if len(text) < 3 or text[0] != "{" or text[-1] != "}":
        return None
    inner, parts, position, separator = text[1:-1], [], 0, ","
    if not any(mark in inner for mark in '"{}'):
        plain_parts = tuple(map(str.strip, inner.split(",")))
        return plain_parts if all(plain_parts) else None
    while separator == ",":
        match = _SET_PART.match(inner, position)
        if match is None:
            return None
        part = match[1].replace('""', '"') if match[1] is not None else match[2]
        if not part:
            return None
        parts.append(part)
        position, separator = match.end(), match[3]
    return tuple(parts) if position == len(inner) else None


def format_set(values: Iterable[str]) -> str:
    """Return the canonical text of a set of values: sorted, in braces, special values in quotes.

    Values with a comma, brace, quote or star are quoted. A single value is written without braces, unless it would be
    read as something else. The empty text is a missing cell and is refused.

    >>> format_set(["b", "a"]), format_set(["a, b", "c"]), format_set(["a"])
    ('{a, b}', '{"a, b", c}', 'a')
    """
    unique = sorted(set(values))
    if not unique or MISSING in unique:
        raise UnmaskError("a set of values is empty or holds an empty text; expected at least one value")
    parts = list(map(quote_part, unique))
    return parts[0] if len(parts) == 1 and parts[0] == unique[0] else "{" + ", ".join(parts) + "}"


def quote_part(value: str) -> str:
    """Return a value as it is written in a set.

    >>> quote_part("a"), quote_part("a, b")
    ('a', '"a, b"')
    """
    return '"' + value.replace('"', '""') + '"' if SPECIAL.search(value) else value


# --- masks --------------------------------------------------------------------------------------------------------


def overlap(mask: str, other_mask: str) -> bool:
    """Return whether two masks may hide the same value: one prefix begins with the other, and both masks are long
    enough.

    A star hides at most one character, so `12**` may be 12, 123 or 1234.

    >>> overlap("12**", "123*"), overlap("12**", "13**"), overlap("1*", "123*")
    (True, False, False)
    """
    short, long = sorted((mask.rstrip(EVERYTHING), other_mask.rstrip(EVERYTHING)), key=len)
    return long.startswith(short) and len(long) <= min(len(mask), len(other_mask))


def common_beginning(values: Collection[str]) -> str:
    """Return the longest common prefix of the values.

    >>> common_beginning(["48163", "48159"])
    '481'
    """
    first, last = min(values), max(values)
    letters = enumerate(zip(first, last, strict=False))
    return first[: next((place for place, (a, b) in letters if a != b), min(len(first), len(last)))]


def format_prefix(values: Collection[str], *, width: int) -> str:
    """Return the common prefix of codes, with a star for each hidden character of a code of `width` characters.

    A mask among the values counts with its prefix.

    >>> format_prefix(["48163", "48159", "481**"], width=5), format_prefix(["E11", "E11.9"], width=5)
    ('481**', 'E11**')
    """
    prefix = common_beginning(values).partition(EVERYTHING)[0]
    return prefix + EVERYTHING * max(width - len(prefix), 1) if prefix else EVERYTHING
