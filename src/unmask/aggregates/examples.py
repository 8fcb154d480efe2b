"""Examples of attacks, protections and data sets of published tables, as listed by `unmask.catalog`."""

from unmask import aggregates

ATTACKS = (aggregates.Reconstructor(),)

PROTECTIONS = (
    aggregates.SuppressSmallCounts(seconds=0.0),
    aggregates.RoundCounts(),
    aggregates.PerturbByCellKeys(),
)

DATASETS = ()
