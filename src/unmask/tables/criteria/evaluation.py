"""All criteria of one release, from one pass over its rows."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import CsrRows
from unmask.core.errors import UnmaskError
from unmask.tables.attacks.relation import Relation, classes_intersect, relation_of
from unmask.tables.criteria.closeness import (
    beta_basic,
    beta_likeness,
    delta_disclosure,
    delta_up,
    t_equal,
    t_hierarchical,
    t_kl,
    t_ordered,
)
from unmask.tables.criteria.diversity import alpha, l_entropy, l_recursive, map_error
from unmask.tables.criteria.histograms import Histograms, hierarchy_paths, rank_order
from unmask.tables.criteria.households import Households, evaluate_households
from unmask.tables.criteria.log_linear import model_risk
from unmask.tables.criteria.risk import journalist, marketer, population_sizes, prosecutor, sample_weight_risk
from unmask.tables.criteria.survey_errors import error_of_expected_reidentifications, estimate_mean
from unmask.tables.meanings import scale_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unmask.tables.column import Column
    from unmask.tables.levels import Missing
    from unmask.tables.table import Table


@dataclass(frozen=True, kw_only=True)
class IdentityCriteria:
    """Criteria of the classes of a release, without sensitive values.

    Parameters
    ----------
    rows : int
        Evaluated rows.
    classes : int
        Distinct combinations of quasi-identifiers.
    k : int
        Smallest number of candidates of a row.
    unique_rows : int
        Rows with one candidate.
    unique_share, unique_share_low, unique_share_high : float | None
        Share of the population that these rows represent, and its 95 % interval by the survey design; None without
        weights.
    prosecutor_average : float
        Probability of re-identifying a row, mean over rows.
    prosecutor_max : float
        Largest probability of a row.
    journalist_average : float | None
        Mean risk from a journalist; None without a population.
    journalist_max : float | None
        Largest probability of a row.
    marketer : float | None
        Share that a marketer re-identifies; None without a population.
    k_map : int | None
        Smallest number of people of the population who fit a row; None without a population.
    population_uniques : int | None
        Rows that fit a single person of the population; None without a population.
    individual_risk_average : float | None
        Mean risk by survey weights; None without weights.
    individual_risk_max : float | None
        Largest risk of a class.
    model_risk_average, model_risk_max : float | None
        Probability of re-identifying a row by a log-linear model of the population, see `model_risk`: mean over rows,
        and largest; None without weights or the population size.
    expected_reidentifications : float | None
        Sum of the risk by survey weights over all rows.
    expected_reidentifications_low, expected_reidentifications_high : float | None
        Ends of its 95 % interval over samples of the same design.
    household_k : int | None
        Smallest number of households with the same members; None without households.
    household_risk_average, household_risk_max : float | None
        Probability that a member of the person's household is re-identified: mean over rows, and largest.
    """

    rows: int
    classes: int
    k: int
    unique_rows: int
    unique_share: float | None
    unique_share_low: float | None
    unique_share_high: float | None
    prosecutor_average: float
    prosecutor_max: float
    journalist_average: float | None = None
    journalist_max: float | None = None
    marketer: float | None = None
    k_map: int | None = None
    population_uniques: int | None = None
    individual_risk_average: float | None = None
    individual_risk_max: float | None = None
    model_risk_average: float | None = None
    model_risk_max: float | None = None
    expected_reidentifications: float | None = None
    expected_reidentifications_low: float | None = None
    expected_reidentifications_high: float | None = None
    household_k: int | None = None
    household_risk_average: float | None = None
    household_risk_max: float | None = None


@dataclass(frozen=True)
class Disclosure:
    """Criteria of one sensitive column, for the class that discloses most. All None without such a column.

    Lower values of l_*, p_sensitive and map_error disclose more, higher values of all others. In formulas, p_s is the
    share of value s in a class, and q_s its share in the reference.

    Parameters
    ----------
    l_distinct : int | None
        Distinct l-diversity.
    l_entropy : float | None
        Entropy l-diversity.
    l_recursive : float | None
        Recursive (c, 2)-diversity.
    t_equal : float | None
        T-closeness, equal distance.
    t_ordered : float | None
        T-closeness, ordered distance; None for values without an order, and if a sensitive cell is missing.
    t_kl : float | None
        Kullback-Leibler divergence, in nats.
    t_hierarchical : float | None
        T-closeness, distance of the hierarchy; None without one.
    delta_disclosure : float | None
        Delta-disclosure privacy.
    delta_up : float | None
        Largest logarithmic increase of a share.
    beta_likeness : float | None
        Enhanced beta-likeness.
    beta_basic : float | None
        Basic beta-likeness.
    alpha : float | None
        Largest share of one value in a class.
    p_sensitive : int | None
        P of p-sensitive k-anonymity.
    map_error : float | None
        Share of rows whose value is not the most common one of their class.
    average_privacy_risk : float | None
        1 - `map_error`, the mean over rows of max_s p_s.
    prior_error : float | None
        Error of guessing without the release, 1 - max_s q_s.
    information_bits : float | None
        Mean over rows of D(p||q) in bits. For disjoint classes it is the mutual information of class and value.
    """

    l_distinct: int | None
    l_entropy: float | None
    l_recursive: float | None
    t_equal: float | None
    t_ordered: float | None
    t_kl: float | None
    t_hierarchical: float | None
    delta_disclosure: float | None
    delta_up: float | None
    beta_likeness: float | None
    beta_basic: float | None
    alpha: float | None
    p_sensitive: int | None
    map_error: float | None
    average_privacy_risk: float | None
    prior_error: float | None
    information_bits: float | None


@dataclass(frozen=True, kw_only=True)
class Criteria(Disclosure, IdentityCriteria):
    """Criteria of one release: those of `IdentityCriteria`, and those of `Disclosure` for the sensitive column that
    discloses most.

    Parameters
    ----------
    reference : Literal["original", "release"]
        Table with the reference distribution q: "original" (before protection) or "release".
    missing : Missing
        Rule for missing quasi-identifiers.
    rows_missing : int
        Rows with a missing quasi-identifier.
    rows_excluded : int
        Rows that are left out by the rule.
    columns : Mapping[str, Disclosure]
        Criteria of each sensitive column, by name.
    """

    reference: Literal["original", "release"]
    missing: Missing
    rows_missing: int
    rows_excluded: int
    columns: Mapping[str, Disclosure]


def evaluate(
    table: Table,
    *,
    sensitive: str | Sequence[str] | None = None,
    population: Table | None = None,
    reference: Table | None = None,
    population_size: int | None = None,
) -> Criteria:
    """Compute all criteria of a release in one pass over its rows.

    The class of a row is the set of rows whose cells contain the row's cells (`matching.contained`). Such rows fit
    every person that the row fits. `*` contains every cell. `table.missing` decides about missing cells:

    * "own": a missing cell is contained in missing cells and in `*`.
    * "excluded": rows with missing cells are left out and counted.
    * "wildcard": a missing cell matches every cell.

    If classes overlap, class sizes and sensitive counts refer to these sets, and averages run over rows.

    Time and memory grow with the rows and with the distinct pairs of class and value, not with classes times values.

    Parameters
    ----------
    table : Table
        The release.
    sensitive : str | Sequence[str] | None, optional
        Names of sensitive columns. The default is all of them.
    population : Table | None, optional
        Everybody who could be in the release, with the same quasi-identifiers, for journalist and marketer risk. A
        person belongs to a class if all their cells are compatible with it, as an age with an interval.
    reference : Table | None, optional
        The table before protection, whose distribution of sensitive values is q. (Suppression changes the distribution
        in a release.) If a released value does not occur in it, q is the distribution in the release, as without a
        reference; `Criteria.reference` has the table that was used.
    population_size : int | None, optional
        Number of people to which the weights of the table are scaled, see `scale_weights`.

    Returns
    -------
    Criteria
        Each criterion of the sensitive column that discloses most.

    Raises
    ------
    UnmaskError
        If the table has no rows, or if all rows are excluded.
    """
    frame = Frame.of(table)
    if not len(frame.rows):
        raise UnmaskError("the table has 0 rows, expected at least 1")
    sensitive_columns = frame.table.sensitive
    if sensitive is not None:
        names = [sensitive] if isinstance(sensitive, str) else sensitive
        sensitive_columns = tuple(map(frame.table.column, names))
    references = _reference_columns(sensitive_columns, reference)
    columns = {c.name: disclosure(c, frame, references.get(c.name)) for c in sensitive_columns}
    rows, k = int(frame.rows.sum()), int(frame.sizes.min())
    optional: dict[str, Any] = {}
    if population is not None:
        people = population_sizes(frame.table, population)
        reached = journalist(frame.rows, people)
        optional |= {
            "journalist_average": reached.average,
            "journalist_max": reached.maximum,
            "marketer": marketer(frame.rows, people),
            "k_map": int(people.min()),
            "population_uniques": int(frame.rows[people == 1].sum()),
        }
    weight = scale_weights(table.weight, population_size)
    weight = None if weight is None else weight[table.complete_rows]
    risk = 1 / frame.sizes
    if weight is not None:
        risk = frame.survey_risk(weight)
        n_expected = float(np.sum(risk * frame.rows))
        low, high = frame.expect_reidentifications(risk, weight)
        optional |= {
            "individual_risk_average": n_expected / rows,
            "individual_risk_max": float(risk.max()),
            "expected_reidentifications": n_expected,
            "expected_reidentifications_low": low,
            "expected_reidentifications_high": high,
        }
    n_people = population_size if weight is None else float(weight.sum())
    if n_people is not None:
        with suppress(UnmaskError):
            modeled = frame.model_risk(n_people)
            optional |= {
                "model_risk_average": float(modeled @ frame.rows) / rows,
                "model_risk_max": float(modeled.max()),
            }
    if (households := frame.evaluate_households(risk)) is not None:
        optional |= {
            "household_k": int(households.class_size.min()),
            "household_risk_average": float(households.risk.mean()),
            "household_risk_max": float(households.risk.max()),
        }
    unique_share, unique_share_low, unique_share_high = frame.estimate_unique_share()
    return Criteria(
        rows=rows,
        classes=len(frame.rows),
        k=k,
        unique_rows=int(frame.rows[frame.sizes == 1].sum()),
        unique_share=unique_share,
        unique_share_low=unique_share_low,
        unique_share_high=unique_share_high,
        prosecutor_average=prosecutor(frame.sizes, rows=frame.rows).average,
        prosecutor_max=1 / k,
        reference="original" if references else "release",
        missing=table.missing,
        rows_missing=table.n_rows - rows if table.missing == "excluded" else frame.rows_missing,
        rows_excluded=table.n_rows - rows,
        columns=columns,
        **{f.name: weakest(f.name, columns) for f in fields(Disclosure)},  # type: ignore[arg-type]
        **optional,
    )


LOWER_IS_WEAKER = frozenset({"l_distinct", "l_entropy", "p_sensitive", "map_error", "prior_error"})
"""Criteria of `Disclosure` whose lower values disclose more."""


def weakest(name: str, columns: Mapping[Any, Disclosure]) -> float | None:
    """Return a criterion of the column or part that discloses most; None if none has it."""
    values: list[float | None] = [getattr(column, name) for column in columns.values()]
    defined = [value for value in values if value is not None]
    if not defined:
        return None
    return min(defined) if name in LOWER_IS_WEAKER else max(defined)


@dataclass(frozen=True, eq=False)
class Frame:
    """Classes of the evaluated rows.

    rows : (n_classes,) rows of each class
    sizes : (n_classes,) candidates of each class: rows of all classes that it matches
    rows_missing : rows with a missing quasi-identifier
    relation : between classes that overlap; None if each class matches only itself
    """

    table: Table
    rows: Integers
    sizes: Integers
    rows_missing: int
    relation: Relation | None

    @classmethod
    def of(cls, table: Table) -> Frame:
        """Return the classes of a table, without rows that its rule for missing cells excludes."""
        table = table.complete
        rows, has_missing = table.classes.sizes, np.zeros(len(table.classes.sizes), dtype=np.bool_)
        for column in (column for column in table.quasi_identifiers if column.levels.missing >= 0):
            has_missing |= column.codes[table.classes.first] == column.levels.missing
        frame = cls(table, rows, rows, int(rows[has_missing].sum()), relation_of(table))
        return replace(frame, sizes=frame.sum_matching(rows))

    def sum_matching(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Return (n_classes,) sums of counts over the classes that each class matches."""
        if self.relation is None:
            return counts
        return self.relation.sums(scipy.sparse.csr_array(counts[:, None])).toarray()[:, 0]

    def histograms(self, column: Column, place: NDArray[np.int32], overall: Integers) -> tuple[Histograms, Integers]:
        """Return the counts of a sensitive column in each kind of classes, and the rows of each kind.

        Classes that overlap are a kind each.

        place : (n_levels,) position of each level
        overall : rows of each position
        """
        classes, rows = self.table.classes, self.rows
        if self.relation is None:
            counts, of_class = classes.kinds(column.codes, len(column.levels), weight=column.row_counts)
            rows = np.bincount(of_class, rows).astype(np.int64)
        else:
            counts = classes.counts(column)
        reordered = CsrRows(counts.data, place[counts.indices], counts.indptr, (len(rows), len(overall)))
        matrix = reordered if self.relation is None else self.relation.sums(reordered.to_scipy())
        return Histograms.of(matrix, overall=overall), rows

    def sum_weights(self, weight: Floats) -> Floats:
        """Return (n_classes,) sums of (n_rows,) survey weights over the candidates of each class."""
        return self.sum_matching(np.bincount(self.table.classes.of_row, weight, len(self.rows)))

    def survey_risk(self, weight: Floats) -> Floats:
        """Return the (n_classes,) individual risk of a sample with (n_rows,) survey weights.

        A class has at least as many people as rows.
        """
        return sample_weight_risk(self.sizes, np.maximum(self.sum_weights(weight), self.sizes))

    def expect_reidentifications(self, risk: Floats, weight: Floats) -> tuple[float, float] | tuple[None, None]:
        """Return the 95 % interval of the sum of the risk over rows, by the survey design; None if classes overlap.

        risk : (n_classes,) individual risk
        weight : (n_rows,) number of people that each row represents
        """
        if self.relation is not None:
            return None, None
        from unmask.measures.interval import Z95  # protections evaluate releases without measures

        error = error_of_expected_reidentifications(self.table.classes.of_row, weight, self.table.design)
        total = float(risk @ self.rows)
        return max(total - Z95 * error, 0.0), total + Z95 * error

    def estimate_unique_share(self) -> tuple[float, float, float] | tuple[None, None, None]:
        """Return the share of the population that unique rows represent, and its 95 % interval; None without weights.

        The share does not depend on the scale of the weights.
        """
        weight = np.zeros(0) if self.table.weight is None else np.nan_to_num(self.table.weight)
        if not weight.sum():
            return None, None, None
        from unmask.measures.interval import Z95

        is_unique = (self.sizes == 1).astype(np.float64)[self.table.classes.of_row]
        share, error = estimate_mean(is_unique, weight, self.table.design)
        return share, max(share - Z95 * error, 0.0), min(share + Z95 * error, 1.0)

    def model_risk(self, n_people: float) -> Floats:
        """Return the (n_classes,) risk by the log-linear model of a population of so many people.

        Raises
        ------
        UnmaskError
            If cells of a column overlap, as after local recoding, or if the model is too large.
        """
        for column in self.table.quasi_identifiers:
            if classes_intersect(self.table.known_by([column])):
                raise UnmaskError(
                    f"the log-linear model needs categories, and cells of {column.name!r} overlap; generalize all rows "
                    "of the column alike"
                )
        sampling_fraction = min(float(self.rows.sum()) / n_people, 1.0)
        return model_risk(self.table.classes.levels, self.rows, sampling_fraction)

    def evaluate_households(self, risk: Floats) -> Households | None:
        """Return facts about the household of each row from the (n_classes,) risk of a row; None without households."""
        of_row = self.table.classes.of_row
        household = self.table.design.household
        return None if household is None else evaluate_households(household, of_row, risk[of_row])


