"""The rational attacker: what an attack costs him, what it brings him, when he stops, and what would stop him."""

from unmask.economics.attacker import Attacker
from unmask.economics.baselines import journalist, one_shot, prosecutor
from unmask.economics.beliefs import price_posterior
from unmask.economics.deterrence import Offer, Sway, break_even, deter, menu, sweep, tornado
from unmask.economics.prices import ExploitationTable, Prices, Thresholds, exploitation_table, price_records

__all__ = [
    "Attacker",
    "ExploitationTable",
    "Offer",
    "Prices",
    "Sway",
    "Thresholds",
    "break_even",
    "deter",
    "exploitation_table",
    "journalist",
    "menu",
    "one_shot",
    "price_posterior",
    "price_records",
    "prosecutor",
    "sweep",
    "tornado",
]
