"""Audits and study cells of channels: a mechanism turns a secret into an output, and an adversary estimates it."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, _ = import_lazily(__name__, __file__)

__all__ = ["UNIFORM", "audit", "audit_channels", "audit_files"]
