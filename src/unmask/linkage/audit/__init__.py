"""Audits and study cells of linkage: an adversary says which items belong together."""

from unmask.linkage.audit.judged_guess import JudgedGuess, Sensitivity, compare_guesses
from unmask.linkage.audit.linkage_audit import audit, audit_contingencies
from unmask.linkage.audit.study import (
    ADVERSARY,
    COLUMNS,
    DATASET,
    MEASURES,
    ROLES,
    attack,
    check,
    columns,
    load,
    protect,
)

__all__ = [
    "ADVERSARY",
    "COLUMNS",
    "DATASET",
    "MEASURES",
    "ROLES",
    "JudgedGuess",
    "Sensitivity",
    "attack",
    "audit",
    "audit_contingencies",
    "check",
    "columns",
    "compare_guesses",
    "load",
    "protect",
]
