"""Releases of a table by a protection, whose rows are people's, or by a generator, whose rows are not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.randomness import secret_unless
from unmask.tables.table import Table


class Released(NamedTuple):
    """A release, the row of the table behind each record (None where no record is anybody's), and what made it."""

    release: Table
    origin: NDArray[np.int64] | None = None
    protection: Any = None


def make_release(maker: Any, table: Table, *, rng: np.random.Generator | None = None) -> Released:
    """Make a release of a table by a protection or a generator.

    maker : called with the table and `rng`, it returns a release and its origin, or a release alone: then no row is
            anybody's. Or it has `fit(frame)` and `sample(n)`, as generators of other packages do; those draw by
            themselves. A release that is no `Table` is read like the table, with its roles.

    >>> def margins(table, *, rng):
    ...     return {name: rng.permutation(table[name]) for name in table.names}
    >>> table = Table.read({"age": [30, 40, 50], "ill": list("abb")}, quasi_identifiers="age", sensitive="ill")
    >>> found = make_release(margins, table, rng=np.random.default_rng(1))
    >>> sorted(found.release["ill"]), found.origin
    (['a', 'b', 'b'], None)
    """
    if callable(maker):
        result = maker(table, rng=secret_unless(rng))
    else:
        maker.fit(table.to_frame())
        result = maker.sample(table.n_rows)
    release, origin = result if isinstance(result, tuple) else (result, None)
    return Released(read_like(release, table), None if origin is None else np.asarray(origin), maker)


def read_like(release: Any, table: Table) -> Table:
    """Return a release with the roles of the table; a table as it is."""
    if isinstance(release, Table):
        return release
    roles = {"quasi_identifiers": table.quasi_identifiers, "sensitive": table.sensitive, "keep": table.kept}
    names: dict[str, Any] = {role: [column.name for column in columns] for role, columns in roles.items()}
    return Table.read(release, **names, missing=table.missing, like=table)
