"""Channels: mechanisms that show Y in the place of X, what an adversary estimates behind them, and the best ones."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
