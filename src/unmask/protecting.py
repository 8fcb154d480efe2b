"""Protection of a table, and the information that it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

import unmask
from unmask.core.errors import FailedError, UnmaskError
from unmask.ranges import Option, Range, spoken
from unmask.results import as_json

if TYPE_CHECKING:
    from unmask.tables import SuppressCells, Table
    from unmask.tables.utility.evaluation import InformationLoss


@dataclass(frozen=True, eq=False, repr=False)
class Protected:
    """A release and its cost, as `protect` returns it. It unpacks into the release and its origin.

    release : table that may be published
    origin  : (n_released,) the row of the original behind each record; it reverses the release. None for synthetic rows
    facts   : rows, classes, the smallest class, and the information lost; only rows if these are synthetic
    width   : uncertainty of a released cell of each column, see `tables.utility`
    """

    release: Table
    origin: NDArray[np.int64] | None
    facts: Mapping[str, float]
    width: Mapping[str, Any]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.release, self.origin))

    def to_frame(self, *, library: str | None = None) -> Any:
        """Return the release as a data frame, see `tables.Table.to_frame`."""
        return self.release.to_frame(library=library)

    def to_json(self) -> str:
        """Return the facts as the JSON that `unmask protect --json` prints."""
        width = [{"column": name, **vars(column)} for name, column in self.width.items()]
        return as_json("protect", results=[self.facts], tables={"width": width})

    def __repr__(self) -> str:
        return describe_cost(self.facts, self.width)


def describe_cost(facts: Mapping[str, Any], width: Mapping[str, Any]) -> str:
    """Return the cost of a release in a sentence. facts, width : as in `Protected`"""
    from unmask.results.formats import percent
    from unmask.results.words import plural

    if "classes" not in facts:
        return f"{facts['rows']:,} synthetic rows"
    by_k_alone = f" ({percent(facts['gcp_of_k_alone'])} by k alone)" if "gcp_of_k_alone" in facts else ""
    people = facts.get("k_people", 0)
    smallest = plural(people, "person", "people") if people else f"{facts['k']}"
    overlap = (people or facts["k"]) * facts["classes"] > facts["rows"]
    sizes = f"in which everyone matches rows of at least {smallest}" if overlap else f"of at least {smallest}"
    held_back = f", {facts['held_back']:,} people held back" if "held_back" in facts else ""
    return (
        f"{facts['rows']:,} rows in {plural(facts['classes'], 'class', 'classes')} {sizes}{held_back}, information "
        f"lost {percent(facts['gcp'])}{by_k_alone}, mean width of a cell: "
        + ", ".join(f"{name} {column}" for name, column in width.items())
    )


def protect(
    table: unmask.tables.Table,
    protection: Annotated[Any, Option("Protection", "--with", "NAME:KEY=VALUE")] = None,
    *,
    k: int = 10,
    l: int | None = None,  # noqa: E741  # the field's letter
    t: float | None = None,
    levels: Mapping[str, float | str] | None = None,
    coarsen: Annotated[Mapping[str, float | str] | None, Option("Protection", metavar="COLUMN=LEVEL")] = None,
    hold_back: Annotated[float, Range(0, 1, below=True), Option("Protection")] = 0.0,
    rng: np.random.Generator | None = None,
) -> Protected:
    """Generalize a table until every class has k people, l values and distance t, or apply another protection.

    protection : protection of tables, by default Mondrian: its name in unmask list, with parameters after colons.
        Python takes the object, or your own: called with the table, it returns a release and its origin,
        which is None if rows are synthetic
    k, l, t    : parameters of `tables.Mondrian`, which protects by default
    levels     : finest levels of quasi-identifiers, for `tables.Mondrian`
    coarsen    : recode a column of the release to wider bins, a period, a level, hidden characters, or *. See
        `tables.Generalize`
    hold_back  : share of the people to hold back at random, as control group of the audit. It needs the origin
    rng        : for studies only; by default a release is drawn by the operating system's randomness

    >>> import unmask
    >>> table = unmask.read_table(
    ...     {"age": [30, 31, 40, 41], "ill": list("abab")}, quasi_identifiers="age", sensitive="ill"
    ... )
    >>> unmask.protect(table, k=2).release["age"].tolist()
    ['[30, 31]', '[30, 31]', '[40, 41]', '[40, 41]']
    """
    from unmask.tables import Generalize, Mondrian, SuppressCells, Table, criteria, utility
    from unmask.tables.control.holdout import Sample
    from unmask.tables.control.holdout import hold_back as divide

    if not isinstance(table, Table):
        raise UnmaskError(f"protect takes a table in memory, given {spoken(table)}; make one with unmask.read_table")
    if table.counts is not None:
        raise UnmaskError("an engine counted this table, so it has no rows to protect; use unmask protect --engine")
    chosen = Mondrian(k=k, l=l, t=t, levels=levels or {}) if protection is None else protection
    people = divide(table, hold_back, rng=rng) if hold_back else Sample(table)
    pair = chosen(people.members) if rng is None else chosen(people.members, rng=rng)
    is_release = isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], Table)
    if not is_release or (pair[1] is not None and np.shape(pair[1]) != (pair[0].n_rows,)):
        raise UnmaskError(
            f"the protection returned {spoken(pair)}, expected a table and the row behind each of its rows"
        )
    release, origin = pair
    if origin is None:
        if hold_back:
            raise UnmaskError("synthetic rows do not show who was held back; leave hold_back out and split the file")
        release = Generalize(coarsen)(release, rng=rng)[0] if coarsen else release
        return Protected(release, None, {"rows": release.n_rows}, {})
    if coarsen:
        release, order = Generalize(coarsen)(release, rng=rng)
        origin = origin[order]
    loss = utility.information_loss(people.members, release, origin)
    facts = measure_release(release, loss)
    if people.members.person is not None:
        persons = people.members.person[origin]
        facts["k_people"], facts["person_share"] = criteria.people_in_classes(release, persons)
    for name, reached in _list_sizes(chosen, release, facts) if isinstance(chosen, SuppressCells) else ():
        if reached < getattr(chosen, name):
            raise FailedError(
                f"{chosen!r} leaves {name} = {reached}, expected at least {getattr(chosen, name)}: no further cell may "
                "be suppressed; allow a larger rate or more columns, or generalize first"
            )
    if people.control is not None:
        facts["held_back"] = people.control.n_people
    if isinstance(chosen, Mondrian) and chosen.demands:
        plain = chosen.without_sensitive_constraints()(people.members)
        facts["gcp_of_k_alone"] = utility.information_loss(people.members, *plain).gcp
    return Protected(release, origin if people.member is None else people.member[origin], facts, loss.width)


def _list_sizes(chosen: SuppressCells, release: Table, facts: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield the required sizes of classes by name, and the smallest class of the release."""
    from unmask.tables import criteria

    yield "k", facts.get("k_people", facts["k"])
    for name, n_columns in criteria.SUBSETS.items():
        if getattr(chosen, name) > 1:
            yield name, criteria.smallest_class_of_subsets(release, n_columns)


def measure_release(release: Table, loss: InformationLoss) -> dict[str, float]:
    """Return the rows, the classes, the smallest class and the information lost."""
    from unmask.tables import criteria

    sizes = criteria.evaluate(release, sensitive=())
    return {
        "rows": release.n_rows,
        "classes": sizes.classes,
        "k": sizes.k,
        "gcp": loss.gcp,
        "average_class_size": release.n_rows / sizes.classes,
    }
