"""Imports by name: of a function or a class, and of modules of a package when a name of theirs is first used."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any


def import_source(source: str) -> Any:
    """Import a function or a class by "module:name"."""
    module, _, name = source.partition(":")
    return attrgetter(name)(import_module(module))


def import_lazily(package: str, stub: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package with a stub, `__init__.pyi`, that lists its names.

    Type checkers and editors use the stub, too. See SPEC 1 of Scientific Python.

    Parameters
    ----------
    package : str
        `__name__` of the package.
    stub : str
        `__file__` of the package; the stub is next to it.

    Returns
    -------
    (function, function, list of str)
        The three attributes of the package.
    """
    home_of = _read_stub(Path(stub).with_suffix(".pyi"))

    def get(name: str) -> Any:
        if name not in home_of:
            from unmask.core.errors import nearest

            raise AttributeError(f"{package} has no {name!r}; {nearest(name, list(home_of))}")
        is_module = home_of[name] == package
        value = import_module(f"{package}.{name}") if is_module else getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    public = sorted(name for name in home_of if not name.startswith("_"))
    return get, lambda: sorted({*vars(sys.modules[package]), *home_of}), public


def _read_stub(path: Path) -> dict[str, str]:
    """Return the module of each public name."""
    statements = ast.parse(path.read_text(encoding="utf-8")).body
    imports = [statement for statement in statements if isinstance(statement, ast.ImportFrom)]
    return {alias.name: str(statement.module) for statement in imports for alias in statement.names}
