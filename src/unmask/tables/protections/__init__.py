"""Protections of tables: a table in, a release and the row behind each of its rows out."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
