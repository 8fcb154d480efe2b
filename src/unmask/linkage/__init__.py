"""Linkage of items published under pseudonyms: attacks, protections, and data."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
