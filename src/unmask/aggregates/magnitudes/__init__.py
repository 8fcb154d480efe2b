"""Magnitude tables: sums of the contributions of enterprises, their sensitive cells, and suppression."""

from unmask.aggregates.magnitudes.magnitude_suppression import (
    MagnitudeAudit,
    MagnitudeCells,
    MagnitudeSuppression,
    audit_magnitudes,
    feasible_interval,
    suppress_magnitudes,
)
from unmask.aggregates.magnitudes.sensitivity import SensitivityRule

__all__ = [
    "MagnitudeAudit",
    "MagnitudeCells",
    "MagnitudeSuppression",
    "SensitivityRule",
    "audit_magnitudes",
    "feasible_interval",
    "suppress_magnitudes",
]
