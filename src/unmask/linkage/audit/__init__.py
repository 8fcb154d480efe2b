"""Audits and study cells of linkage: an adversary partitions items into clusters."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, _ = import_lazily(__name__, __file__)

__all__ = ["JudgedGuess", "Sensitivity", "audit", "audit_contingencies", "audit_files", "compare_guesses"]
