"""Libraries that only some parts need, and the sentence that says how to get one."""

from __future__ import annotations

import re
import shlex
import sys
from importlib import import_module, metadata
from typing import Any

from unmask.core.errors import FailedError


def not_installed(what: str, name: str, otherwise: str = "") -> FailedError:
    """The error of something that an extra brings. otherwise : what else can be done

    >>> print(not_installed("Spark", "spark", "leave --spark out"))
    Spark is not installed; install the extra [spark] of unmask (... install ... 'pyspark>=4'), or leave --spark out
    """
    return FailedError(f"{what} is not installed; {installing(name)}{f', or {otherwise}' if otherwise else ''}")


def installing(name: str) -> str:
    """Return how to install an extra, with the command. Not by the name of unmask: it is on no package index.

    >>> print(installing("excel"))
    install the extra [excel] of unmask (... -m pip install 'python-calamine>=0.3')
    """
    texts = [one.partition(";") for one in metadata.requires("unmask") or ()]
    packages = [one[0].strip() for one in texts if re.search(rf"extra == .{name}.", one[2])]
    return f"install the extra [{name}] of unmask ({shlex.join([sys.executable, '-m', 'pip', 'install', *packages])})"


def extra(module: str, name: str) -> Any:
    """The module of an optional library, imported when it is used.

    >>> extra("no_such_library", "cluster")
    Traceback (most recent call last):
    unmask.core.errors.FailedError: no_such_library is not installed; install the extra [cluster] of unmask (...)
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise  # the library is there, something it needs is not
        raise not_installed(library, name) from None
