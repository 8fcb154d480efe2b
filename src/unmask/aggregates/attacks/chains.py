"""Chains."""

MAX_R_HAT = 1.05
