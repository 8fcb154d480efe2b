"""Policies of acceptable results: conditions with their sources, and verdicts on the results of a release."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
