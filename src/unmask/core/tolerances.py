"""Numerical tolerances of posteriors and measures, with units and reasons."""

from typing import Final

# --- probabilities --------------------------------------------------------------------------------------------------

MASS_TOLERANCE: Final = 1e-5
"""Probability. Largest distance of sums of rows and weights from 1; entries may be float32, and rows may be long."""

PRIOR_ROUNDING: Final = 1e-12
"""Probability. Largest distance from 1 at which the prior of an absent target is 0."""

VIEW_MASS_TOLERANCE: Final = 1e-9
"""Probability. Largest distance from 1 of partition probabilities and of rows of channels, which are float64."""

PROBABILITY_TIE: Final = 1e-12
"""Probability. Largest difference of equal shares of values."""

CALIBRATION_ROUNDING: Final = 1e-9
"""Probability. Largest difference at which announced and realized means agree for any number of people."""

# --- log-probabilities ----------------------------------------------------------------------------------------------

DOUBLE_LOG_RESOLUTION: Final = 1e-10
"""Nats. Largest difference of equal float64 log-probabilities."""

SINGLE_LOG_RESOLUTION: Final = 1e-5
"""Nats. Largest difference of equal float32 log-probabilities."""

MIN_LOG_PROBABILITY: Final = -80.0
"""Nats. Smallest stored entry. float32 ends at exp(-87), and the dropped mass is below 1e-34."""

SERIES_LIMIT: Final = 1e-3
"""Nats. Log ratio below which divergences are computed by a series, to avoid cancellation."""

# --- losses, as a share of the largest ------------------------------------------------------------------------------

LOSS_TIE: Final = 1e-9
"""Share of the largest expected loss. Largest difference of equally good answers."""

MEDIAN_PRECISION: Final = 1e-6
"""Share of the expected distance. Largest excess of a geometric median over the minimum; beliefs may be float32."""

POINT_TIE: Final = 1e-12
"""Share of the largest distance in a row. Largest distance of equal points."""

# --- means, shares and counts ---------------------------------------------------------------------------------------

VALUE_TIE: Final = 1e-9
"""Share of the largest value. Largest difference of equal values of targets or clusters, because sums are rounded."""

LIMIT_TIE: Final = 1e-9
"""Share of a limit. Largest difference at which a value equals the limit: 1 / 10 is not above 0.1."""

QUANTILE_ROUNDING: Final = 1e-12
"""Share of the total weight. Largest shortfall at which a level counts as reached, because sums are rounded."""

COUNT_ROUNDING: Final = 1e-9
"""Count. Largest shortfall at which a product of a share and a count is rounded up to an integer."""

LINK_TIE: Final = 1e-12
"""Share of the items of a subject. Largest difference of equal shares; distinct counts below 1e12 differ by more."""

WEIGHT_ROUNDING: Final = 1e-15
"""Weight of an item. Largest distance at which a fraction is exact."""
