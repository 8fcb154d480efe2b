"""Releases made by protections, whose records belong to people, or by generators of synthetic data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unmask.core.arrays import Integers
from unmask.core.randomness import secret_unless
from unmask.tables.table import Table


class Released(NamedTuple):
    """Release, input row of each record (None for synthetic records), and the protection or generator."""

    release: Table
    origin: Integers | None = None
    protection: Any = None


def make_release(maker: Any, table: Table, *, rng: np.random.Generator | None = None) -> Released:
    """Return the release of a table by a protection or a generator.

    maker : function of the table and `rng` that returns (release, origin), or a release with synthetic records only. Or
        an object with `fit(frame)` and `sample(n)`, as in other packages; it uses its own random numbers. A release
        that is not a `Table` is read with the roles of the table

    >>> def margins(table, *, rng):
    ...     return {name: rng.permutation(table[name]) for name in table.names}
    >>> table = Table.read({"age": [30, 40, 50], "ill": list("abb")}, quasi_identifiers="age", sensitive="ill")
    >>> made = make_release(margins, table, rng=np.random.default_rng(1))
    >>> sorted(made.release["ill"]), made.origin
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
    """Return the release as a `Table` with the roles of the original table."""
    if isinstance(release, Table):
        return release
    roles = {"quasi_identifiers": table.quasi_identifiers, "sensitive": table.sensitive, "keep": table.kept}
    names: dict[str, Any] = {role: [column.name for column in columns] for role, columns in roles.items()}
    return Table.read(release, **names, missing=table.missing, like=table)
