"""Bounds of the adversary's error by privacy criteria: k, l, t, delta, epsilon and the entropies."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
