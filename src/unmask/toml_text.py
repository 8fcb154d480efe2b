"""Text of TOML documents: written from values, or changed in place with all comments of their authors."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from unmask.core.errors import UNSEEN, visible

DOCUMENT = "unmask.toml"
"""Usual name of the document of all commands."""

Comments = Mapping[str, Mapping[str, str]]
"""Table -> key -> comment at the end of its line."""

COMMENT_COLUMN = 60
"""Widest column at which the comments of a table are aligned."""


def format_value(value: Any) -> str:
    """Return a value of TOML on one line.

    >>> format_value({"role": "sensitive", "order": ["low", "high"]}), format_value(True)
    ('{ role = "sensitive", order = ["low", "high"] }', 'true')
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{format_key(key)} = {format_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(format_value, value))}]"
    text = json.dumps(value, ensure_ascii=False)
    escapes = {
        ord(character): f"\\U{ord(character):08x}" for character in text if unicodedata.category(character) in UNSEEN
    }
    return text.translate(escapes)


def format_key(name: str) -> str:
    """Return a key of TOML, in quotes if it is not a bare key."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else format_value(name)


def format_document(
    values: Mapping[str, Any], *, comments: Comments | None = None, notes: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return the text of a document: values without a table first, then tables and lists of tables in their order.

    comments : of single keys, by table
    notes : lines of comments at the end of a table

    >>> print(format_document({"title": "Ours", "data": {"file": "a.csv"}, "policy": [{"require": "k >= 5"}]}), end="")
    title = "Ours"
    <BLANKLINE>
    [data]
    file = "a.csv"
    <BLANKLINE>
    [[policy]]
    require = "k >= 5"
    """
    plain = {
        key: value for key, value in values.items() if not (isinstance(value, Mapping) or _is_list_of_tables(value))
    }
    sections = [_format_lines(plain)] if plain else []
    for key, value in values.items():
        if isinstance(value, Mapping):
            notes_below = [f"# {visible(note)}" for note in (notes or {}).get(key, ())]
            lines = [f"[{format_key(key)}]", _format_lines(value, (comments or {}).get(key, {})), *notes_below]
            sections.append("\n".join(filter(None, lines)))
        elif key not in plain:
            sections += (f"[[{format_key(key)}]]\n{_format_lines(entry)}" for entry in value)
    return "\n\n".join(sections) + "\n"


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _format_lines(values: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """Return a line for each key, with aligned comments."""
    lines = {key: f"{format_key(key)} = {format_value(value)}" for key, value in values.items()}
    width = min(max(map(len, lines.values()), default=0), COMMENT_COLUMN)
    texts = {key: visible((comments or {}).get(key, "")) for key in lines}
    return "\n".join(f"{line:{width}}  # {texts[key]}" if texts[key] else line for key, line in lines.items())


# --- changes in place -------------------------------------------------------------------------------------------------


def update_document(text: str, values: Mapping[str, Any], *, comments: Comments | None = None) -> str:
    r"""Return a document with other values: lines of equal values stay as they are, and all comments stay.

    comments : of single keys, by table; a key that has a comment keeps its own

    >>> before = '[data] # from the registry\nfile = "a.csv"\n[audit]\nseed = 1 # agreed\ntargets = 9\n'
    >>> print(update_document(before, {"data": {"file": "b.csv"}, "audit": {"seed": 1}}), end="")
    [data] # from the registry
    file = "b.csv"
    [audit]
    seed = 1 # agreed
    """
    import tomllib

    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    fresh = format_document(values, comments=comments)
    try:
        document = tomlkit.parse(text if text.endswith("\n") else f"{text}\n")
        _update(document, values)
        _add_comments(document, comments or {})
        updated = document.as_string()
        texts, expected = (_space_headers(updated, text), updated), tomllib.loads(fresh)
        return next((changed for changed in texts if tomllib.loads(changed) == expected), fresh)
    except (TOMLKitError, tomllib.TOMLDecodeError):
        return fresh


def _space_headers(text: str, initial: str) -> str:
    """Return a text with an empty line above each header, except those without one in the initial text."""
    initial_lines = initial.split("\n")
    lines: list[str] = []
    without = {line for above, line in pairwise(initial_lines) if line.startswith("[") and above}
    for line in text.split("\n"):
        is_spaced = not lines or not lines[-1].strip() or lines[-1].startswith("#")
        lines += [line] if is_spaced or not line.startswith("[") or line in without else ["", line]
    return "\n".join(lines)


def _update(table: Any, values: Mapping[str, Any]) -> None:
    """Change the values of a parsed table; equal ones are not touched."""
    for key in [key for key in table if key not in values]:
        table.remove(key)
    for key, value in values.items():
        present = table.get(key)
        if key not in table:
            _append(table, key, value)
        elif repr(_plain(present)) == repr(value):
            continue
        elif isinstance(present, Mapping) and isinstance(value, Mapping):
            _update(present, value)
        elif _is_list_of_tables(present) and _is_list_of_tables(value):
            _update_entries(present, value)
        else:
            table[key] = _parse_item(key, value, table)


def _add_comments(document: Any, comments: Comments) -> None:
    """Add a comment to each key that has none."""
    for name, texts in comments.items():
        table = document.get(name, {})
        for key, text in texts.items():
            if key in table and text and not table[key].trivia.comment:
                table[key].comment(visible(text))


def _append(table: Any, key: str, value: Any) -> None:
    """Add a key above the comments at the end of a table: they are about the table below."""
    item, body = _parse_item(key, value, table), getattr(getattr(table, "value", None), "body", [])
    deferred: list[Any] = []
    while body and body[-1][0] is None:
        deferred.insert(0, body.pop())
    table.append(key, item)
    body.extend(deferred)


def _update_entries(entries: Any, values: Sequence[Mapping[str, Any]]) -> None:
    """Change a list of tables. An entry with the name of another one, or of another class or file, is another entry."""
    names = [_name_entry(value) for value in values]
    for place in reversed(range(len(entries))):
        if _name_entry(entries[place]) not in names:
            del entries[place]
    for place, value in enumerate(values):
        if place < len(entries) and _name_entry(entries[place]) == names[place]:
            _update(entries[place], value)
        else:
            entries.insert(place, _parse_item("entry", value, entries))
    del entries[len(values) :]


def _name_entry(entry: Mapping[str, Any]) -> list[Any]:
    return [_plain(entry.get(key)) for key in ("name", "use", "file", "require")]


def _plain(item: Any) -> Any:
    return item.unwrap() if hasattr(item, "unwrap") else item


def _parse_item(key: str, value: Any, parent: Any) -> Any:
    """Return a value as tomlkit writes it: below a header of its own at the top of a document, else on one line."""
    import tomlkit

    if isinstance(parent, tomlkit.TOMLDocument):
        return tomlkit.parse(format_document({key: value}))[key]
    if isinstance(parent, list):
        return tomlkit.parse(format_document({key: [value]}))[key][0]
    return tomlkit.parse(f"{format_key(key)} = {format_value(value)}")[key]
