"""Utility of a release: loss of cells, class sizes, distributions and counting queries.

A released cell is the set of its atomic values. For distributions, a cell is spread uniformly over its atoms. A
suppressed row counts as a row of `*`, so suppression always has a cost. The atoms of a numeric column are the distinct
exact values of the original, and those that only the release has. The atoms of other columns are the declared domain,
with a hierarchy its leaves.
"""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
