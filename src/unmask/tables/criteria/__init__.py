"""Criteria of a release that need no adversary: k-anonymity, l-diversity, t-closeness and related ones.

Notation: class c has n_c rows, and n_cs of them have sensitive value s. p_s = n_cs / n_c is the share of s in the
class, and q_s its share in all evaluated rows. There are n rows, J classes, and m values that occur. Every criterion is
a function of the matrix n_cs with one number for each class; a release is as weak as its weakest class. The order of
rows, columns and categories, and values that no row has, do not change a criterion.

If `evaluate` has a reference, q is the distribution in this table, which is the table before protection. Otherwise it
is the distribution in the evaluated rows, after suppression. `Criteria.reference` has the table that was used. Each
sensitive column is judged on the same classes; other sensitive columns are not used as quasi-identifiers.
"""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
