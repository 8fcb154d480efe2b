"""Signatures of functions that pass keywords on to other functions or to dataclasses."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar, get_type_hints

Call = TypeVar("Call", bound=Callable[..., Any])


def with_parameters(*sources: Callable[..., Any], only: tuple[str, ...] = ()) -> Callable[[Call], Call]:
    """Return a decorator that adds parameters of functions, or fields of dataclasses, to a signature, as keywords.

    They take the place of `**keywords` and of parameters of the same name. `documented_by` lists the sources.

    only : names of the parameters to add; all by default
    """
    added = {
        name: parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints.get(name, Any))
        for source in sources
        for hints in [get_type_hints(source, include_extras=True)]
        for name, parameter in signature(source).parameters.items()
        if not only or name in only
    }

    def decorate(function: Call) -> Call:
        declared = signature(function).parameters.items()
        kept = [item for name, item in declared if name not in added and item.kind is not Parameter.VAR_KEYWORD]
        described: Any = function
        described.__signature__ = Signature([*kept, *added.values()])
        described.__annotations__ |= {name: parameter.annotation for name, parameter in added.items()}
        described.documented_by = (*getattr(function, "documented_by", ()), *sources)
        return function

    return decorate
