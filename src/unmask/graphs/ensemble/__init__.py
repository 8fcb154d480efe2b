"""Ensemble of attacks: rounds without part of the seeds, votes weighted by withheld seeds, announced success."""

from unmask.graphs.ensemble.ensemble import Announced, Ensemble

__all__ = ["Announced", "Ensemble"]