SUBSETS = {"k_pairs": 2, "k_triples": 3}
"""Criteria of subsets of the quasi-identifiers, which are computed on request, and the columns of a subset."""


def smallest_class_of_subsets(table: Table, n_columns: int) -> int:
    """Return the smallest number of candidates of a row for an adversary who knows any `n_columns` quasi-identifiers.

    Parameters
    ----------
    table : Table
        Release.
    n_columns : int
        Quasi-identifiers that the adversary knows; all if there are fewer.

    Returns
    -------
    int

    Examples
    --------
    >>> from unmask.tables import Table
    >>> table = Table.read({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [1, 1, 1, 2]}, quasi_identifiers=["a", "b", "c"])
    >>> [smallest_class_of_subsets(table, n_columns) for n_columns in (1, 2)]
    [1, 1]
    """
    columns = table.complete.quasi_identifiers
    subsets = combinations(columns, min(n_columns, len(columns)))
    return min(int(Frame.of(table.complete.known_by(subset)).sizes.min()) for subset in subsets)


def _reference_columns(columns: Sequence[Column], reference: Table | None) -> dict[str, Column]:
    """Return the reference columns by name if they contain every released value, otherwise an empty dict."""
    by_name = {} if reference is None else {column.name: column for column in reference.columns}
    is_complete = all(column.name in by_name and _values(column) <= _values(by_name[column.name]) for column in columns)
    return by_name if is_complete else {}


