"""The rational attacker: what an attack costs and brings, when they stop, and what would stop them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from unmask.economics.margins import Margin, margins
    from unmask.economics.one_by_one import OneByOne, one_by_one
    from unmask.economics.prices import ExploitationTable, Prices, Thresholds, exploitation_table
    from unmask.economics.profile import read_attacker, write_attacker
    from unmask.economics.records import price_records
    from unmask.economics.regret import Influence, Outlook, outlook
    from unmask.economics.response import Bounds, Raid, Response
    from unmask.economics.unknowns import Unknown

__all__ = [
    "Attacker",
    "Bounds",
    "Campaign",
    "Expected",
    "ExploitationTable",
    "Influence",
    "Margin",
    "Move",
    "OneByOne",
    "Outlook",
    "Prices",
    "Protected",
    "Publisher",
    "PublisherGame",
    "Raid",
    "Response",
    "StoppingFine",
    "Sway",
    "Terms",
    "Thresholds",
    "Unknown",
    "break_even",
    "campaign",
    "campaigner",
    "deter",
    "exploitation_table",
    "journalist",
    "margins",
    "one_by_one",
    "one_shot",
    "outlook",
    "play_out",
    "price_posterior",
    "price_records",
    "prosecutor",
    "read_attacker",
    "risk_by_fine",
    "stand_for",
    "stopping_fine",
    "sweep",
    "tornado",
    "write_attacker",
]

_HOMES = {
    "attacker": ("Attacker", "journalist", "one_shot", "prosecutor"),
    "beliefs": ("play_out", "price_posterior"),
    "breakeven": ("break_even",),
    "campaign": ("Campaign", "campaign", "campaigner", "stand_for"),
    "deterrence": ("StoppingFine", "Sway", "deter", "risk_by_fine", "stopping_fine", "sweep", "tornado"),
    "game": ("Expected", "Move", "Protected", "Publisher", "PublisherGame", "Terms"),
    "margins": ("Margin", "margins"),
    "one_by_one": ("OneByOne", "one_by_one"),
    "prices": ("ExploitationTable", "Prices", "Thresholds", "exploitation_table"),
    "profile": ("read_attacker", "write_attacker"),
    "records": ("price_records",),
    "regret": ("Influence", "Outlook", "outlook"),
    "response": ("Bounds", "Raid", "Response"),
    "unknowns": ("Unknown",),
}
"""Module -> the names that it gives: imported with the first of them that is used, as most audits price nothing."""


def __getattr__(name: str) -> Any:
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{home}"), name)
    return value
