"""Optional libraries, and the command that installs them."""

from __future__ import annotations

import re
import shlex
import sys
from importlib import import_module
from typing import Any

from unmask.core.errors import FailedError


def not_installed(feature: str, name: str, otherwise: str = "") -> FailedError:
    """Return the error of a library that is not installed. otherwise : what else can be done

    >>> print(not_installed("Spark", "spark", "leave --spark out"))
    Spark is not installed; install the extra [spark] of unmask (... install ... 'pyspark>=4'), or leave --spark out
    """
    return FailedError(
        f"{feature} is not installed; {describe_installation(name)}{f', or {otherwise}' if otherwise else ''}"
    )


def describe_installation(name: str) -> str:
    """Return how to install an extra, with the command. The command does not name unmask, which is on no package index.

    >>> print(describe_installation("excel"))
    install the extra [excel] of unmask (... -m pip install 'python-calamine>=0.3'...)
    """
    from importlib import metadata

    requirements = [text.partition(";") for text in metadata.requires("unmask") or ()]
    packages = [text.strip() for text, _, marker in requirements if re.search(rf"extra == .{name}.", marker)]
    return f"install the extra [{name}] of unmask ({shlex.join([sys.executable, '-m', 'pip', 'install', *packages])})"


def import_extra(module: str, name: str) -> Any:
    """Import a module of an optional library.

    >>> import_extra("no_such_library", "cluster")
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
