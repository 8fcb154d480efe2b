"""Attack a data release as a real adversary would, and say what they get.

    An attack turns a release, and what the adversary already knows, into a belief about each target.
    The truth never passes through it.

Read what is released (`read_table`, `read_graph`, `read_items`, `read_channel`), then `protect` it, `audit` it, or run
a whole `study`; results are data frames, pages, JSON. Below these verbs are the domains, `unmask.tables`,
`unmask.graphs`, `unmask.linkage` and `unmask.channels`, each with its attacks and protections, and
`unmask.measures`. Every attack yields a `Posterior`, a `Partition` or a `View`; `Truth` is met in one place only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unmask.version import __version__ as __version__

if TYPE_CHECKING:
    from unmask import channels, economics, graphs, linkage, measures, tables
    from unmask.api import audit, read_channel, read_graph, read_items, read_table, study
    from unmask.core.errors import FailedError, UnmaskError
    from unmask.core.partition import Partition, View
    from unmask.core.posterior import Posterior
    from unmask.core.truth import ABSENT, UNKNOWN, Truth
    from unmask.protecting import Protected, protect
    from unmask.results import Row
    from unmask.scoring import Audit
    from unmask.suggestions import suggest

__all__ = [
    "ABSENT",
    "UNKNOWN",
    "Audit",
    "FailedError",
    "Partition",
    "Posterior",
    "Protected",
    "Row",
    "Truth",
    "UnmaskError",
    "View",
    "audit",
    "channels",
    "economics",
    "graphs",
    "linkage",
    "measures",
    "protect",
    "read_channel",
    "read_graph",
    "read_items",
    "read_table",
    "study",
    "suggest",
    "tables",
]

_HOMES = {
    "core.errors": ("FailedError", "UnmaskError"),
    "api": ("audit", "read_channel", "read_graph", "read_items", "read_table", "study"),
    "protecting": ("Protected", "protect"),
    "suggestions": ("suggest",),
    "core.posterior": ("Posterior",),
    "results": ("Row",),
    "scoring": ("Audit",),
    "core.truth": ("ABSENT", "UNKNOWN", "Truth"),
    "core.partition": ("Partition", "View"),
}
"""Module -> its public names: it is imported at the first use of one."""


def __getattr__(name: str) -> Any:
    """Return a public object, imported at its first use."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None and name not in __all__:
        from unmask.core.errors import nearest

        raise AttributeError(f"unmask has no {name!r}; {nearest(name, __all__)}")
    value = import_module(f"unmask.{home or name}")
    if home is not None:
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
