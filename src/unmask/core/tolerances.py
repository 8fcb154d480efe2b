"""Numerical tolerances of posteriors and measures, each with its unit and its reason."""

from typing import Final

# --- probabilities --------------------------------------------------------------------------------------------------

MASS_TOLERANCE: Final = 1e-5
"""Probability. Rows and weights may differ from sum 1 by this: entries may be float32, a row may have a million."""

PRIOR_ROUNDING: Final = 1e-12
"""Probability. A prior that sums to 1 up to this leaves nothing to "none of these": it is the rounding of a sum."""

VIEW_MASS_TOLERANCE: Final = 1e-9
"""Probability. Probabilities of partitions and rows of channels may differ from sum 1 by this; they are float64."""

PROBABILITY_TIE: Final = 1e-12
"""Probability. Values that differ by less are equally common."""

CALIBRATION_ROUNDING: Final = 1e-9
"""Probability. Announced and realized means that differ by less agree, whatever the number of people."""

# --- log-probabilities ----------------------------------------------------------------------------------------------

DOUBLE_LOG_RESOLUTION: Final = 1e-10
"""Nats. Log-probabilities in float64 that differ by less are equal."""

SINGLE_LOG_RESOLUTION: Final = 1e-5
"""Nats. Log-probabilities in float32 that differ by less are equal."""

MIN_LOG_PROBABILITY: Final = -80.0
"""Nats. Smaller entries are dropped: float32 ends at exp(-87), and the dropped mass is below 1e-34."""

SERIES_LIMIT: Final = 1e-3
"""Nats. Divergences of smaller log ratios are computed by a series, which keeps their last digits."""

# --- losses, as a share of the largest ------------------------------------------------------------------------------

LOSS_TIE: Final = 1e-9
"""Share of the largest expected loss. Answers that differ by less are equally good."""

MEDIAN_PRECISION: Final = 1e-6
"""Share of the expected distance by which a geometric median may exceed the minimum; beliefs may be float32."""

POINT_TIE: Final = 1e-12
"""Share of the largest distance in a row. Points that are nearer than this are the same point."""

# --- means, shares and counts ---------------------------------------------------------------------------------------

VALUE_TIE: Final = 1e-9
"""Share of the largest value. Values of targets, or of clusters, that differ by less agree: sums are rounded."""

LIMIT_TIE: Final = 1e-9
"""Share of a limit. A value that differs by less is at the limit: 1 / 10 is not above 0.1."""

QUANTILE_ROUNDING: Final = 1e-12
"""Share of the total weight. A level that is missed by less is reached: weights are added up."""

COUNT_ROUNDING: Final = 1e-9
"""Count. A product of a share and a count that is below a whole number by less is that number."""

LINK_TIE: Final = 1e-12
"""Share of the items of a subject. Shares that differ by less are equal: counts below 1e12 never do."""

WEIGHT_ROUNDING: Final = 1e-15
"""Weight of an item. A fraction that is nearer than this is exact."""
