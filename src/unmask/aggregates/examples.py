"""Examples of attacks, protections and data sets of published tables, as listed by `unmask.catalog`."""

ATTACKS = ()

PROTECTIONS = ()

DATASETS = ()
