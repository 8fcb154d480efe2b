"""Libraries that only some parts need, and the sentence that says how to get one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from unmask.errors import FailedError


def not_installed(what: str, name: str, otherwise: str = "") -> FailedError:
    """The error of something that an extra brings. otherwise : what else can be done

    >>> print(not_installed("Spark", "spark", "leave --spark out"))
    Spark is not installed; install the extra [spark] of unmask, or leave --spark out
    """
    return FailedError(
        f"{what} is not installed; install the extra [{name}] of unmask{f', or {otherwise}' if otherwise else ''}"
    )


def extra(module: str, name: str) -> Any:
    """The module of an optional library, imported when it is used.

    >>> extra("no_such_library", "cluster")
    Traceback (most recent call last):
    unmask.errors.FailedError: no_such_library is not installed; install the extra [cluster] of unmask
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise  # the library is there, something it needs is not
        raise not_installed(library, name) from None
