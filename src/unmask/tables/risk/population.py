"""Population uniqueness from a sample: estimates of three models, and a model-free interval.

An adversary needs the probability that a record that is unique in the sample is also unique in the population. A
register determines this probability. The superpopulation models estimate it. On samples of 1 % their estimates differ
by a factor of ten and all of them may be wrong, so their spread is not an interval. The interval assumes only that
people were sampled at random. It is therefore wide: below a tenth of the population, a sample proves almost nothing
about unique people.

Notation: f_i = number of sample classes with i rows, n = sum i f_i rows, J = sum f_i classes, N people in the
population, pi = n/N, K classes in the population.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    from collections.abc import Sequence


_MAX_MISFIT = 1e-6
"""Largest relative error of the moment equations of a solution."""


@dataclass(frozen=True)
class PopulationUniqueness:
    """Population uniques: a model-free interval, three model estimates, and the resulting probability for sample
    uniques.

    pitman, zayatz, slide_negative_binomial : estimated number of population uniques, 0 to N; None if the model does not
        apply or its equations have no solution
    low, high : 95 % interval of the number of population uniques, see `interval`; None if no population of N people
        explains the sample
    probability_low, probability_high : 95 % interval of the share of sample uniques that are population uniques; None
        without sample uniques. With pi = 1 the sample is the population, and all numbers are exact
    """

    pitman: float | None
    zayatz: float | None
    slide_negative_binomial: float | None
    low: float | None
    high: float | None
    probability_low: float | None
    probability_high: float | None


class _Spectrum(NamedTuple):
    """Class sizes i that occur, and the number f_i of classes of each size."""

    size: Floats
    frequency: Floats

    @classmethod
    def of(cls, sizes: Integers, population_rows: int) -> _Spectrum:
        if sizes.ndim != 1 or len(sizes) == 0 or sizes.min() < 1:
            raise UnmaskError("sizes must be the rows of at least 1 class, each at least 1; drop empty classes")
        if population_rows < sizes.sum():
            raise UnmaskError(
                f"population_rows is {population_rows}, expected at least the {int(sizes.sum())} rows of the sample"
            )
        size, frequency = np.unique(sizes, return_counts=True)
        return cls(size.astype(np.float64), frequency.astype(np.float64))

    @property
    def rows(self) -> float:
        return float(np.sum(self.size * self.frequency))

    @property
    def classes(self) -> float:
        return float(self.frequency.sum())

    def classes_of(self, size: int) -> float:
        return float(self.frequency[self.size == size].sum())


def estimate(sizes: Integers | Sequence[int], *, population_rows: int) -> PopulationUniqueness:
    """Estimate the number of population uniques from the class sizes of a simple random sample.

    sizes           : (J,) rows of each class of the sample
    population_rows : N, at least the number of rows of the sample

    The models are `pitman`, `zayatz` and `slide_negative_binomial`. If everybody was sampled, all estimates are f_1.

    >>> sample = np.repeat([1, 2, 3, 4, 10], [100, 40, 20, 10, 5])
    >>> result = estimate(sample, population_rows=3300)
    >>> result.low < 500 < result.high
    True

    A. Hundepool et al., "Statistical Disclosure Control", 2012, chapter 3.
    """
    sizes = np.asarray(sizes, dtype=np.int64)
    spectrum = _Spectrum.of(sizes, population_rows)
    uniques = spectrum.classes_of(1)
    low, high = interval(sizes, population_rows=population_rows) or (None, None)
    chance: tuple[float | None, ...] = (None, None)
    if low is not None and high is not None and uniques:
        bounds = _bound_sampled_uniques(low, high, spectrum.rows, population_rows)
        chance = tuple(min(1.0, bound / uniques) for bound in bounds)
    return PopulationUniqueness(
        pitman=pitman(sizes, population_rows=population_rows),
        zayatz=zayatz(sizes, population_rows=population_rows),
        slide_negative_binomial=slide_negative_binomial(sizes, population_rows=population_rows),
        low=low,
        high=high,
        probability_low=chance[0],
        probability_high=chance[1],
    )


# ------------------------------------------------------------------------------------------------ without a model

_GROUP_EDGES = (1, 2, 3, 4, 5, 6, 8, 11, 16, 24, 36)
"""Smallest class sizes of the groups in which sample classes are counted. Larger edges grow by `_EDGE_RATIO`."""

_EDGE_RATIO = 1.6

_BOUNDS_ERROR, _SAMPLING_ERROR = 0.04, 0.01
"""Probability that a bound of the group counts fails, and that the bound of the sampled uniques fails; 5 % together."""


MAX_BINOMIAL_FRACTION = 1e-3
"""Sampled share of a population up to which a draw without replacement is a draw with replacement.

