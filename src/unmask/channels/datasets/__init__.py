"""Data of channels: crowds and mixes of known structure, grids of places, and check-ins of real users."""

from unmask.channels.datasets.anonymity_systems import Crowds, MixRun, PoolMix, Traffic
from unmask.channels.datasets.locations import AUSTIN, Grid, Visits, alphabet, gowalla, grid, read_check_ins, to_meters

__all__ = [
    "AUSTIN",
    "Crowds",
    "Grid",
    "MixRun",
    "PoolMix",
    "Traffic",
    "Visits",
    "alphabet",
    "gowalla",
    "grid",
    "read_check_ins",
    "to_meters",
]
