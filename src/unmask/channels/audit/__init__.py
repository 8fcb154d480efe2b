"""Audits and study cells of channels: a mechanism turns a secret into an output, and an adversary estimates it."""

from unmask.channels.audit.channel_audit import UNIFORM, audit, audit_channels
from unmask.channels.audit.study import (
    ADVERSARY,
    COLUMNS,
    DATASET,
    MEASURES,
    ROLES,
    attack,
    believed,
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
    "UNIFORM",
    "attack",
    "audit",
    "audit_channels",
    "believed",
    "check",
    "columns",
    "load",
    "protect",
]
