"""Synthetic rows with differential privacy, drawn from noisy marginals."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Integers
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.randomness import secret_unless
from unmask.extras import import_extra
from unmask.ranges import Range, check_types
from unmask.tables.column import Column
from unmask.tables.protections.base import exact_numbers, format_call, protected_rows, sort_release
from unmask.tables.protections.marginal_fit import Marginals, draw_rows, fit_consistent, project_on_simplex
from unmask.tables.protections.recoding import write_cells
from unmask.tables.table import Table

MAX_CELLS = 10_000_000
"""Largest number of noisy counts."""


@dataclass(frozen=True)
class NoisyMarginals:
    """Synthetic rows with epsilon-differential privacy, drawn from a distribution with noisy marginals.

    1. All marginals of `order` columns are counted. Each count gets discrete Laplace noise of scale M / epsilon, by
       OpenDP's measurement; M is the number of marginals, because a row counts once in each.
    2. Least squares make the marginals consistent. Each is then projected onto nonnegative counts with the same total.
    3. Iterative proportional fitting finds the distribution of largest entropy with these marginals, over as many
       columns as have a million combinations of values. As many rows as the noisy total are drawn.
    4. Each further column is drawn given the `order` - 1 columns with which it has most mutual information.


    Steps 2 to 4 read only noisy counts. So for every adversary and every row, the odds that the row was in the table
    change by a factor of at most exp(epsilon). An adversary with even prior odds is right with a probability of at most
    exp(epsilon) / (1 + exp(epsilon)).

    Numbers and dates become `bins` intervals of equal width between two `bounds`, or the intervals between more bounds.
    Values beyond the bounds count as the nearest bound.
    With `rng`, for tests and studies, noise of the same distribution is drawn from it, without OpenDP.

    Assumes: bounds, and the values of columns that are not numbers, are public. Each row is one person.

    Fails when: analyses need relations of more columns than `order`; or epsilon is small for the number of cells, so
        that noise exceeds the counts.

    Parameters
    ----------
    epsilon : float
        Privacy loss of one row that is added or removed, in nats.
    order : int
        Number of columns of a marginal, 1 to 3.
    bounds : mapping
        Lowest and highest value of each column of numbers or dates, known without the table; or the ends of all
        intervals, in their order.
    bins : int
        Number of intervals of a column with two bounds.

    References
    ----------
    B. Barak et al., "Privacy, accuracy, and consistency too", PODS 2007; R. McKenna, G. Miklau & D. Sheldon, "Winning
    the NIST contest: a scalable and general approach to differentially private synthetic data", Journal of Privacy and
    Confidentiality 11(3), 2021. Noise: OpenDP, https://opendp.org.

    Examples
    --------
    >>> people = {"age": [20, 25, 38] * 100, "sex": list("ffm") * 100}
    >>> table = Table.read(people, quasi_identifiers=["age", "sex"])
    >>> protection = NoisyMarginals(epsilon=2.0, bounds={"age": (20, 40)}, bins=2)
    >>> release, origin = protection(table, rng=np.random.default_rng(1))
    >>> sorted(set(release["age"])), release.n_rows, origin
    (['[20, 30)', '[30, 40]'], 302, None)
    """

    epsilon: Annotated[float, Range(0, above=True)] = 1.0
    order: Annotated[int, Range(1, 3)] = 2
    bounds: Mapping[str, tuple[float | str, ...]] = field(default_factory=dict, hash=False)
    bins: Annotated[int, Range(1)] = 16

    __repr__ = format_call

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", {name: tuple(ends) for name, ends in self.bounds.items()})
        check_types(type(self), vars(self))

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> tuple[Table, None]:
        """Return synthetic rows, which have no origin."""
        if table.person is not None:
            raise UnmaskError("several rows are one person, and epsilon protects one row; keep one row of each person")
        people = protected_rows(table)
        columns = [self._discretize(column) for column in people.columns]
        sizes = tuple(len(column.levels) for column in columns)
        noisy = self._count_marginals([column.codes for column in columns], sizes, rng)
        consistent = fit_consistent(noisy, sizes)
        total = max(float(next(iter(consistent.values())).sum()), 1.0)
        shares = {subset: project_on_simplex(cells / total) for subset, cells in consistent.items()}
        rng = secret_unless(rng)
        rows = draw_rows(shares, sizes, round(total), rng)
        drawn = iter([replace(column, codes=codes) for column, codes in zip(columns, rows, strict=True)])
        roles = people.quasi_identifiers, people.sensitive, people.kept  # as in `Table.columns`
        quasi_identifiers, sensitive, unchanged = (tuple(itertools.islice(drawn, len(role))) for role in roles)
        settings: dict[str, Any] = {name: getattr(people, name) for name in ("missing", "order", "library")}
        release = Table(quasi_identifiers, sensitive, unchanged, **settings)
        return sort_release(release, np.arange(release.n_rows), rng)[0], None

    def _discretize(self, column: Column) -> Column:
        """Return a column with intervals in place of numbers or dates."""
        if column.levels.kind != "numeric":
            return column
        if column.name not in self.bounds:
            raise UnmaskError(
                f"column {column.name!r} needs bounds, because its smallest and largest value are of single people; "
                f"add bounds={{{column.name}=[LOW, HIGH]}}"
            )
        return _cut(column, self.bounds[column.name], self.bins)

    def _count_marginals(
        self, codes: list[NDArray[np.int32]], sizes: tuple[int, ...], rng: np.random.Generator | None
    ) -> Marginals:
        """Return the marginals with noise."""
        subsets = list(itertools.combinations(range(len(sizes)), min(self.order, len(sizes))))
        shapes = [tuple(sizes[column] for column in subset) for subset in subsets]
        if (n_cells := sum(map(prod, shapes))) > MAX_CELLS:
            raise FailedError(
                f"the marginals have {n_cells:,} counts, expected at most {MAX_CELLS:,}; release fewer columns, "
                "generalize them, or use fewer bins or a smaller order"
            )
        counts = [
            np.bincount(np.ravel_multi_index([codes[column] for column in subset], shape), minlength=prod(shape))
            for subset, shape in zip(subsets, shapes, strict=True)
        ]
        noisy = add_laplace(np.concatenate(counts), self.epsilon, n_marginals=len(subsets), rng=rng)
        parts = np.split(noisy, np.cumsum([len(count) for count in counts])[:-1])
        return {
            subset: part.reshape(shape).astype(np.float64)
            for subset, part, shape in zip(subsets, parts, shapes, strict=True)
        }


def _cut(column: Column, bounds: tuple[float | str, ...], n_bins: int) -> Column:
    """Return the column with intervals; a missing cell stays one."""
    scale, name = column.levels.scale, column.name
    ends = [scale.read(str(bound)) or (np.nan, np.nan) for bound in bounds]
    edges = np.array([low for low, _ in ends])
    if len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise UnmaskError(f"bounds: {name!r} has no rising values, expected for example {name}=[0, 100]")
    if len(edges) == 2:
        edges = np.linspace(edges[0], ends[1][1], n_bins + 1)
    exact = exact_numbers(column) if column.type == "number" else column.levels.low
    if column.type != "number":
        edges = np.unique(np.floor(edges))
    last = len(edges) - 2
    highs = [*map(scale.previous_value, edges[1:-1].tolist()), float(edges[-1])]
    texts: list[str | None] = [scale.write(low, high) for low, high in zip(edges[:-1].tolist(), highs, strict=True)]
    if column.levels.missing >= 0:
        texts.append(None)
    interval = np.clip(np.searchsorted(edges, np.nan_to_num(exact), side="right") - 1, 0, last)
    interval[column.levels.is_missing] = len(texts) - 1
    return write_cells(column, texts, interval[column.codes])


def add_laplace(
    counts: Integers, epsilon: float, *, n_marginals: int, rng: np.random.Generator | None = None
) -> Integers:
    """Return counts with discrete Laplace noise, p(z) proportional to exp(-|z| epsilon / n_marginals).

    Parameters
    ----------
    counts : (n_cells,) array
        Counts of marginals, in each of which a row counts once.
    epsilon : float
        Privacy loss of one row, in nats.
    n_marginals : int
        Number of marginals.
    rng : Generator, optional
        Generator of a study. By default OpenDP draws from the operating system.

    Returns
    -------
    (n_cells,) array
        Whole numbers, which may be negative.

    Raises
    ------
    FailedError
        If OpenDP is needed and not installed.

    References
    ----------
    A. Ghosh, T. Roughgarden & M. Sundararajan, "Universally utility-maximizing privacy mechanisms", SIAM J. Comput.
    41(6), 2012.

    Examples
    --------
    >>> add_laplace(np.array([5, 0, 12]), 1.0, n_marginals=1, rng=np.random.default_rng(1))
    array([ 3,  3, 12])
    """
    if rng is not None:
        p = -np.expm1(-epsilon / n_marginals)
        return counts + rng.geometric(p, len(counts)) - rng.geometric(p, len(counts))
    dp = import_extra("opendp.prelude", "opendp")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measure = dp.binary_search_chain(
        lambda scale: space >> dp.m.then_laplace(scale=scale), d_in=n_marginals, d_out=float(epsilon), T=float
    )
    return np.asarray(measure(counts.tolist()), dtype=np.int64)
