"""Audits and study cells of published tables."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, _ = import_lazily(__name__, __file__)

__all__ = ["audit", "audit_files"]
