"""Protections of graphs: several identities for one person, and changed edges."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
