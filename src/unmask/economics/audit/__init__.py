"""Audits of prices: what a rational attacker does to releases and to groups of given sizes, and what deters them."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
