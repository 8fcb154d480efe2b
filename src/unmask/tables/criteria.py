"""What a release guarantees without naming an adversary: k, l, t and their relatives, read off one count matrix.

Notation: class c holds n_c rows, n_cs of them with sensitive value s; p_s = n_cs / n_c inside the class, q_s over all
evaluated rows; n rows, J classes, m values that occur. Every criterion below is a function of the matrix n_cs and
returns one number per class; a release is as weak as its weakest class. Rows enter as integer codes, so the result is
the same under any order of rows, columns, categories, and values that no row carries change nothing.

q is taken over the evaluated rows, that is over the release after suppression. Other sensitive columns never join the
quasi-identifiers: each sensitive column is judged on the same classes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unmask.errors import UnmaskError
from unmask.tables.cells import compatible
from unmask.tables.counts import class_counts, group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unmask.tables.cells import Missing
    from unmask.tables.release import Column, Table

Floats: TypeAlias = NDArray[np.float64]

_WHOLE = 1e-10
"""An effective number of values this close (relatively) to a whole number is that number: exp(ln 5) is 5 - 9e-16."""
_CHUNK = 1 << 24
"""Cells compared at a time where classes of two tables meet."""


@dataclass(frozen=True, eq=False)
class Histograms:
    """The sensitive values of every class: a count matrix with the shares p and q beside its stored entries.

    matrix : CSR (J, m), positive counts only, no class without rows.
    overall : (m,) rows per value in the whole table; the values with 0 rows do not count as part of the domain.
    """

    matrix: sparse.csr_array[Any, Any]
    overall: NDArray[np.int64]

    @classmethod
    def of(cls, counts: CountMatrix, *, overall: NDArray[np.int64] | None = None) -> Histograms:
        """Read a dense or sparse count matrix; classes without rows are left out.

        overall : rows per value; the column sums of the matrix unless given (classes that overlap count rows twice).
        """
        if isinstance(counts, Histograms):
            return counts
        matrix: Any = sparse.csr_array(cast("Any", counts), dtype=cast("Any", np.int64))
        if matrix.nnz and matrix.data.min() < 0:
            raise UnmaskError("the count matrix has a negative entry, expected numbers of rows")
        matrix.eliminate_zeros()
        matrix.sort_indices()
        filled = np.diff(matrix.indptr) > 0
        if not filled.any():
            raise UnmaskError("0 rows in the count matrix, expected at least 1")
        matrix = matrix if filled.all() else matrix[np.flatnonzero(filled)]
        total = np.bincount(matrix.indices, matrix.data, matrix.shape[1]) if overall is None else overall
        return cls(matrix, np.asarray(total, dtype=np.int64))

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """(J,) position of the first stored entry of each class."""
        return np.asarray(self.matrix.indptr[:-1], dtype=np.int64)

    @cached_property
    def width(self) -> NDArray[np.int64]:
        """(J,) number of different values in each class."""
        return np.diff(self.matrix.indptr).astype(np.int64)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(J,) rows of each class."""
        return np.asarray(np.add.reduceat(self.matrix.data, self.start), dtype=np.int64)

    @cached_property
    def domain(self) -> int:
        """Number m of values that occur."""
        return int(np.count_nonzero(self.overall))

    @cached_property
    def q_all(self) -> Floats:
        """(m,) overall shares."""
        return np.asarray(self.overall / self.overall.sum(), dtype=np.float64)

    @cached_property
    def p(self) -> Floats:
        """(nnz,) share of each stored value in its class."""
        return np.asarray(self.matrix.data / np.repeat(self.sizes, self.width), dtype=np.float64)

    @cached_property
    def q(self) -> Floats:
        """(nnz,) overall share of each stored value."""
        return self.q_all[self.matrix.indices]

    def add(self, values: Floats) -> Floats:
        """Sum over the stored values of each class."""
        return np.asarray(np.add.reduceat(values, self.start), dtype=np.float64)

    def largest(self, values: Floats) -> Floats:
        """Maximum over the stored values of each class."""
        return np.asarray(np.maximum.reduceat(values, self.start), dtype=np.float64)


CountMatrix: TypeAlias = "NDArray[np.int64] | sparse.csr_array[Any, Any] | Histograms"


# ------------------------------------------------------------------------------------------------ diversity


def l_distinct(counts: CountMatrix) -> NDArray[np.int64]:
    """Distinct l-diversity: the number of s with n_cs > 0, per class (J,), at least 1.

    The same number is p of p-sensitive k-anonymity (Truta and Vinay, ICDEW 2006).

    >>> l_distinct(np.array([[97, 1, 1, 1], [5, 0, 5, 0]]))
    array([4, 2])

    A. Machanavajjhala et al., "l-diversity", TKDD 1 (2007), section 3.
    """
    return Histograms.of(counts).width


