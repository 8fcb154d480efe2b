"""The text of a document: values, tables and reasons of TOML, which the standard library only reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any


def text_of_value(value: Any) -> str:
    """A value of TOML on one line.

    >>> text_of_value({"role": "sensitive", "order": ["low", "high"]}), text_of_value(True)
    ('{ role = "sensitive", order = ["low", "high"] }', 'true')
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_of(key)} = {text_of_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(text_of_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def key_of(name: str) -> str:
    """A key of TOML: bare where it may be, else quoted."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else text_of_value(name)


def section(head: str, settings: Mapping[str, Any], why: Mapping[str, str] | None = None) -> str:
    """A table of a document; why : key -> the reason that stands behind it."""
    lines = [f"{key_of(key)} = {text_of_value(value)}" for key, value in settings.items()]
    width = min(max(map(len, lines), default=0), 60)
    reasons = [(why or {}).get(key, "") for key in settings]
    said = (f"{line:{width}}  # {reason}" if reason else line for line, reason in zip(lines, reasons, strict=True))
    return "\n".join((head, *said))


def whole_text(title: str, sections: Iterable[str]) -> str:
    """A document."""
    return "\n\n".join((f"title = {text_of_value(title)}", *sections)) + "\n"
