"""Wrong types and keywords, in one sentence."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from unmask.errors import UnmaskError, nearest


def subject_of(value: object) -> str:
    """The part of unmask that a value's class comes from, that of its base for a special one; "" for another's."""
    modules = (kind.__module__.split(".") for kind in reversed(type(value).__mro__))
    return next((parts[1] for parts in modules if parts[0] == "unmask" and len(parts) > 1), "")


def expect(value: object, subject: str, expected: str, maker: str) -> None:
    """Refuse what does not come from a part of unmask; maker : the function that makes what is expected."""
    if subject_of(value) != subject:
        raise UnmaskError(f"{expected}, given {spoken(value)}; make one with {maker}")


def spoken(value: object) -> str:
    """What was given, by its type: its content might be a record."""
    name = type(value).__name__
    return "nothing" if value is None else f"an {name}" if name[0].lower() in "aeiou" else f"a {name}"


def check_keywords(signature: inspect.Signature, given: Mapping[str, Any], what: str) -> None:
    """Refuse a keyword that a function has not, with the nearest one that it has."""
    known = [name for name, one in signature.parameters.items() if one.kind is one.KEYWORD_ONLY and name != "truth"]
    wrong = next((name for name in given if name not in known), None)
    if wrong is not None and not any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values()):
        raise UnmaskError(f"{what} has no {wrong!r}; {nearest(wrong, known)}")
