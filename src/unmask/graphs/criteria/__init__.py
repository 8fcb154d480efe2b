"""Criteria of anonymity that are computed from the release, without an adversary."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
