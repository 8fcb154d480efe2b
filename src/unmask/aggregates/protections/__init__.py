"""Protections of published tables: suppression, rounding and cell keys, and the information that they lose."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
