"""Criteria of a release, without an adversary: k, l, t and their relatives, read off one count matrix.

Notation: class c holds n_c rows, n_cs of them with sensitive value s; p_s = n_cs / n_c inside the class, q_s over all
evaluated rows; n rows, J classes, m values that occur. Every criterion below is a function of the matrix n_cs and
returns one number per class; a release is as weak as its weakest class. Rows enter as integer codes, so the result is
the same under any order of rows, columns, categories, and values that no row carries change nothing.

q is that of the table before protection where `evaluate` is given one as the reference; otherwise it is taken over the
evaluated rows, that is over the release after suppression. `Criteria.reference` says which. Other sensitive columns
never join the quasi-identifiers: each sensitive column is judged on the same classes.
"""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
