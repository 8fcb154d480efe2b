"""The rational attacker: costs and payoff of an attack, the best plan, and what deters it."""

from unmask.economics.attacker import Attacker, one_shot
from unmask.economics.campaigns.bounds import Bounds
from unmask.economics.campaigns.campaign import Campaign, campaign
from unmask.economics.deterrence.amounts import (
    break_even,
    deter,
    find_safe_size,
    risk_by_fine,
    stopping_fine,
)
from unmask.economics.deterrence.deterrents import Costs, Deterrents, find_deterrents
from unmask.economics.deterrence.variations import TornadoRow, sweep, tornado
from unmask.economics.game.best_response import BestCampaign, Response
from unmask.economics.game.game import PublisherGame
from unmask.economics.game.publisher import AttackerKind, Move, ProtectedRelease, Publisher, Terms
from unmask.economics.game.sensitivity import Range, Sensitivity, sensitivity
from unmask.economics.plans.groups import count_people_per_target
from unmask.economics.plans.prices import ExploitationTable, Prices, Thresholds, exploitation_table
from unmask.economics.plans.records import play_out, price_posterior, price_records
from unmask.economics.profile import read_attacker, write_attacker

__all__ = [
    "Attacker",
    "AttackerKind",
    "BestCampaign",
    "Bounds",
    "Campaign",
    "Costs",
    "Deterrents",
    "ExploitationTable",
    "Move",
    "Prices",
    "ProtectedRelease",
    "Publisher",
    "PublisherGame",
    "Range",
    "Response",
    "Sensitivity",
    "Terms",
    "Thresholds",
    "TornadoRow",
    "break_even",
    "campaign",
    "count_people_per_target",
    "deter",
    "exploitation_table",
    "find_deterrents",
    "find_safe_size",
    "one_shot",
    "play_out",
    "price_posterior",
    "price_records",
    "read_attacker",
    "risk_by_fine",
    "sensitivity",
    "stopping_fine",
    "sweep",
    "tornado",
    "write_attacker",
]