def l_entropy(counts: CountMatrix) -> Floats:
    """Entropy l-diversity: the effective number of values exp(H), H = -sum_s p_s ln p_s, per class (J,), 1 to m.

    Real, never cut to an integer. Values within 1e-10 of a whole number are that number, so a class uniform over l
    values gives exactly l and may be compared with a whole threshold.

    >>> l_entropy(np.array([[4, 4, 4, 0], [97, 1, 1, 1]]))
    array([3.  , 1.18...])

    Machanavajjhala et al. 2007, definition 4.1.
    """
    view = Histograms.of(counts)
    count = view.matrix.data.astype(np.float64)
    effective = np.exp(np.log(view.sizes) - view.add(count * np.log(count)) / view.sizes)
    whole = np.rint(effective)
    return np.asarray(np.where(np.abs(effective - whole) <= _WHOLE * whole, whole, effective), dtype=np.float64)


def l_recursive(counts: CountMatrix, *, l: int = 2) -> Floats:  # noqa: E741 - the literature's name
    """Recursive (c, l)-diversity: the infimum of the c that hold, per class (J,).

    Counts in descending order r_1 >= ... >= r_m; (c, l) asks r_1 < c (r_l + ... + r_m), strictly, so a class is
    (c, l)-diverse for every c above r_1 / (r_l + ... + r_m) and not at it. A class with fewer than l values fails for
    every c: inf. l = 1 gives p_max. Ties do not change the value.

    >>> l_recursive(np.array([[7, 2, 1], [5, 5, 0]]), l=3)
    array([ 7., inf])

    Machanavajjhala et al. 2007, definition 4.2.
    """
    if l < 1:
        raise UnmaskError(f"l is {l}, expected at least 1")
    view = Histograms.of(counts)
    data = view.matrix.data
    top = np.maximum.reduceat(data, view.start)
    if l <= 2:
        tail = view.sizes - (top if l == 2 else 0)
    else:
        limit = int(data.max()) + 1
        word = np.repeat(np.arange(len(view.width)), view.width) * limit + (limit - 1 - data)
        word.sort()
        descending = np.concatenate(([0], np.cumsum(limit - 1 - word % limit)))
        end = view.start + view.width
        tail = descending[end] - descending[np.minimum(view.start + l - 1, end)]
    needed = np.full(len(tail), np.inf)
    np.divide(top, tail, out=needed, where=tail > 0)
    return needed


def alpha(counts: CountMatrix) -> Floats:
    """Largest share max_s p_s of one value, per class (J,), 1/m to 1: the alpha of (alpha, k)-anonymity.

    It is also the success probability of an adversary who knows the class and guesses its commonest value; ties do not
    matter, for he succeeds with the same probability whichever of them he names.

    >>> alpha(np.array([[97, 1, 1, 1]]))
    array([0.97])

    R. C.-W. Wong et al., "(alpha, k)-anonymity", KDD 2006.
    """
    view = Histograms.of(counts)
    return np.asarray(np.maximum.reduceat(view.matrix.data, view.start) / view.sizes, dtype=np.float64)


def map_error(counts: CountMatrix, *, rows: NDArray[np.int64] | None = None) -> float:
    """Error of the adversary who knows the class and names its commonest value: 1 - sum_c max_s n_cs / n, 0 to 1.

    rows : (J,) weight of each class, its size unless given (it differs where classes overlap). l-diversity bounds this
    error only when p is uniform: the class (97, 1, 1, 1) is distinct 4-diverse and its error is 0.03.

    >>> round(map_error(np.array([[97, 1, 1, 1]])), 12)
    0.03
    """
    view = Histograms.of(counts)
    weight = view.sizes if rows is None else rows
    return float(1 - np.sum(alpha(view) * weight) / weight.sum())


# ------------------------------------------------------------------------------------------------ closeness


def t_equal(counts: CountMatrix, *, overall: NDArray[np.int64] | None = None) -> Floats:
    """t-closeness, equal ground distance: total variation 0.5 sum_s |p_s - q_s| over all m values, per class (J,).

    0 to 1; values absent from the class are part of the sum (only positive excesses p_s > q_s are added, which is the
    same number and needs no absent value). Not the largest single gap, and not Kullback-Leibler: that is `t_kl`. A
    constant column gives 0.

    >>> t_equal(np.array([[2, 0], [0, 2]]))
    array([0.5, 0.5])

    N. Li, T. Li, S. Venkatasubramanian, "t-closeness", ICDE 2007, section 4.1.
    """
    view = Histograms.of(counts, overall=overall)
    return view.add(np.maximum(view.p - view.q, 0.0))


