"""The one protection of a document: Mondrian, and what it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unmask.document import by_role
from unmask.first_document import DEFAULT_K

if TYPE_CHECKING:
    from unmask.app.shapes import Level


def asked(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the protection of a document is asked; nothing where there is none."""
    (one,) = given.get("protections", [])[:1] or [{}]
    return dict(one.get("with", {}))


def levels_of(given: Mapping[str, Any]) -> dict[str, Level]:
    """The finest levels of columns."""
    return dict(asked(given).get("levels", {}))


def with_protection(given: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """The document with this protection alone, as it is but for what changed; levels of columns that are generalized.

    >>> with_protection({"columns": {"age": "quasi-identifier"}}, k=5, l=None)["protections"]
    [{'use': 'tables.Mondrian', 'with': {'k': 5}}]
    """
    quasi = by_role(given["columns"]).get("quasi_identifiers", [])
    said = {"k": DEFAULT_K, **asked(given), **changed}
    levels = {name: one for name, one in said.get("levels", {}).items() if one is not None and name in quasi}
    kept = {key: one for key, one in {**said, "levels": levels}.items() if one not in (None, {})}
    return {**given, "protections": [{"use": "tables.Mondrian", "with": kept}]}
