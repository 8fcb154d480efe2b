"""Magnitude tables: sums of the contributions of enterprises, their sensitive cells, and suppression."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