def _values(column: Column) -> set[str]:
    return {column.levels.labels[code] for code in np.unique(column.codes)}


def disclosure(column: Column, frame: Frame, original: Column | None = None) -> Disclosure:
    """Compute the criteria of one sensitive column; original : the column before protection."""
    domain_column = column if original is None else original
    rank, n = rank_order(domain_column), len(domain_column.levels)
    place = np.arange(n, dtype=np.int32) if rank is None else rank
    overall = np.zeros(n, dtype=np.int64)
    overall[place] = column.counts if original is None else np.bincount(original.codes, minlength=n)
    if original is not None:
        code = {label: number for number, label in enumerate(original.levels.labels)}
        place = place[[code.get(label, 0) for label in column.levels.labels]]  # 0 if no row has it
    view, rows = frame.histograms(column, place, overall)
    paths = hierarchy_paths(domain_column, rank=rank)
    parts = {start: _disclosure_of(part, rows[start:stop], rank, paths) for start, stop, part in view.parts()}
    if len(parts) == 1:
        return parts[0]
    weight = np.add.reduceat(rows, list(parts)) / rows.sum()
    averages = {name: float(weight @ [getattr(part, name) for part in parts.values()]) for name in AVERAGES}
    return Disclosure(**{f.name: weakest(f.name, parts) for f in fields(Disclosure)} | averages)  # type: ignore[arg-type]


