"""Signatures of functions that take the fields of a dataclass as keywords."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature, signature
from typing import Any, TypeVar

Call = TypeVar("Call", bound=Callable[..., Any])


def with_fields(kind: type) -> Callable[[Call], Call]:
    """Return a decorator that adds the fields of a dataclass to the signature of a function, as keywords."""

    def decorate(function: Call) -> Call:
        own = [one for one in signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD]
        fields = [one.replace(kind=one.KEYWORD_ONLY) for one in signature(kind).parameters.values()]
        function.__signature__ = Signature([*own, *fields])  # type: ignore[attr-defined]
        return function

    return decorate
