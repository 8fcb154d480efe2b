"""Wrong types and keywords, in one sentence."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from unmask.core.errors import UnmaskError, nearest


def check_keywords(signature: inspect.Signature, given: Mapping[str, Any], what: str) -> None:
    """Refuse a keyword that a function has not, with the nearest one that it has."""
    known = [name for name, one in signature.parameters.items() if one.kind is one.KEYWORD_ONLY and name != "truth"]
    wrong = next((name for name in given if name not in known), None)
    if wrong is not None and not any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values()):
        raise UnmaskError(f"{what} has no {wrong!r}; {nearest(wrong, known)}")