def t_ordered(counts: CountMatrix, *, overall: NDArray[np.int64] | None = None) -> Floats:
    """t-closeness, ordered distance: 1/(m-1) sum_{i<m} |sum_{j<=i} (p_j - q_j)|, per class (J,), 0 to 1.

    The columns of the matrix are in rank order. The distance counts ranks of the m values that occur, not magnitudes:
    9,000 to 10,000 is one step if nothing lies between. m = 1 gives 0.

    The cumulative share of a class is constant between two of its values, so each such run is summed in closed form
    with the prefix sums of Q; nothing of size J x m is made.

    >>> t_ordered(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    array([0.5..., 0.33..., 0.5...])

    Li et al. 2007, section 4.1 (ordered distance).
    """
    view = Histograms.of(counts, overall=overall)
    if view.domain < 2:
        return np.zeros(len(view.width))
    position = np.cumsum(view.overall > 0) - 1
    # rounded once, like the shares of a class: equal distributions are at distance 0, not 1e-17
    Q = np.cumsum(view.overall[view.overall > 0])[:-1] / view.overall.sum()
    total = np.concatenate(([0.0], np.cumsum(Q)))
    begin = position[view.matrix.indices]
    end = np.append(begin[1:], view.domain - 1)
    end[view.start[1:] - 1] = view.domain - 1
    data = np.cumsum(view.matrix.data)
    before = np.repeat(data[view.start] - view.matrix.data[view.start], view.width)
    level = (data - before) / np.repeat(view.sizes, view.width)
    runs = _distance_to_steps(level, begin, np.minimum(end, view.domain - 1), Q, total)
    head = total[begin[view.start]]  # the class has no mass before its first value
    return np.asarray(np.maximum((view.add(runs) + head) / (view.domain - 1), 0.0), dtype=np.float64)


def _distance_to_steps(
    level: Floats, begin: NDArray[np.int64], end: NDArray[np.int64], Q: Floats, total: Floats
) -> Floats:
    """sum_{begin <= i < end} |level - Q_i| for ascending Q with prefix sums `total`."""
    cross = np.clip(np.searchsorted(Q, level), begin, end)
    below = level * (cross - begin) - (total[cross] - total[begin])
    above = (total[end] - total[cross]) - level * (end - cross)
    run = np.maximum(below, 0.0) + np.maximum(above, 0.0)
    single = end - begin == 1
    run[single] = np.abs(level[single] - Q[begin[single]])
    return np.asarray(run, dtype=np.float64)


def t_hierarchical(
    counts: CountMatrix, paths: NDArray[np.int32], *, overall: NDArray[np.int64] | None = None
) -> Floats:
    """t-closeness, hierarchical distance, per class (J,), 0 to 1.

    paths : (H, m); paths[h, s] is the node at height h above value s, for h = 0 (the value itself) to H - 1; the root
    at height H is understood. Two values are h/H apart when their lowest common ancestor has height h, and the
    earth mover's distance sums (h/H) min(positive excess, negative excess) over the inner nodes. That sum telescopes
    to the mean of the total variations at heights 0 to H - 1, which is what is computed, in floating point throughout.

    >>> two_halves = np.array([[0, 1, 2, 3], [0, 0, 1, 1]], np.int32)
    >>> t_hierarchical(np.array([[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 2]]), two_halves)
    array([0.625, 0.625, 0.5  ])

    Li et al. 2007, section 4.2 (hierarchical distance).
    """
    view = Histograms.of(counts, overall=overall)
    height = len(paths)
    if height == 0:
        return np.zeros(len(view.width))
    return np.asarray(sum(t_equal(_recode(view, nodes)) for nodes in paths) / height, dtype=np.float64)


def _recode(view: Histograms, nodes: NDArray[np.int32]) -> Histograms:
    n_nodes = int(nodes.max()) + 1
    to_node = sparse.csr_array((np.ones(len(nodes), np.int64), (np.arange(len(nodes)), nodes)), (len(nodes), n_nodes))
    total = np.bincount(nodes, view.overall, n_nodes).astype(np.int64)
    return Histograms.of(view.matrix @ to_node, overall=total)


def t_kl(counts: CountMatrix, *, overall: NDArray[np.int64] | None = None) -> Floats:
    """Relative entropy D(p||q) = sum_s p_s ln(p_s / q_s) of each class against the whole table (J,), nats, >= 0.

    Values absent from the class add 0. Total variation is at most sqrt(D / 2) (Pinsker, in nats).

    >>> t_kl(np.array([[2, 0], [0, 2]]))
    array([0.6931..., 0.6931...])

    D. Rebollo-Monedero, J. Forné, J. Domingo-Ferrer, TKDE 22 (2010), section 4.
    """
    view = Histograms.of(counts, overall=overall)
    return np.maximum(view.add(view.p * np.log(view.p / view.q)), 0.0)


