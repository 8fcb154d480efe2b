"""Audits of prices: what a rational attacker does to releases and to groups of given sizes, and what deters them."""

from unmask.economics.audit.blocks import list_not_run, make_blocks
from unmask.economics.audit.facts import (
    AttackerSource,
    CampaignPrice,
    OutsideGroups,
    PriceFacts,
    ReleasePrice,
    price_releases,
)
from unmask.economics.audit.group_sizes import audit_sizes
from unmask.economics.audit.tables import make_tables

__all__ = [
    "AttackerSource",
    "CampaignPrice",
    "OutsideGroups",
    "PriceFacts",
    "ReleasePrice",
    "audit_sizes",
    "list_not_run",
    "make_blocks",
    "make_tables",
    "price_releases",
]
