"""Attack a data release as a real adversary would, and say what they get.

    An attack turns a release, and what the adversary already knows, into a belief about each target.
    The truth never passes through it.

Read what is released (`read_table`, `read_graph`, `read_items`, `read_channel`), then `protect` it, `audit` it, or run
a whole `study`; results are data frames, pages, JSON. Below these verbs are the domains, `unmask.tables`,
`unmask.graphs`, `unmask.linkage` and `unmask.channels`, each with its attacks and protections, and
`unmask.measures`. Every attack yields a `Posterior`, a `Partition` or a `View`; `Truth` is met in one place only.
"""

from unmask.core.lazy import import_lazily
from unmask.version import __version__ as __version__

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)
