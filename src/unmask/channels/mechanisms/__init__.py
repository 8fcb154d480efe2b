"""Mechanisms that protect one secret at a time, and their channels."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
