"""Analyses that an office publishes, compared before and after protection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal, NamedTuple, get_args

import numpy as np
import scipy

from unmask.core.arrays import Booleans, Floats
from unmask.core.errors import UnmaskError, nearest
from unmask.core.logistic_regression import fit_logistic
from unmask.measures.interval import Z95
from unmask.tables.levels import Levels
from unmask.tables.reading import check_columns
from unmask.tables.table import Table
from unmask.tables.utility.analysis_rows import AnalysisRows, list_categories
from unmask.tables.utility.propensity import PropensityScore, score_propensity

Kind = Literal["table", "mean", "correlation", "regression", "propensity"]


@dataclass(frozen=True)
class Analysis:
    """An analysis of a table.

    Parameters
    ----------
    kind : {"table", "mean", "correlation", "regression", "propensity"}
        * "table": share of the rows in each cell of a cross table.
        * "mean": mean of a number in each group.
        * "correlation": Pearson correlation of each pair of numbers.
        * "regression": coefficients of a linear regression, or of a logistic one if the response has two categories.
        * "propensity": how well a model separates released rows from original ones, see `score_propensity`.
    columns : tuple of str
        Groups, numbers or explanatory columns.
    response : str
        Column that is averaged or explained; "" for other kinds.

    Examples
    --------
    >>> Analysis.parse("regression: income ~ age + sex")
    Analysis(kind='regression', columns=('age', 'sex'), response='income')
    >>> str(Analysis.parse("mean: income by region"))
    'mean: income by region'
    """

    kind: Kind
    columns: tuple[str, ...]
    response: str = ""

    @classmethod
    def parse(cls, text: str) -> Analysis:
        """Return the analysis of a text such as `table: sex, job` or `regression: income ~ age + sex`.

        Raises
        ------
        UnmaskError
            If the text names no kind of analysis, or too few columns.
        """
        kind, _, rest = (part.strip() for part in text.partition(":"))
        if kind not in get_args(Kind):
            raise UnmaskError(
                f"the analysis begins with {kind!r}; {nearest(kind, get_args(Kind))}, such as mean: income by region"
            )
        separator = {"mean": r"(?:^|\s+)by\s+", "regression": "~"}.get(kind)
        parts = re.split(separator, rest, maxsplit=1) if separator else ["", rest]
        response, columns = parts[0].strip(), parts[1] if len(parts) > 1 else ""
        names = tuple(name.strip() for name in columns.split("+" if kind == "regression" else ",") if name.strip())
        least = {"mean": 0, "propensity": 0, "correlation": 2}.get(kind, 1)
        is_repeated = len({response, *names}) <= len(names)
        if (separator and not response) or len(names) < least or is_repeated:
            raise UnmaskError(f"the analysis is {text!r}, expected different columns, such as {_EXAMPLES[kind]}")
        return cls(kind, names, response)  # type: ignore[arg-type]

    def __str__(self) -> str:
        names = (" + " if self.kind == "regression" else ", ").join(self.columns)
        join = {"mean": " by ", "regression": " ~ "}.get(self.kind, "")
        rest = self.response + (join if names else "") + names
        return f"{self.kind}: {rest}" if rest else self.kind


_EXAMPLES = {
    "table": "table: sex, job", "mean": "mean: income by region, sex", "correlation": "correlation: age, income",
    "regression": "regression: income ~ age + sex", "propensity": "propensity: age, sex",
}  # fmt: skip


class Estimates(NamedTuple):
    """Estimates of an analysis; nan for those that a table does not give.

    Parameters
    ----------
    labels : sequence of str
        Cell, group, pair of columns or term of each estimate.
    value, low, high : (n_estimates,) array
        Estimates, and the ends of their 95 % intervals.
    n_rows : int
        Rows without a missing cell.
    """

    labels: Sequence[str]
    value: Floats
    low: Floats
    high: Floats
    n_rows: int


class Comparison(NamedTuple):
    """An analysis before and after protection.

    Parameters
    ----------
    analysis : Analysis
        The analysis.
    original, released : Estimates, optional
        Estimates of either table; None for a propensity score.
    propensity : PropensityScore, optional
        The propensity score, for an analysis of this kind.
    """

    analysis: Analysis
    original: Estimates | None = None
    released: Estimates | None = None
    propensity: PropensityScore | None = None

    @property
    def relative_difference(self) -> Floats:
        """(n_estimates,) |released - original| / |original|; nan if a value is unknown, or the original is 0."""
        assert self.original is not None
        assert self.released is not None
        change = np.abs(self.released.value - self.original.value)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.original.value == 0, np.nan, change / np.abs(self.original.value))

    @property
    def overlap(self) -> Floats:
        """(n_estimates,) overlap of the 95 % intervals, see `interval_overlap`; nan if the release has no interval."""
        assert self.original is not None
        assert self.released is not None
        return interval_overlap(self.original.low, self.original.high, self.released.low, self.released.high)

    @property
    def mean_overlap(self) -> float:
        """Mean overlap, from 0 to 1; 0 for intervals that are apart, and for estimates that the release lacks."""
        return float(np.mean(np.maximum(np.nan_to_num(self.overlap), 0)))


def interval_overlap(low: Floats, high: Floats, other_low: Floats, other_high: Floats) -> Floats:
    """Return the overlap of intervals: the mean of I / (high - low) and I / (other_high - other_low).

    I is the length of the intersection. It is negative for intervals that are apart: the overlap is then minus their
    distance in lengths of the intervals.

    Parameters
    ----------
    low, high, other_low, other_high : (n,) array
        Ends of the intervals.

    Returns
    -------
    (n,) array
        At most 1, for equal intervals.

    References
    ----------
    A. F. Karr, C. N. Kohnen, A. Oganian, J. P. Reiter, A. P. Sanil, "A framework for evaluating the utility of data
    altered to protect confidentiality", The American Statistician, 2006.

    Examples
    --------
    >>> interval_overlap(np.array([0.0]), np.array([2.0]), np.array([1.0]), np.array([3.0]))
    array([0.5])
    """
    common = np.minimum(high, other_high) - np.maximum(low, other_low)
    lengths = np.stack([high - low, other_high - other_low])
    is_point = lengths <= 0
    shares = np.where(is_point, common >= 0, common / np.where(is_point, 1, lengths))
    return np.asarray(np.where(np.isnan(common), np.nan, shares.mean(axis=0)))


def compare_analyses(original: Table, release: Table, analyses: Iterable[Analysis | str]) -> tuple[Comparison, ...]:
    """Return analyses of a table before and after protection.

    Categories are those of the original. A released cell with several values counts as its center, or in equal shares
    for its categories. Rows with a missing or suppressed cell are left out. Survey weights of a table are used, and
    intervals allow for them; strata and clusters are not.

    Parameters
    ----------
    original, release : Table
        Tables in memory.
    analyses : iterable of Analysis or str
        The analyses, or texts as in `Analysis.parse`.

    Returns
    -------
    tuple of Comparison

    Raises
    ------
    UnmaskError
        If the original lacks a column, or has no estimate; or if one of the tables has weights.

    Examples
    --------
    >>> people, release = (
    ...     Table.read({"sex": list("ffmm"), "pay": pay}, quasi_identifiers="sex", sensitive="pay")
    ...     for pay in ([20, 30, 40, 60], [20, 30, 40, 80])
    ... )
    >>> comparison = compare_analyses(people, release, ["mean: pay by sex"])[0]
    >>> comparison.original.value, comparison.released.value, comparison.relative_difference
    (array([25., 50.]), array([25., 60.]), array([0. , 0.2]))
    """
    if (original.weight is None) != (release.weight is None):
        raise UnmaskError("one of the original and the release has weights; give both their weights, or none")
    parsed = (Analysis.parse(item) if isinstance(item, str) else item for item in analyses)
    return tuple(_compare(original, release, analysis) for analysis in parsed)


def _compare(original: Table, release: Table, analysis: Analysis) -> Comparison:
    names = [*analysis.columns, *filter(None, [analysis.response])]
    check_columns(original.names, names, place="the original")
    if analysis.kind == "propensity":
        shared = [name for name in analysis.columns or original.names if name in release.names]
        return Comparison(analysis, propensity=score_propensity(original, release, shared))
    plan = _Plan.of(original, analysis)
    before = plan.estimate(original)
    is_given = np.isfinite(before.low) & np.isfinite(before.high)
    if not is_given.any():
        raise UnmaskError(f"the original has no estimate for the analysis {str(analysis)!r}; check its columns")
    if set(names) <= set(release.names):
        after = plan.estimate(release)
    else:
        unknown = np.full(len(is_given), np.nan)
        after = Estimates(before.labels, unknown, unknown, unknown, 0)
    return Comparison(analysis, _select(before, is_given), _select(after, is_given))


def _select(estimates: Estimates, chosen: Booleans) -> Estimates:
    labels = [label for label, is_chosen in zip(estimates.labels, chosen, strict=True) if is_chosen]
    value, low, high = (part[chosen] for part in (estimates.value, estimates.low, estimates.high))
    return Estimates(labels, value, low, high, estimates.n_rows)


@dataclass(frozen=True)
class _Plan:
    """An analysis with its numeric columns, and with the categories of the others in the original."""

    analysis: Analysis
    numbers: tuple[str, ...]
    categories: dict[str, Levels]

    @classmethod
    def of(cls, original: Table, analysis: Analysis) -> _Plan:
        names = tuple(filter(None, (analysis.response, *analysis.columns)))
        numeric = [name for name in names if original.column(name).levels.kind == "numeric"]
        needed = {"mean": (analysis.response,), "correlation": names}.get(analysis.kind, ())
        for name in (name for name in needed if name not in numeric):
            raise UnmaskError(f"column {name!r} has no numbers, which a {analysis.kind} needs; take a numeric column")
        groups = analysis.columns if analysis.kind in ("table", "mean") else [n for n in names if n not in numeric]
        categories = {name: list_categories(original.column(name)) for name in groups}
        if analysis.kind == "regression" and len(categories.get(analysis.response, "01")) != 2:
            raise UnmaskError(f"column {analysis.response!r} is neither numeric nor of two values; explain another")
        return cls(analysis, tuple(name for name in names if name not in categories), categories)

    def estimate(self, table: Table) -> Estimates:
        """Return the estimates of a table."""
        rows = AnalysisRows.of(table, self.numbers, self.categories)
        return _ESTIMATORS[self.analysis.kind](self, rows)

    @property
    def cell_labels(self) -> list[str]:
        """Labels of the cells of a cross table."""
        values = (self.categories[name].labels for name in self.analysis.columns)
        return [", ".join(map("{} = {}".format, self.analysis.columns, cell)) for cell in product(*values)]


def _estimate_shares(plan: _Plan, rows: AnalysisRows) -> Estimates:
    """Return the weighted share of each cell, with Wilson's interval for the effective number of rows."""
    cells = rows.cross(plan.analysis.columns)
    total = max(rows.weight.sum(), np.finfo(float).tiny)
    share = np.asarray(cells.T @ rows.weight) / total
    n = max(rows.effective_rows, 1.0)
    center, half = share + Z95**2 / (2 * n), Z95 * np.sqrt(share * (1 - share) / n + (Z95 / (2 * n)) ** 2)
    low, high = (center - half) / (1 + Z95**2 / n), (center + half) / (1 + Z95**2 / n)
    if not rows.n_rows:
        share = low = high = np.full(len(share), np.nan)
    return Estimates(plan.cell_labels, share, low, high, rows.n_rows)


