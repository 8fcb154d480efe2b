"""Public names of `unmask.economics.audit`."""

from unmask.economics.audit.blocks import list_not_run as list_not_run
from unmask.economics.audit.blocks import make_blocks as make_blocks
from unmask.economics.audit.facts import AttackerSource as AttackerSource
from unmask.economics.audit.facts import CampaignPrice as CampaignPrice
from unmask.economics.audit.facts import OutsideGroups as OutsideGroups
from unmask.economics.audit.facts import PriceFacts as PriceFacts
from unmask.economics.audit.facts import ReleasePrice as ReleasePrice
from unmask.economics.audit.facts import price_releases as price_releases
from unmask.economics.audit.group_sizes import audit_sizes as audit_sizes
from unmask.economics.audit.tables import make_tables as make_tables
