"""The text of a document: values, tables and reasons of TOML, which the standard library only reads."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from unmask.core.errors import UNSEEN, visible

DOCUMENT = "unmask.toml"
"""The usual name of the document of all verbs."""


def text_of_value(value: Any) -> str:
    """A value of TOML on one line.

    >>> text_of_value({"role": "sensitive", "order": ["low", "high"]}), text_of_value(True)
    ('{ role = "sensitive", order = ["low", "high"] }', 'true')
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_of(key)} = {text_of_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(text_of_value, value))}]"
    written = json.dumps(value, ensure_ascii=False)
    unseen = {ord(one): f"\\U{ord(one):08x}" for one in written if unicodedata.category(one) in UNSEEN}
    return written.translate(unseen)


def key_of(name: str) -> str:
    """A key of TOML: bare where it may be, else quoted."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else text_of_value(name)


def section(head: str, settings: Mapping[str, Any], why: Mapping[str, str] | None = None) -> str:
    """A table of a document; why : key -> the reason that stands behind it."""
    lines = [f"{key_of(key)} = {text_of_value(value)}" for key, value in settings.items()]
    width = min(max(map(len, lines), default=0), 60)
    reasons = [visible((why or {}).get(key, "")) for key in settings]
    said = (f"{line:{width}}  # {reason}" if reason else line for line, reason in zip(lines, reasons, strict=True))
    return "\n".join((head, *said))


def whole_text(title: str, sections: Iterable[str]) -> str:
    """A document."""
    return "\n\n".join((f"title = {text_of_value(title)}", *sections)) + "\n"


def text_of_document(
    given: Mapping[str, Any],
    *,
    why: Mapping[str, Mapping[str, str]] | None = None,
    below: Mapping[str, str] | None = None,
) -> str:
    """A whole document from its values, in their order, those without a table of their own first.

    why : table -> key -> the reason that stands behind it; below : table -> what stands below it

    >>> print(text_of_document({"title": "Ours", "data": {"file": "a.csv"}, "policy": [{"require": "k >= 5"}]}), end="")
    title = "Ours"
    <BLANKLINE>
    [data]
    file = "a.csv"
    <BLANKLINE>
    [[policy]]
    require = "k >= 5"
    """
    tables = {key: one for key, one in given.items() if isinstance(one, Mapping)}
    lists = {key: one for key, one in given.items() if isinstance(one, list) and one and isinstance(one[0], Mapping)}
    plain = [f"{key_of(key)} = {text_of_value(one)}" for key, one in given.items() if key not in tables | lists]
    sections = ["\n".join(plain)] if plain else []
    for key, one in given.items():
        if key in tables:
            text = section(f"[{key_of(key)}]", one, (why or {}).get(key))
            sections.append(text + (below or {}).get(key, ""))
        elif key in lists:
            sections += [section(f"[[{key_of(key)}]]", entry) for entry in one]
    return "\n\n".join(sections) + "\n"
