"""Signatures of functions that pass keywords to other functions or to dataclasses."""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Parameter, Signature, isclass, signature
from typing import Any, TypeVar, get_type_hints

Call = TypeVar("Call", bound=Callable[..., Any])


def _resolve_hints(source: Callable[..., Any], only: Collection[str]) -> dict[str, Any]:
    """Return the types of the parameters to add only; types of other parameters may need slow imports."""
    if isclass(source) or not only:
        return get_type_hints(source, include_extras=True)

    def described() -> None: ...

    described.__annotations__ = {name: hint for name, hint in source.__annotations__.items() if name in only}
    return get_type_hints(described, source.__globals__, include_extras=True)


def with_parameters(
    *sources: Callable[..., Any], only: tuple[str, ...] = (), first: bool = False
) -> Callable[[Call], Call]:
    """Return a decorator that adds parameters of functions, or fields of dataclasses, to a signature as keywords.

    They replace `**keywords` and parameters with the same names. `documented_by` lists the sources.

    only  : names of the parameters to add, in this order; default: all
    first : True to add them before the other keywords
    """
    available = {
        name: parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints.get(name, Any))
        for source in sources
        for hints in [_resolve_hints(source, only)]
        for name, parameter in signature(source).parameters.items()
    }
    added = {name: available[name] for name in only or available}

    def decorate(function: Call) -> Call:
        declared = signature(function).parameters.items()
        remaining = [item for name, item in declared if name not in added and item.kind is not Parameter.VAR_KEYWORD]
        keywords = [item for item in remaining if item.kind is Parameter.KEYWORD_ONLY]
        arguments = [item for item in remaining if item not in keywords]
        described: Any = function
        ordered = (*added.values(), *keywords) if first else (*keywords, *added.values())
        described.__signature__ = Signature([*arguments, *ordered])
        described.__annotations__ |= {name: parameter.annotation for name, parameter in added.items()}
        inner = (source for item in sources for source in getattr(item, "documented_by", ()))
        described.documented_by = (*getattr(function, "documented_by", ()), *sources, *inner)
        return function

    return decorate