def _estimate_means(plan: _Plan, rows: AnalysisRows) -> Estimates:
    """Return the weighted mean of each group; its variance is by linearization of a ratio."""
    cells, response = rows.cross(plan.analysis.columns), rows.numbers[plan.analysis.response]
    shift = float(np.mean(response)) if len(response) else 0.0
    values, squares = response - shift, cells.multiply(cells).T
    count, weight = (np.asarray(cells.T @ counts) for counts in (rows.count, rows.weight))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.asarray(cells.T @ (rows.weight * values)) / weight
        parts = (np.asarray(squares @ (rows.square * values**power)) for power in (0, 1, 2))
        ones, linear, quadratic = parts
        variance = (quadratic - 2 * mean * linear + mean**2 * ones) / weight**2 * count / (count - 1)
        error = np.where(count > 1, np.sqrt(np.maximum(variance, 0)), np.nan)
    mean = mean + shift
    labels = plan.cell_labels if plan.analysis.columns else [plan.analysis.response]
    return Estimates(labels, mean, mean - Z95 * error, mean + Z95 * error, rows.n_rows)


def _estimate_correlations(plan: _Plan, rows: AnalysisRows) -> Estimates:
    """Return the weighted correlation of each pair of columns, with Fisher's interval."""
    names = plan.analysis.columns
    pairs = list(combinations(range(len(names)), 2))
    value = np.full(len(pairs), np.nan)
    if rows.effective_rows > 3:
        values = np.stack([rows.numbers[name] for name in names])
        centered = values - np.average(values, axis=1, weights=rows.weight)[:, None]
        moments = (centered * rows.weight) @ centered.T
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.array([moments[a, b] / np.sqrt(moments[a, a] * moments[b, b]) for a, b in pairs])
    half = Z95 / np.sqrt(max(rows.effective_rows, 4) - 3)
    angle = np.arctanh(np.clip(value, -1 + 1e-15, 1 - 1e-15))
    labels = [f"{names[a]}, {names[b]}" for a, b in pairs]
    return Estimates(labels, value, np.tanh(angle - half), np.tanh(angle + half), rows.n_rows)