AVERAGES = ("map_error", "average_privacy_risk", "information_bits")
"""Criteria of `Disclosure` that are means over rows; the others are those of one class."""


def _disclosure_of(
    view: Histograms, rows: Integers, rank: NDArray[np.int32] | None, paths: NDArray[np.int32] | None
) -> Disclosure:
    """Compute the criteria of some classes.

    rows : (n_classes,) rows of each class
    rank, paths : order and hierarchy of the values; None without one
    """
    error, relative = map_error(view, rows=rows), t_kl(view)
    return Disclosure(
        l_distinct=int(view.width.min()),
        l_entropy=float(l_entropy(view).min()),
        l_recursive=float(l_recursive(view).max()),
        t_equal=float(t_equal(view).max()),
        t_ordered=None if rank is None else float(t_ordered(view).max()),
        t_kl=float(relative.max()),
        t_hierarchical=None if paths is None else float(t_hierarchical(view, paths).max()),
        delta_disclosure=float(delta_disclosure(view).max()),
        delta_up=float(delta_up(view).max()),
        beta_likeness=float(beta_likeness(view).max()),
        beta_basic=float(beta_basic(view).max()),
        alpha=float(alpha(view).max()),
        p_sensitive=int(view.width.min()),
        map_error=error,
        average_privacy_risk=1 - error,
        prior_error=float(1 - view.q_all.max()),
        information_bits=float(np.sum(relative * rows) / rows.sum() / np.log(2)),
    )
