"""The publisher's game of a document: choose release, price and fine against attackers who plan campaigns."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