No probability of a sample differs by more than this share. The hypergeometric law takes minutes for a billion people.
"""


def _law_of_sample(population: int, people: Any, rows: int) -> Any:
    """Return the law of the number of sampled rows that are of some people of a population."""
    from scipy.stats import binom, hypergeom  # not at the top: slow to load, and only this needs it

    if rows <= MAX_BINOMIAL_FRACTION * population:
        return binom(rows, people / population)
    return hypergeom(population, people, rows)


def interval(sizes: Integers, *, population_rows: int) -> tuple[float, float] | None:
    """Return a 95 % interval of the number of population uniques that assumes only simple random sampling.

    Let K_F be the number of classes with F people in the population. The expected number of sample classes in size
    group g is E_g = sum_F K_F P(size in g | F), with hypergeometric P. The observed count bounds E_g by Garwood's
    interval of a Poisson mean, which also holds for a sum of nearly independent 0-1 variables. The groups share an
    error of 4 %. `low` and `high` are the smallest and largest K_1 among all K >= 0 with sum F K_F = N within these
    bounds: two linear programs. F takes all values up to 60, and 150 larger values in geometric steps. None if no K
    satisfies all bounds.

    The interval covers in 95 % of samples or more, because all bounds hold together and often do not identify K_1. If
    classes of two people explain the unique rows as well as unique people do, `low` is 0.

    >>> sample = np.repeat([1, 2, 3, 4, 10], [100, 40, 20, 10, 5])
    >>> [round(bound) for bound in interval(sample, population_rows=660)], interval(sample, population_rows=330)
    ([0, 242], (100.0, 100.0))

    F. Garwood, "Fiducial limits for the Poisson distribution", 1936. The linear programs follow B. Efron & R. Thisted,
    "Estimating the number of unseen species", 1976.
    """
    spectrum, N = _Spectrum.of(sizes, population_rows), population_rows
    if spectrum.rows == N:
        return (spectrum.classes_of(1),) * 2
    largest = int(sizes.max())
    steps = np.arange(1, 2 + np.ceil(np.log(max(largest, _GROUP_EDGES[-1]) / _GROUP_EDGES[-1]) / np.log(_EDGE_RATIO)))
    edges = np.concatenate((_GROUP_EDGES, np.ceil(_GROUP_EDGES[-1] * _EDGE_RATIO**steps))).astype(np.int64)
    counted = np.histogram(sizes, edges)[0]
    tail = _BOUNDS_ERROR / len(counted) / 2
    lower = np.where(counted > 0, scipy.special.gammaincinv(np.maximum(counted, 1), tail), 0.0)
    upper = scipy.special.gammaincinv(counted + 1, 1 - tail)
    top = max(70, 1.5 * (largest + 10) * N / spectrum.rows)
    F = np.unique(np.concatenate((np.arange(1, 61), np.round(np.geomspace(60, top, 150)).astype(np.int64))))
    F = F[F <= N]
    law = _law_of_sample(N, F, int(spectrum.rows))
    expected = np.diff(law.cdf(edges[:, None] - 1), axis=0) / F  # for each person
    A, b = np.concatenate((expected, -expected)), np.concatenate((upper, -lower))
    uniques, total = (F == 1).astype(np.float64), np.ones((1, len(F)))
    ends = [
        scipy.optimize.linprog(sign * uniques, A_ub=A, b_ub=b, A_eq=total, b_eq=[float(N)], method="highs").fun
        for sign in (1, -1)
    ]
    low, high = ends  # None where there is no solution
    return None if low is None or high is None else (float(low), float(0.0 - high))


def _bound_sampled_uniques(low: float, high: float, rows: float, N: int) -> tuple[float, float]:
    """Return bounds of the number of population uniques in the sample, given `low` to `high` in the population."""
    ends = (np.floor(low), _SAMPLING_ERROR / 2), (np.ceil(high), 1 - _SAMPLING_ERROR / 2)
    sampled_uniques = [float(_law_of_sample(N, int(uniques), int(rows)).ppf(level)) for uniques, level in ends]
    return sampled_uniques[0], sampled_uniques[1]


# ------------------------------------------------------------------------------------------------ Pitman


def pitman(sizes: Integers, *, population_rows: int) -> float | None:
    """Estimate population uniques by Pitman's two-parameter model.

    The sample is assumed to come from the Ewens-Pitman partition with 0 <= alpha < 1 and theta > -alpha, which are
    estimated by maximum likelihood. The expected number of classes of size 1 among N is then exactly N *
    prod_{i=1}^{N-1} (theta + alpha + i - 1) / (theta + i). None if the likelihood has no inner maximum: if every row is
    unique (alpha would be 1), or all rows are in one class.

    >>> sample = np.repeat([1, 2, 3, 4, 10], [100, 40, 20, 10, 5])
    >>> 100 < pitman(sample, population_rows=3300) < 1000
    True

    N. Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment", J. Official Statistics 17
    (2001), section 3.
    """
    spectrum = _Spectrum.of(sizes, population_rows)
    if spectrum.rows == population_rows:
        return spectrum.classes_of(1)
    fitted = _fit_pitman(spectrum)
    if fitted is None:
        return None
    theta, alpha = fitted
    N = float(population_rows)
    log_unique = _log_rising(theta + alpha, N - 1) - _log_rising(theta + 1, N - 1)
    return float(min(N, N * np.exp(log_unique)))


def _log_rising(x: float, m: float) -> float:
    """Return ln x (x+1) ... (x+m-1), for x > 0."""
    return float(scipy.special.gammaln(x + m) - scipy.special.gammaln(x))


def _pitman_log_likelihood(spectrum: _Spectrum, theta: float, alpha: float) -> float:
    """Return ln of prod_{i<J} (theta + i alpha) / prod_{i<n} (theta + i) * prod_j (prod_{i<j} (i - alpha))^f_j.

    If alpha is near 0, the first product has J - 1 factors close to theta, and the difference of two log-gammas of
    theta/alpha loses all digits. The logarithms are then summed.
    """
    J = spectrum.classes
    if theta > 1e6 * alpha:
        steps = np.arange(1, J)
        rising = (J - 1) * np.log(theta) + float(np.sum(np.log1p(steps * (alpha / theta))))
    else:
        rising = (J - 1) * np.log(alpha) + _log_rising(theta / alpha + 1, J - 1)
    rising_of_sizes = scipy.special.gammaln(spectrum.size - alpha) - scipy.special.gammaln(1 - alpha)
    return float(rising - _log_rising(theta + 1, spectrum.rows - 1) + np.sum(spectrum.frequency * rising_of_sizes))


def _fit_pitman(spectrum: _Spectrum) -> tuple[float, float] | None:
    """Return (theta, alpha) with the largest likelihood; None if the search ends at alpha = 1 or theta = infinity."""
    if spectrum.classes < 2 or spectrum.classes_of(1) == spectrum.rows:
        return None

    def unpack(x: Floats) -> tuple[float, float]:
        alpha = float(scipy.special.expit(x[1]))
        return float(np.exp(x[0])) - alpha, alpha

    def loss(x: Floats) -> float:
        return -_pitman_log_likelihood(spectrum, *unpack(x)) / spectrum.rows

    box = [(-20.0, float(np.log(1e9 * spectrum.rows))), (-30.0, 15.0)]
    starts = [np.array([np.log(spectrum.classes), a]) for a in (-6.0, -1.0, 1.0)]
    options: Any = {"xatol": 1e-9, "fatol": 1e-14, "maxiter": 4000, "maxfev": 4000}
    runs = [scipy.optimize.minimize(loss, x, method="Nelder-Mead", bounds=box, options=options) for x in starts]
    optimum = min((run for run in runs if run.success), key=lambda run: float(run.fun), default=None)
    if optimum is None or optimum.x[1] > 14 or optimum.x[0] > box[0][1] - 1:
        return None
    return unpack(optimum.x)


# ------------------------------------------------------------------------------------------------ Zayatz


def zayatz(sizes: Integers, *, population_rows: int) -> float | None:
    """Estimate population uniques on the assumption that population classes have the sizes of sample classes.

    P(F=1 | f=1) = P(f=1 | F=1) f_1 / sum_i P(f=1 | F=i) f_i, with hypergeometric P(f=1 | F=i) for n of N rows. The
    estimate is f_1 P(F=1 | f=1) / pi. Sample classes are smaller than population classes. Therefore estimates from
    small samples are too large, several times so for a sample of 1 %. None without sample uniques.

    >>> sample = np.repeat([1, 2], [3, 1])
    >>> round(zayatz(sample, population_rows=10), 6)
    4.378378

    L. Zayatz, "Estimation of the number of unique population elements using a sample", US Census Bureau, 1991.
    """
    spectrum = _Spectrum.of(sizes, population_rows)
    uniques = spectrum.classes_of(1)
    if uniques == 0:
        return None
    N, n = float(population_rows), spectrum.rows
    from scipy.stats import hypergeom  # not at the top: slow to load, and only this needs it

    p_one_drawn = hypergeom.pmf(1, N, spectrum.size, n)
    conditional = (n / N) * uniques / float(np.sum(p_one_drawn * spectrum.frequency))
    return float(min(N, uniques * conditional * N / n))


# ------------------------------------------------------------------------------------------------ negative binomial


def slide_negative_binomial(sizes: Integers, *, population_rows: int) -> float | None:
    """Estimate population uniques on the assumption that class sizes are 1 plus a negative binomial variable.

    P(F = j) = C(a + j - 2, j - 1) p^a (1-p)^(j-1). K is `population_classes`. With sampling probability pi, the
    generating function G(z) = z (p / (1 - (1-p) z))^a gives E f_1 = K pi G'(1-pi) and E f_2 = K pi^2 G''(1-pi) / 2. a
    and p solve these two equations, and the estimate is K p^a. None without a solution.

    >>> sample = np.repeat([1, 2, 3, 4, 10], [100, 40, 20, 10, 5])
    >>> slide_negative_binomial(sample, population_rows=3300) > 0
    True

    G. Chen, S. Keller-McNulty, "Estimation of identification disclosure risk in microdata", J. Official Statistics 14
    (1998), section 3.
    """
    spectrum = _Spectrum.of(sizes, population_rows)
    if spectrum.rows == population_rows:
        return spectrum.classes_of(1)
    K = population_classes(sizes, population_rows=population_rows)
    observed = np.array([spectrum.classes_of(1), spectrum.classes_of(2)])
    if K is None or observed.min() == 0:
        return None
    pi = spectrum.rows / population_rows

    def misfit(x: Floats) -> Floats:
        a, odds = np.exp(x)
        return np.asarray(np.log(np.maximum(_expected_small(a, odds, K, pi), 1e-300) / observed), dtype=np.float64)

    box = (np.array([-12.0, -16.0]), np.array([8.0, 12.0]))
    optimum, worst = None, np.inf
    for start in ((-3.0, -4.0), (-1.0, -2.0), (0.0, -3.0), (-4.0, -7.0), (1.0, 0.0)):
        run = scipy.optimize.least_squares(misfit, np.array(start), bounds=box, xtol=1e-12, ftol=1e-12, gtol=1e-12)
        if (error := float(np.abs(run.fun).max())) < worst:
            optimum, worst = run.x, error
    if optimum is None or worst > _MAX_MISFIT:
        return None
    a, odds = np.exp(optimum)
    return float(K * np.exp(-a * np.log1p(1 / odds)))


def _expected_small(a: float, odds: float, K: float, pi: float) -> Floats:
    """Return (E f_1, E f_2), with p = odds / (1 + odds), so that rounding loses neither p nor 1 - p."""
    p, q, u = odds / (1 + odds), 1 / (1 + odds), 1 - pi
    D = p + q * pi  # 1 - q u without the cancellation
    ratio = (p / D) ** a
    first = ratio * (1 + a * q * u / D)
    second = ratio * (2 * a * q / D + a * (a + 1) * q**2 * u / D**2)
    return np.array([K * pi * first, K * pi**2 * second / 2])


def population_classes(sizes: Integers, *, population_rows: int) -> float | None:
    """Estimate the number K of classes in the population, at least J; None if pi is too small.

    K = J + f_1 * [sum i pi^2 (1-pi^2)^(i-1) f_i / sum (1-pi)^i ((1+pi)^i - 1) f_i]
              * [sum (1-pi)^i f_i / sum i pi (1-pi)^(i-1) f_i]^2

    The 1 is subtracted inside each term of the sum. Outside it, the estimate would be a quarter of the true value.

    >>> population_classes(np.array([1, 1, 2]), population_rows=4)
    3.0

    P. J. Haas, L. Stokes, "Estimating the number of classes in a finite population", JASA 93 (1998), the modified
    Shlosser estimator.
    """
    spectrum = _Spectrum.of(sizes, population_rows)
    (i, f), pi, uniques = spectrum, spectrum.rows / population_rows, spectrum.classes_of(1)
    if pi == 1 or uniques == 0:
        return float(f.sum())
    log_unseen, log_rest = np.log1p(-pi), np.log1p(-(pi**2))
    twice_weight = np.sum(i * pi**2 * np.exp((i - 1) * log_rest) * f)
    spread = np.sum((np.exp(i * log_rest) - np.exp(i * log_unseen)) * f)
    missed_weight = np.sum(np.exp(i * log_unseen) * f)
    once_weight = np.sum(i * pi * np.exp((i - 1) * log_unseen) * f)
    if spread <= 0 or once_weight <= 0:
        return None
    K = float(f.sum() + uniques * (twice_weight / spread) * (missed_weight / once_weight) ** 2)
    return min(K, float(population_rows))
