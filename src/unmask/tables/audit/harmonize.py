"""The tables of an audit as an adversary reads them: what others renamed, rounded, grouped or hid is understood."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.tables.audit import cautions
from unmask.tables.reinterpret import read_coarse, unify_spelling, with_readings
from unmask.tables.sensitive_bands import band_sensitive_values
from unmask.tables.table import Table


class AsRead(NamedTuple):
    """The tables as they are read, and what of that the owner is told."""

    original: Table | None
    control: Table | None
    releases: dict[str, Any]
    cautions: tuple[str, ...]


def as_read(
    original: Table | None,
    control: Table | None,
    releases: dict[str, Any],
    *,
    register: Table | None,
    origins: Mapping[str, NDArray[np.int64]],
    made: Collection[str],
) -> AsRead:
    """All tables in one spelling, cells of releases that stand for several values as all of these, by the people of the
    original or of a register, and sensitive values of people as coarse as releases state them.

    made : releases of known protections, whose cells are as these write them
    """
    if original is not None:
        outside = [] if control is None else [control]
        original, spelt = unify_spelling(original, [*outside, *releases.values()])
        control = spelt.pop(0) if outside else None
        releases = dict(zip(releases, spelt, strict=True))
    people = register if original is None else original
    plain = {name: one for name, one in releases.items() if isinstance(one, Table) and name not in made}
    if not isinstance(people, Table):  # nobody is given, or a register that is counted
        return AsRead(original, control, releases, ())
    read = {name: read_coarse(people, one, origins.get(name)) for name, one in plain.items()}
    releases = releases | {name: with_readings(plain[name], how) for name, how in read.items()}
    told = tuple(cautions.read_so(read))
    if original is None:
        return AsRead(original, control, releases, told)
    stated = [one for one in releases.values() if isinstance(one, Table)]
    original, coarser = band_sensitive_values(original, stated)
    control = None if control is None else band_sensitive_values(control, stated)[0]
    return AsRead(original, control, releases, (*told, *cautions.stated_so(coarser)))