def _estimate_coefficients(plan: _Plan, rows: AnalysisRows) -> Estimates:
    """Return the coefficients of a regression, with robust errors; nan for all if columns determine each other."""
    labels, design = _make_design(plan, rows)
    n_terms = design.shape[1]
    unknown = np.full(n_terms - 1, np.nan)
    spread = np.where(design.std(axis=0) > 0, design.std(axis=0), 1) if len(design) else np.ones(n_terms)
    scaled = design / spread
    if rows.n_rows <= n_terms or np.linalg.matrix_rank(scaled * np.sqrt(rows.weight)[:, None]) < n_terms:
        return Estimates(labels, unknown, unknown, unknown, rows.n_rows)
    response = plan.analysis.response
    if response in rows.numbers:
        outcome, root = rows.numbers[response], np.sqrt(rows.weight)
        coefficients = np.linalg.lstsq(scaled * root[:, None], outcome * root, rcond=None)[0]
        residual, curvature = outcome - scaled @ coefficients, rows.weight
    else:
        outcome = rows.shares[response].toarray()[:, 1]
        coefficients = fit_logistic(scaled, rows.weight * outcome, rows.weight)
        probability = scipy.special.expit(scaled @ coefficients)
        residual, curvature = outcome - probability, rows.weight * probability * (1 - probability)
    bread = np.linalg.pinv((scaled * curvature[:, None]).T @ scaled, hermitian=True)
    meat = (scaled * (rows.square * residual**2)[:, None]).T @ scaled
    variance = np.diag(bread @ meat @ bread) * rows.n_rows / (rows.n_rows - n_terms)
    value, error = (coefficients / spread)[1:], (np.sqrt(variance) / spread)[1:]
    return Estimates(labels, value, value - Z95 * error, value + Z95 * error, rows.n_rows)


def _make_design(plan: _Plan, rows: AnalysisRows) -> tuple[list[str], Floats]:
    """Return the terms of a regression, and their (n, n_terms) values; the first is the constant."""
    labels, terms = [], [np.ones((len(rows.count), 1))]
    for name in plan.analysis.columns:
        if name in rows.numbers:
            labels.append(name)
            terms.append(rows.numbers[name][:, None])
        else:
            labels += [f"{name} = {value}" for value in plan.categories[name].labels[1:]]
            terms.append(rows.shares[name].toarray()[:, 1:])
    return labels, np.concatenate(terms, axis=1)


_ESTIMATORS = {
    "table": _estimate_shares,
    "mean": _estimate_means,
    "correlation": _estimate_correlations,
    "regression": _estimate_coefficients,
}