def delta_disclosure(counts: CountMatrix, *, overall: NDArray[np.int64] | None = None) -> Floats:
    """delta-disclosure privacy: max_s |ln(p_s / q_s)|, per class (J,), natural logarithm, >= 0.

    The maximum is over every value of the table; a class that lacks one has p_s = 0 and delta = inf. The release is
    delta-disclosure private for every delta above the maximum (the definition is strict).

    >>> delta_disclosure(np.array([[2, 1], [1, 2], [3, 0]]))
    array([0.  , 0.69...,  inf])

    J. Brickell, V. Shmatikov, "The cost of privacy", KDD 2008, definition 2.
    """
    view = Histograms.of(counts, overall=overall)
    largest = view.largest(np.abs(np.log(view.p / view.q)))
    largest[view.width < view.domain] = np.inf
    return largest


def delta_up(counts: CountMatrix, *, overall: NDArray[np.int64] | None = None) -> Floats:
    """The upward half of delta-disclosure: max_s ln(p_s / q_s), per class (J,), nats, >= 0, always finite.

    What an adversary can come to believe, without the infinity of ruling a value out. exp of it is the largest factor
    by which a belief grows.

    >>> delta_up(np.array([[3, 0], [0, 3]]))
    array([0.69..., 0.69...])
    """
    view = Histograms.of(counts, overall=overall)
    return np.maximum(view.largest(np.log(view.p / view.q)), 0.0)


def beta_likeness(counts: CountMatrix, *, overall: NDArray[np.int64] | None = None) -> Floats:
    """Enhanced beta-likeness: the smallest beta that each class satisfies (J,), >= 0, inf where none does.

    For every value with p_s > q_s: (p_s - q_s) / q_s <= min(beta, -ln q_s). The bound -ln q_s is of the value itself,
    so one value above its own bound fails for every beta, however large another value's bound is.

    >>> beta_likeness(np.array([[3, 2], [2, 3]])), beta_likeness(np.array([[2, 0], [0, 2]]))
    (array([0.2, 0.2]), array([inf, inf]))

    J. Cao, P. Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5 (2012), definition 3.
    """
    view = Histograms.of(counts, overall=overall)
    gain = _relative_gain(view)
    bound = -np.log(view.q)
    return view.largest(np.where(gain > bound * (1 + 1e-12), np.inf, gain))


def beta_basic(counts: CountMatrix, *, overall: NDArray[np.int64] | None = None) -> Floats:
    """Basic beta-likeness: max_s (p_s - q_s) / q_s over the values that gain, per class (J,), >= 0.

    >>> beta_basic(np.array([[2, 0], [0, 2]]))
    array([1., 1.])

    Cao and Karras 2012, definition 2.
    """
    view = Histograms.of(counts, overall=overall)
    return view.largest(_relative_gain(view))


def _relative_gain(view: Histograms) -> Floats:
    return np.maximum((view.p - view.q) / view.q, 0.0)


# ------------------------------------------------------------------------------------------------ identity


@dataclass(frozen=True)
class Risk:
    """Probability that a record is named: of the worst-off record and on average over records."""

    maximum: float
    average: float


def prosecutor(sizes: NDArray[np.int64], *, rows: NDArray[np.int64] | None = None) -> Risk:
    """Risk from an adversary who knows that his target is in the release: 1/f for a record with f candidates.

    sizes : (J,) candidates f of the records of each class; rows : (J,) number of such records, `sizes` unless given.
    The average is over records, (1/n) sum_c n_c / f_c, which is J/n for ordinary classes.

    >>> prosecutor(np.array([1, 99]))
    Risk(maximum=1.0, average=0.02)

    K. El Emam, "Guide to the De-Identification of Personal Health Information", 2013, chapter 16.
    """
    weight = sizes if rows is None else rows
    if len(sizes) == 0:
        raise UnmaskError("0 classes, expected at least 1")
    return Risk(float(1 / sizes.min()), float(np.sum(weight / sizes) / weight.sum()))


def journalist(sizes: NDArray[np.int64], population_sizes: NDArray[np.int64]) -> Risk:
    """Risk from an adversary who knows that his target is in the population, and wants to name any record.

    sizes, population_sizes : (J,) rows n_c of each class in the release, N_c in the population, N_c >= n_c.
    maximum = 1 / min N_c; average = max(J / sum N_c, (1/n) sum n_c / N_c). A class with no or too few people in the
    population is an error: the two tables then do not belong together.

    >>> journalist(np.array([1, 3]), np.array([4, 6]))
    Risk(maximum=0.25, average=0.2)

    El Emam 2013, chapter 16 (as in ARX, RiskModelSampleSummary).
    """
    _check_population(sizes, population_sizes)
    share = float(len(sizes) / population_sizes.sum())
    return Risk(float(1 / population_sizes.min()), max(share, marketer(sizes, population_sizes)))


