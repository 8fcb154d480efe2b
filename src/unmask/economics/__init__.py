"""The rational attacker: costs and payoff of an attack, the best plan, and what deters it."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
