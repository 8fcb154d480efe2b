"""Evaluation of attacks on graphs with the truth: outcomes, rates, degree classes, runs, and hops."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