def marketer(sizes: NDArray[np.int64], population_sizes: NDArray[np.int64]) -> float:
    """Share of the release an adversary names who links all of it to the population: (1/n) sum_c n_c / N_c, 0 to 1.

    >>> marketer(np.array([1, 3]), np.array([4, 6]))
    0.1875

    F. K. Dankar, K. El Emam, "A method for evaluating marketer re-identification risk", PAIS 2010.
    """
    _check_population(sizes, population_sizes)
    return float(np.sum(sizes / population_sizes) / sizes.sum())


def _check_population(sizes: NDArray[np.int64], population_sizes: NDArray[np.int64]) -> None:
    if sizes.shape != population_sizes.shape or len(sizes) == 0:
        raise UnmaskError(
            f"{len(sizes)} classes and {len(population_sizes)} population sizes, expected one size a class"
        )
    absent = int(np.count_nonzero(population_sizes <= 0))
    if absent:
        raise UnmaskError(
            f"{absent} of {len(sizes)} classes of the release are absent from the population, expected none; "
            "check that both tables code the quasi-identifiers alike"
        )
    short = int(np.count_nonzero(population_sizes < sizes))
    if short:
        raise UnmaskError(
            f"{short} of {len(sizes)} classes have fewer rows in the population than in the release, expected at least "
            "as many; the release is not a sample of this population"
        )


def sample_weight_risk(frequency: NDArray[np.int64], population_estimate: Floats) -> Floats:
    """Individual risk of the records of a weighted survey sample: the posterior mean of 1/F given f, (J,), 0 to 1.

    frequency : (J,) sample rows f that share the key; population_estimate : (J,) sum F of their weights, F >= f.
    With p = f/F: f = 1: p/(1-p) ln(1/p); f = 2: p/(1-p) - (p/(1-p))^2 ln(1/p); f >= 3, approximately:
    p / (f - (1-p)). F = f gives 1/f, the limit of all three.

    >>> sample_weight_risk(np.array([1, 2, 5]), np.array([10.0, 2.0, 50.0]))
    array([0.25..., 0.5..., 0.024...])

    R. Benedetti, L. Franconi, "Statistical and technological solutions for controlled data dissemination", 1998;
    approximation and code: sdcMicro, indivRisk.
    """
    if np.any(frequency < 1):
        raise UnmaskError("a frequency is below 1, expected the number of sample rows of each class")
    if np.any(~np.isfinite(population_estimate)) or np.any(population_estimate < frequency * (1 - 1e-9)):
        low = int(np.count_nonzero(~(population_estimate >= frequency * (1 - 1e-9))))
        raise UnmaskError(f"{low} population estimates are below their frequency or not finite, expected weights >= 1")
    x = 1 - np.minimum(frequency / population_estimate, 1.0)
    p = 1 - x
    risk = p / (frequency - x)
    risk = np.where(frequency == 1, p * _log_ratio(x), risk)
    return np.asarray(np.where(frequency == 2, p * _second_ratio(x), risk), dtype=np.float64)


def _log_ratio(x: Floats) -> Floats:
    """-ln(1 - x) / x, 1 at 0."""
    safe = np.where(x > 0, x, 0.5)
    return np.asarray(np.where(x > 0, -np.log1p(-safe) / safe, 1.0), dtype=np.float64)


def _second_ratio(x: Floats) -> Floats:
    """(1 - (1 - x) * _log_ratio(x)) / x = sum_j x^j / ((j + 1)(j + 2)); a series near 0."""
    near = 1 / 2 + x / 6 + x**2 / 12 + x**3 / 20
    safe = np.where(x > 1e-3, x, 0.5)
    return np.asarray(np.where(x > 1e-3, (1 - (1 - safe) * _log_ratio(safe)) / safe, near), dtype=np.float64)


# ------------------------------------------------------------------------------------------------ the whole table


@dataclass(frozen=True)
class Disclosure:
    """What the classes disclose about one sensitive column; each number is that of the weakest class.

    l_* and p_sensitive, map_error: lower is weaker; the others: higher is weaker. t_ordered is None for a column
    without an order and where a sensitive cell is missing (it has no rank); t_hierarchical is None without a
    hierarchy. average_privacy_risk is the mean over rows of max_s p_s, that is 1 - map_error, and prior_error the same
    error without the release, 1 - max_s q_s. information_bits is the mean over rows of D(p||q): for disjoint
    classes the mutual information of class and value.
    """

    l_distinct: int
    l_entropy: float
    l_recursive: float
    t_equal: float
    t_ordered: float | None
    t_kl: float
    t_hierarchical: float | None
    delta_disclosure: float
    delta_up: float
    beta_likeness: float
    beta_basic: float
    alpha: float
    p_sensitive: int
    map_error: float
    average_privacy_risk: float
    prior_error: float
    information_bits: float


