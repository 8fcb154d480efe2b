"""Tables of people: reading releases, protecting them, and what an adversary learns from them."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
