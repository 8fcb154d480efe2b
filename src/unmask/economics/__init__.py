"""The rational attacker: what an attack costs and brings, when they stop, and what would stop them."""

from unmask.economics.attacker import Attacker, journalist, one_shot, prosecutor
from unmask.economics.beliefs import play_out, price_posterior
from unmask.economics.breakeven import break_even
from unmask.economics.campaign import Campaign, campaign, campaigner, stand_for
from unmask.economics.deterrence import (
    StoppingFine,
    Sway,
    deter,
    risk_by_fine,
    stopping_fine,
    sweep,
    tornado,
)
from unmask.economics.game import Expected, Move, Protected, Publisher, PublisherGame, Terms
from unmask.economics.one_by_one import OneByOne, one_by_one
from unmask.economics.prices import ExploitationTable, Prices, Thresholds, exploitation_table
from unmask.economics.profile import read_attacker, write_attacker
from unmask.economics.records import price_records
from unmask.economics.response import Bounds, Raid, Response
from unmask.economics.sensitivity import Range, Sensitivity, sensitivity

__all__ = [
    "Attacker",
    "Bounds",
    "Campaign",
    "Expected",
    "ExploitationTable",
    "Move",
    "OneByOne",
    "Prices",
    "Protected",
    "Publisher",
    "PublisherGame",
    "Raid",
    "Range",
    "Response",
    "Sensitivity",
    "StoppingFine",
    "Sway",
    "Terms",
    "Thresholds",
    "break_even",
    "campaign",
    "campaigner",
    "deter",
    "exploitation_table",
    "journalist",
    "one_by_one",
    "one_shot",
    "play_out",
    "price_posterior",
    "price_records",
    "prosecutor",
    "read_attacker",
    "risk_by_fine",
    "sensitivity",
    "stand_for",
    "stopping_fine",
    "sweep",
    "tornado",
    "write_attacker",
]