@dataclass(frozen=True)
class Criteria:
    """Every criterion of one release.

    rows : evaluated rows; classes : distinct quasi-identifier combinations among them; k : the fewest candidates of any
    row; unique_rows : rows with one candidate; prosecutor_average, prosecutor_max : chance of naming a row, mean over
    rows and worst.
    journalist_*, marketer : None without a population; a prosecutor's number is then an upper bound of them.
    sample_weight_* : None without weights.
    The fields named like those of `Disclosure` are the weakest over the sensitive columns, each column judged alone
    (the other sensitive columns do not join the quasi-identifiers); None when there is no sensitive column.
    missing : what a missing quasi-identifier cell meant ("own", "wildcard", "excluded"); rows_missing : rows that have
    one; rows_excluded : rows left out for it.
    columns : each sensitive column's own `Disclosure`.
    """

    rows: int
    classes: int
    k: int
    unique_rows: int
    prosecutor_average: float
    prosecutor_max: float
    journalist_average: float | None
    journalist_max: float | None
    marketer: float | None
    sample_weight_average: float | None
    sample_weight_max: float | None
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
    missing: Missing
    rows_missing: int
    rows_excluded: int
    columns: Mapping[str, Disclosure]


def evaluate(
    table: Table,
    *,
    sensitive: str | Sequence[str] | None = None,
    population: Table | None = None,
    weight: Floats | None = None,
) -> Criteria:
    """All criteria of a release in one pass over its rows.

    sensitive : columns to judge, all sensitive columns of the table unless given.
    population : a table of everybody who could be in the release, with the same quasi-identifiers; a person belongs to
    a class when each of his cells is compatible with it (an age with an interval). For journalist and marketer.
    weight : (n_rows,) survey weights, the table's own unless given; used for the sample-weight risk only.

    Missing quasi-identifier cells follow `table.missing`. "own": a missing cell equals only a missing cell.
    "excluded": such rows are left out, and counted. "wildcard": a missing cell is compatible with every value; the
    class of a row is then the set of rows compatible with it, so classes overlap, sizes f and the sensitive counts are
    taken over that set, and averages run over rows.

    Time and memory grow with the rows and the distinct pairs of class and value, never with classes times values.
    """
    if table.n_rows == 0:
        raise UnmaskError("the table has 0 rows, expected at least 1")
    weight = table.weight if weight is None else _check_weight(weight, table.n_rows)
    frame = _Frame.of(table)
    columns = {c.name: _disclosure(c, frame) for c in _sensitive(table, sensitive)}
    risk = prosecutor(frame.sizes, rows=frame.rows)
    against = None if population is None else population_sizes(table, population)[frame.kept]
    survey = None if weight is None else frame.survey_risk(weight)
    return Criteria(
        rows=int(frame.rows.sum()),
        classes=len(frame.rows),
        k=int(frame.sizes.min()),
        unique_rows=int(frame.rows[frame.sizes == 1].sum()),
        prosecutor_average=risk.average,
        prosecutor_max=risk.maximum,
        journalist_average=None if against is None else journalist(frame.rows, against).average,
        journalist_max=None if against is None else journalist(frame.rows, against).maximum,
        marketer=None if against is None else marketer(frame.rows, against),
        sample_weight_average=None if survey is None else survey.average,
        sample_weight_max=None if survey is None else survey.maximum,
        missing=table.missing,
        rows_missing=frame.rows_missing,
        rows_excluded=table.n_rows - int(frame.rows.sum()),
        columns=columns,
        **{f.name: _weakest(f.name, columns) for f in fields(Disclosure)},  # type: ignore[arg-type]
    )


_LOWER_IS_WEAKER = {"l_distinct", "l_entropy", "p_sensitive", "map_error", "prior_error"}


def _weakest(name: str, columns: Mapping[str, Disclosure]) -> float | None:
    values: list[float | None] = [getattr(column, name) for column in columns.values()]
    known = [value for value in values if value is not None]
    if not known:
        return None
    return min(known) if name in _LOWER_IS_WEAKER else max(known)


