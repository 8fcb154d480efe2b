"""Audits and study cells of tables: adversaries re-identify people and infer their values."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, _ = import_lazily(__name__, __file__)

__all__ = ["audit"]
