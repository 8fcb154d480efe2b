"""Public names of `unmask.aggregates.magnitudes`."""

from unmask.aggregates.magnitudes.magnitude_suppression import MagnitudeAudit as MagnitudeAudit
from unmask.aggregates.magnitudes.magnitude_suppression import MagnitudeCells as MagnitudeCells
from unmask.aggregates.magnitudes.magnitude_suppression import MagnitudeSuppression as MagnitudeSuppression
from unmask.aggregates.magnitudes.magnitude_suppression import audit_magnitudes as audit_magnitudes
from unmask.aggregates.magnitudes.magnitude_suppression import feasible_interval as feasible_interval
from unmask.aggregates.magnitudes.magnitude_suppression import suppress_magnitudes as suppress_magnitudes
from unmask.aggregates.magnitudes.sensitivity import SensitivityRule as SensitivityRule