@dataclass(frozen=True, eq=False)
class _Frame:
    """The classes of a table after its missing-cell policy: rows in each, candidates of each, how to merge counts."""

    table: Table
    kept: NDArray[np.int64]
    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]
    rows_missing: int
    meetings: tuple[tuple[_Meeting, ...], ...]

    @classmethod
    def of(cls, table: Table) -> _Frame:
        classes = table.classes
        gap = np.array([c.levels.missing for c in table.quasi_identifiers])
        absent = (classes.levels == gap) & (gap >= 0)
        with_gap = absent.any(axis=1)
        kept = np.flatnonzero(~with_gap) if table.missing == "excluded" else np.arange(len(classes.sizes))
        if len(kept) == 0:
            raise UnmaskError("every row has a missing quasi-identifier cell and is excluded; choose missing='own'")
        rows = np.asarray(classes.sizes[kept], dtype=np.int64)
        merge = table.missing == "wildcard" and bool(with_gap.any())
        meetings = _meetings(classes.levels, absent) if merge else ()
        sizes = _merge(meetings, sparse.csr_array(rows[:, None])).toarray()[:, 0] if merge else rows
        return cls(table, kept, rows, sizes, int(classes.sizes[with_gap].sum()), meetings)

    def histograms(self, codes: NDArray[np.int32], n_levels: int) -> Histograms:
        classes = self.table.classes
        counts = class_counts(classes.of_row, len(classes.sizes), codes, n_levels)
        if len(self.kept) < len(classes.sizes):
            counts = counts[self.kept]
        overall = np.bincount(counts.indices, counts.data, n_levels).astype(np.int64)
        return Histograms.of(_merge(self.meetings, counts) if self.meetings else counts, overall=overall)

    def survey_risk(self, weight: Floats) -> Risk:
        classes = self.table.classes
        total = np.asarray(np.bincount(classes.of_row, weight, len(classes.sizes))[self.kept], dtype=np.float64)
        if self.meetings:
            total = np.asarray(_merge(self.meetings, sparse.csr_array(total[:, None])).toarray()[:, 0], np.float64)
        risk = sample_weight_risk(self.sizes, total)
        return Risk(float(risk.max()), float(np.sum(risk * self.rows) / self.rows.sum()))


def _disclosure(column: Column, frame: _Frame) -> Disclosure:
    order = _rank_order(column)
    codes = column.codes if order is None else order[column.codes]
    view = frame.histograms(codes, len(column.levels))
    paths = _paths(column, order)
    error = map_error(view, rows=frame.rows)
    relative = t_kl(view)
    return Disclosure(
        l_distinct=int(view.width.min()),
        l_entropy=float(l_entropy(view).min()),
        l_recursive=float(l_recursive(view).max()),
        t_equal=float(t_equal(view).max()),
        t_ordered=None if order is None else float(t_ordered(view).max()),
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
        information_bits=float(np.sum(relative * frame.rows) / frame.rows.sum() / np.log(2)),
    )


def _rank_order(column: Column) -> NDArray[np.int32] | None:
    """Rank of each level, or None without an order: none declared, a missing cell, overlapping levels."""
    levels = column.levels
    used = np.bincount(column.codes, minlength=len(levels)) > 0
    if levels.kind == "categorical" or (levels.missing >= 0 and used[levels.missing]):
        return None
    if levels.kind == "numeric":
        low, high = levels.low, levels.high
    else:
        covered = levels.members.any(axis=1)
        low = np.where(covered, levels.members.argmax(axis=1), -1).astype(np.float64)
        last = levels.members.shape[1] - 1 - levels.members[:, ::-1].argmax(axis=1)
        high = np.where(covered, last, -1).astype(np.float64)
    order = np.lexsort((high, low))
    in_use = order[used[order]]
    if np.any(low[in_use][1:] <= high[in_use][:-1]):
        return None
    rank = np.empty(len(levels), dtype=np.int32)
    rank[order] = np.arange(len(levels), dtype=np.int32)
    return rank


def _paths(column: Column, order: NDArray[np.int32] | None) -> NDArray[np.int32] | None:
    """Node above each level at heights 0 to H - 1 of the column's hierarchy; a missing cell has only the root."""
    hierarchy = column.hierarchy
    if hierarchy is None:
        return None
    leaf = {label: i for i, label in enumerate(hierarchy.leaves)}
    used = np.bincount(column.codes, minlength=len(column.levels)) > 0
    index = np.array([leaf.get(label, -1) for label in column.levels.labels])
    outside = int(np.count_nonzero((index < 0) & used & (np.arange(len(index)) != column.levels.missing)))
    if outside:
        raise UnmaskError(
            f"{outside} values of sensitive column {column.name!r} are not leaves of its hierarchy, expected none; "
            "add them to the hierarchy or leave it out"
        )
    rooted = len(set(hierarchy.ancestor[-1])) == 1
    heights = hierarchy.ancestor[: len(hierarchy.ancestor) - rooted]
    paths = np.zeros((len(heights), len(index)), dtype=np.int32)
    for h, nodes in enumerate(heights):
        number = {node: i for i, node in enumerate(dict.fromkeys(nodes))}
        of_leaf = np.array([number[node] for node in nodes])
        paths[h] = np.where(index >= 0, of_leaf[index], len(number))
    if order is not None:
        paths[:, order] = paths.copy()
    return paths


def _sensitive(table: Table, names: str | Sequence[str] | None) -> tuple[Column, ...]:
    if names is None:
        return table.sensitive
    return tuple(table.column(name) for name in ([names] if isinstance(names, str) else names))


def _check_weight(weight: Floats, n_rows: int) -> Floats:
    if weight.shape != (n_rows,):
        raise UnmaskError(f"weight has shape {weight.shape}, expected ({n_rows},), one weight a row")
    return weight


# ------------------------------------------------------------------------------------------------ wildcards


