"""Ensemble of attacks: rounds on parts of the seeds, votes weighed by the withheld ones, and the success announced."""

from unmask.graphs.ensemble.ensemble import Announced, Ensemble

__all__ = ["Announced", "Ensemble"]