@dataclass(frozen=True, eq=False)
class _Meeting:
    """Classes of one pattern of missing cells (`left`) meet those of another (`right`) on the columns both have."""

    left: NDArray[np.int64]
    left_key: NDArray[np.int32]
    right: NDArray[np.int64]
    right_key: NDArray[np.int32]


def _meetings(levels: NDArray[np.int32], absent: NDArray[np.bool_]) -> tuple[tuple[_Meeting, ...], ...]:
    """One group of meetings per pattern of missing cells; compatible classes are equal where both are known."""
    patterns, of_class = np.unique(absent, axis=0, return_inverse=True)
    member = [np.flatnonzero(of_class.ravel() == i) for i in range(len(patterns))]
    return tuple(
        tuple(_meet(levels, member[a], member[b], ~(patterns[a] | patterns[b])) for b in range(len(patterns)))
        for a in range(len(patterns))
    )


def _meet(
    levels: NDArray[np.int32], left: NDArray[np.int64], right: NDArray[np.int64], shared: NDArray[np.bool_]
) -> _Meeting:
    columns = np.flatnonzero(shared)
    if len(columns) == 0:
        return _Meeting(left, np.zeros(len(left), np.int32), right, np.zeros(len(right), np.int32))
    both = levels[np.concatenate((left, right))]
    key, _, _ = group([np.ascontiguousarray(both[:, j]) for j in columns], [int(both[:, j].max()) + 1 for j in columns])
    return _Meeting(left, key[: len(left)], right, key[len(left) :])


def _merge(
    meetings: tuple[tuple[_Meeting, ...], ...], counts: sparse.csr_array[Any, Any]
) -> sparse.csr_array[Any, Any]:
    """Sum the rows of `counts` (J, m) over all classes compatible with each class."""
    blocks: list[Any] = []
    order: list[NDArray[np.int64]] = []
    for group_of in meetings:
        block: Any = None
        for meeting in group_of:
            n_keys = 1 + int(max(meeting.left_key.max(), meeting.right_key.max()))
            place = (meeting.right_key, np.arange(len(meeting.right)))
            gather = sparse.csr_array((np.ones(len(meeting.right), np.int64), place), (n_keys, len(meeting.right)))
            part = (gather @ counts[meeting.right])[meeting.left_key]
            block = part if block is None else block + part
        blocks.append(block)
        order.append(group_of[0].left)
    return sparse.csr_array(sparse.vstack(blocks).tocsr()[np.argsort(np.concatenate(order))])


# ------------------------------------------------------------------------------------------------ population


def population_sizes(table: Table, population: Table) -> NDArray[np.int64]:
    """People N_c of the population who fit each class of the release, (J,).

    A person fits when each of his quasi-identifier cells is compatible with the class's cell (equal value, value in the
    interval or set; missing cells by `table.missing`). Generalised classes may overlap, so one person may fit several.
    """
    maps = [_fits(column, population, table.missing) for column in table.quasi_identifiers]
    people = [population.column(column.name) for column in table.quasi_identifiers]
    _, sizes, known = group([c.codes for c in people], [len(c.levels) for c in people])
    classes = table.classes
    if all(bool((fit.sum(axis=1) <= 1).all()) for fit in maps):
        return _join(known, sizes, classes.levels, maps)
    fitting = np.zeros(len(classes.sizes), dtype=np.int64)
    step = max(1, _CHUNK // max(1, len(known)))
    for begin in range(0, len(fitting), step):
        block = classes.levels[begin : begin + step]
        fits = np.ones((len(block), len(known)), dtype=np.bool_)
        for j, fit in enumerate(maps):
            fits &= fit.T[block[:, j]][:, known[:, j]]
        fitting[begin : begin + step] = np.where(fits, sizes, 0).sum(axis=1)
    return fitting


def _fits(column: Column, population: Table, missing: Missing) -> NDArray[np.bool_]:
    rule: Missing = "wildcard" if missing == "wildcard" else "own"
    return compatible(population.column(column.name).levels, column.levels, missing=rule)


def _join(
    known: NDArray[np.int32], sizes: NDArray[np.int64], levels: NDArray[np.int32], maps: list[NDArray[np.bool_]]
) -> NDArray[np.int64]:
    """Every known value fits at most one released cell: recode the people and count by equal codes."""
    fits_one = np.ones(len(known), dtype=np.bool_)
    recoded = []
    for j, fit in enumerate(maps):
        fits_one &= np.asarray(fit.any(axis=1))[known[:, j]]
        recoded.append(fit.argmax(axis=1).astype(np.int32)[known[:, j]])
    columns = [np.concatenate((levels[:, j], recoded[j][fits_one])) for j in range(len(maps))]
    key, _, _ = group(columns, [fit.shape[1] for fit in maps])
    total = np.bincount(key[len(levels) :], sizes[fits_one], int(key.max()) + 1)
    return total[key[: len(levels)]].astype(np.int64)
