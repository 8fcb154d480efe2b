"""Population uniqueness from a sample: estimates of three models, and bounds that the sample alone proves.

What an adversary needs is the probability that a record which is unique in the sample is unique in the population. A
register counts it. The super-population models below guess it, and on samples of 1 % they differ ten-fold and may all
be wrong, so their spread is no interval. The interval assumes no model, only that people were drawn at random, and is
therefore wide: below a tenth of the population a sample proves next to nothing about uniques.

Notation: f_i = number of sample classes with i rows, n = sum i f_i rows, J = sum f_i classes, N people in the
population, pi = n/N, K classes in the population.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_CONVERGED = 1e-6
"""Largest relative misfit of the moment equations that counts as a solution."""


@dataclass(frozen=True)
class PopulationUniqueness:
    """Population uniques: an interval without a model, the guesses of three, and what that says of sample uniques.

    rows, population_rows : n and N; sampling_fraction : n/N; sample_uniques : f_1.
    pitman, zayatz, slide_negative_binomial : estimated number of population uniques, 0 to N; None = not available (the
    model does not apply to this sample or its equations have no solution).
    population_classes : estimated number K of classes in the population (Shlosser), None where not available.
    low, high : 95 % interval of the number of population uniques, see `interval`; None where no population of N people
    explains the sample.
    probability_low, probability_high : 95 % interval of the share of the sample uniques that are population uniques;
    None without sample uniques. With pi = 1 the sample is the population and everything is exact.
    """

    rows: int
    population_rows: int
    sampling_fraction: float
    sample_uniques: int
    pitman: float | None
    zayatz: float | None
    slide_negative_binomial: float | None
    population_classes: float | None
    low: float | None
    high: float | None
    probability_low: float | None
    probability_high: float | None


class _Spectrum(NamedTuple):
    """Sizes i that occur and the number f_i of classes of each."""

    size: NDArray[np.float64]
    frequency: NDArray[np.float64]

    @classmethod
    def of(cls, sizes: NDArray[np.int64]) -> _Spectrum:
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


def estimate(sizes: NDArray[np.int64] | Sequence[int], *, population_rows: int) -> PopulationUniqueness:
    """Estimate the number of population uniques from the class sizes of a simple random sample.

    sizes : (J,) rows of each class of the sample; population_rows : N, at least the rows of the sample.

    The models are those of `pitman`, `zayatz` and `slide_negative_binomial`. With a sample of everybody all are f_1.

    >>> sample = np.repeat([1, 2, 3, 4, 10], [100, 40, 20, 10, 5])
    >>> found = estimate(sample, population_rows=3300)
    >>> found.sampling_fraction, found.sample_uniques, found.low < found.high
    (0.1, 100, True)

    A. Hundepool et al., "Statistical Disclosure Control", 2012, chapter 3, for the frame.
    """
    sizes = _check(np.asarray(sizes, dtype=np.int64), population_rows)
    spectrum = _Spectrum.of(sizes)
    uniques = spectrum.classes_of(1)
    models = (pitman, zayatz, slide_negative_binomial)
    estimates = [model(sizes, population_rows=population_rows) for model in models]
    fraction = spectrum.rows / population_rows
    low, high = interval(sizes, population_rows=population_rows) or (None, None)
    drawn = None if low is None or high is None else _drawn(low, high, spectrum.rows, population_rows)
    chance = (None, None) if drawn is None or not uniques else tuple(min(1.0, bound / uniques) for bound in drawn)
    return PopulationUniqueness(
        rows=int(spectrum.rows),
        population_rows=int(population_rows),
        sampling_fraction=fraction,
        sample_uniques=int(uniques),
        pitman=estimates[0],
        zayatz=estimates[1],
        slide_negative_binomial=estimates[2],
        population_classes=population_classes(sizes, population_rows=population_rows),
        low=low,
        high=high,
        probability_low=chance[0],
        probability_high=chance[1],
    )


# ------------------------------------------------------------------------------------------------ without a model

_EDGES = (1, 2, 3, 4, 5, 6, 8, 11, 16, 24, 36)
"""Sample sizes at which the counted groups of classes begin; the later ones by `_RATIO`."""

_RATIO = 1.6

_BOUNDS, _DRAWS = 0.04, 0.01
"""Chance that any bound of the counts fails, and that the draw of the uniques does: 5 % together."""


def interval(sizes: NDArray[np.int64], *, population_rows: int) -> tuple[float, float] | None:
    """95 % interval of the number of population uniques that assumes a simple random sample and nothing else.

    With K_F classes of F people in the population, the expected number of sample classes whose size is in a group g is
    E_g = sum_F K_F P(size in g | F), hypergeometric. What was counted in g bounds E_g: by Garwood's interval of a
    Poisson mean, which a sum of nearly independent 0s and 1s keeps, at 4 % shared by all groups. `low` and `high` are
    the least and the most K_1 of any K >= 0 with sum F K_F = N within these bounds: two linear programs. F takes all
    values up to 60, and then 150 by ratio. None where no K meets all bounds.

    It covers 95 % or more, usually all: the bounds hold together, and K_1 is often not identified by them. Where
    classes of two explain the uniques of the sample as well as uniques do, `low` is 0.

    >>> sample = np.repeat([1, 2, 3, 4, 10], [100, 40, 20, 10, 5])
    >>> [round(bound) for bound in interval(sample, population_rows=660)], interval(sample, population_rows=330)
    ([0, 242], (100.0, 100.0))

    F. Garwood, "Fiducial limits for the Poisson distribution", 1936; the programs in the manner of B. Efron & R.
    Thisted, "Estimating the number of unseen species", 1976.
    """
    sizes = _check(sizes, population_rows)
    spectrum, N = _Spectrum.of(sizes), population_rows
    if spectrum.rows == N:
        return (spectrum.classes_of(1),) * 2
    largest = int(sizes.max())
    steps = np.arange(1, 2 + np.ceil(np.log(max(largest, _EDGES[-1]) / _EDGES[-1]) / np.log(_RATIO)))
    edges = np.concatenate((_EDGES, np.ceil(_EDGES[-1] * _RATIO**steps))).astype(np.int64)
    counted = np.histogram(sizes, edges)[0]
    tail = _BOUNDS / len(counted) / 2
    lower = np.where(counted > 0, scipy.special.gammaincinv(np.maximum(counted, 1), tail), 0.0)
    upper = scipy.special.gammaincinv(counted + 1, 1 - tail)
    top = max(70, 1.5 * (largest + 10) * N / spectrum.rows)
    F = np.unique(np.concatenate((np.arange(1, 61), np.round(np.geomspace(60, top, 150)).astype(np.int64))))
    F = F[F <= N]
    from scipy.stats import hypergeom  # not at the top: slow to load, and only this needs it

    expected = np.diff(hypergeom.cdf(edges[:, None] - 1, N, F, int(spectrum.rows)), axis=0) / F  # for each person
    A, b = np.concatenate((expected, -expected)), np.concatenate((upper, -lower))
    uniques, everybody = (F == 1).astype(np.float64), np.ones((1, len(F)))
    ends = [
        scipy.optimize.linprog(sign * uniques, A_ub=A, b_ub=b, A_eq=everybody, b_eq=[float(N)], method="highs").fun
        for sign in (1, -1)
    ]
    low, high = ends  # None where there is no solution
    return None if low is None or high is None else (float(low), float(0.0 - high))


def _drawn(low: float, high: float, rows: float, N: int) -> tuple[float, float]:
    """Return bounds of the population uniques in the sample, given `low` to `high` of them."""
    from scipy.stats import hypergeom  # not at the top: slow to load, and only this needs it

    ends = (np.floor(low), _DRAWS / 2), (np.ceil(high), 1 - _DRAWS / 2)
    drawn = [float(hypergeom.ppf(level, N, int(uniques), int(rows))) for uniques, level in ends]
    return drawn[0], drawn[1]


# ------------------------------------------------------------------------------------------------ Pitman


def pitman(sizes: NDArray[np.int64], *, population_rows: int) -> float | None:
    """Estimate population uniques by Pitman's two-parameter model; None if its likelihood has no inner maximum.

    The sample is taken as drawn from the Ewens-Pitman partition with 0 <= alpha < 1, theta > -alpha; both by maximum
    likelihood. The expected number of classes of size 1 among N is then, exactly,
    N * prod_{i=1}^{N-1} (theta + alpha + i - 1) / (theta + i).
    A sample in which every row is unique (alpha would be 1) or of one class says nothing: None.

    >>> sample = np.repeat([1, 2, 3, 4, 10], [100, 40, 20, 10, 5])
    >>> 100 < pitman(sample, population_rows=3300) < 1000
    True

    N. Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment", J. Official Statistics
    17 (2001), section 3.
    """
    sizes = _check(sizes, population_rows)
    spectrum = _Spectrum.of(sizes)
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
    """ln x (x+1) ... (x+m-1), for x > 0."""
    return float(scipy.special.gammaln(x + m) - scipy.special.gammaln(x))


def _pitman_log_likelihood(spectrum: _Spectrum, theta: float, alpha: float) -> float:
    """ln of prod_{i<J} (theta + i alpha) / prod_{i<n} (theta + i) * prod_j (prod_{i<j} (i - alpha))^f_j.

    For alpha near 0 the first product is J - 1 factors of almost theta, where the difference of two gammas of
    theta/alpha loses all digits: it is then summed as logarithms.
    """
    J = spectrum.classes
    if theta > 1e6 * alpha:
        steps = np.arange(1, J)
        rising = (J - 1) * np.log(theta) + float(np.sum(np.log1p(steps * (alpha / theta))))
    else:
        rising = (J - 1) * np.log(alpha) + _log_rising(theta / alpha + 1, J - 1)
    inside = scipy.special.gammaln(spectrum.size - alpha) - scipy.special.gammaln(1 - alpha)
    return float(rising - _log_rising(theta + 1, spectrum.rows - 1) + np.sum(spectrum.frequency * inside))


def _fit_pitman(spectrum: _Spectrum) -> tuple[float, float] | None:
    """(theta, alpha) of largest likelihood; None if the search ends at alpha = 1 or theta = infinity."""
    if spectrum.classes < 2 or spectrum.classes_of(1) == spectrum.rows:
        return None

    def unpack(x: NDArray[np.float64]) -> tuple[float, float]:
        alpha = float(scipy.special.expit(x[1]))
        return float(np.exp(x[0])) - alpha, alpha

    def loss(x: NDArray[np.float64]) -> float:
        return -_pitman_log_likelihood(spectrum, *unpack(x)) / spectrum.rows

    box = [(-20.0, float(np.log(1e9 * spectrum.rows))), (-30.0, 15.0)]
    starts = [np.array([np.log(spectrum.classes), a]) for a in (-6.0, -1.0, 1.0)]
    runs = [
        scipy.optimize.minimize(
            loss,
            x,
            method="Nelder-Mead",
            bounds=box,
            options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 4000, "maxfev": 4000},
        )
        for x in starts
    ]
    optimum = min((run for run in runs if run.success), key=lambda run: float(run.fun), default=None)
    if optimum is None or optimum.x[1] > 14 or optimum.x[0] > box[0][1] - 1:
        return None
    return unpack(optimum.x)


# ------------------------------------------------------------------------------------------------ Zayatz


def zayatz(sizes: NDArray[np.int64], *, population_rows: int) -> float | None:
    """Estimate population uniques if class sizes are distributed like those of the sample; None without uniques.

    P(F=1 | f=1) = P(f=1 | F=1) f_1 / sum_i P(f=1 | F=i) f_i with hypergeometric P(f=1 | F=i) of drawing n of N, and
    the estimate is f_1 P(F=1 | f=1) / pi. Sample classes are smaller than population classes, so small samples are
    overestimated, manyfold at 1 %.

    >>> sample = np.repeat([1, 2], [3, 1])
    >>> round(zayatz(sample, population_rows=10), 6)
    4.378378

    L. Zayatz, "Estimation of the number of unique population elements using a sample", US Census Bureau, 1991.
    """
    sizes = _check(sizes, population_rows)
    spectrum = _Spectrum.of(sizes)
    uniques = spectrum.classes_of(1)
    if uniques == 0:
        return None
    N, n = float(population_rows), spectrum.rows
    from scipy.stats import hypergeom  # not at the top: slow to load, and only this needs it

    p_one_drawn = hypergeom.pmf(1, N, spectrum.size, n)
    conditional = (n / N) * uniques / float(np.sum(p_one_drawn * spectrum.frequency))
    return float(min(N, uniques * conditional * N / n))


# ------------------------------------------------------------------------------------------------ negative binomial


def slide_negative_binomial(sizes: NDArray[np.int64], *, population_rows: int) -> float | None:
    """Estimate population uniques if class sizes are 1 + negative binomial; None without a solution.

    P(F = j) = C(a + j - 2, j - 1) p^a (1-p)^(j-1). With K classes and every person sampled with probability pi, the
    generating function G(z) = z (p / (1 - (1-p) z))^a gives E f_1 = K pi G'(1-pi) and E f_2 = K pi^2 G''(1-pi) / 2.
    K is `population_classes`, a and p solve the two equations, and K p^a is the estimate.

    >>> sample = np.repeat([1, 2, 3, 4, 10], [100, 40, 20, 10, 5])
    >>> slide_negative_binomial(sample, population_rows=3300) > 0
    True

    G. Chen, S. Keller-McNulty, "Estimation of identification disclosure risk in microdata", J. Official Statistics
    14 (1998), section 3.
    """
    sizes = _check(sizes, population_rows)
    spectrum = _Spectrum.of(sizes)
    if spectrum.rows == population_rows:
        return spectrum.classes_of(1)
    K = population_classes(sizes, population_rows=population_rows)
    observed = np.array([spectrum.classes_of(1), spectrum.classes_of(2)])
    if K is None or observed.min() == 0:
        return None
    pi = spectrum.rows / population_rows

    def misfit(x: NDArray[np.float64]) -> NDArray[np.float64]:
        a, odds = np.exp(x)
        return np.asarray(np.log(np.maximum(_expected_small(a, odds, K, pi), 1e-300) / observed), dtype=np.float64)

    box = (np.array([-12.0, -16.0]), np.array([8.0, 12.0]))
    optimum, worst = None, np.inf
    for start in ((-3.0, -4.0), (-1.0, -2.0), (0.0, -3.0), (-4.0, -7.0), (1.0, 0.0)):
        run = scipy.optimize.least_squares(misfit, np.array(start), bounds=box, xtol=1e-12, ftol=1e-12, gtol=1e-12)
        if (error := float(np.abs(run.fun).max())) < worst:
            optimum, worst = run.x, error
    if optimum is None or worst > _CONVERGED:
        return None
    a, odds = np.exp(optimum)
    return float(K * np.exp(-a * np.log1p(1 / odds)))


def _expected_small(a: float, odds: float, K: float, pi: float) -> NDArray[np.float64]:
    """(E f_1, E f_2); p = odds / (1 + odds), so that neither p nor 1 - p is rounded away."""
    p, q, u = odds / (1 + odds), 1 / (1 + odds), 1 - pi
    D = p + q * pi  # 1 - q u without the cancellation
    ratio = (p / D) ** a
    first = ratio * (1 + a * q * u / D)
    second = ratio * (2 * a * q / D + a * (a + 1) * q**2 * u / D**2)
    return np.array([K * pi * first, K * pi**2 * second / 2])


def population_classes(sizes: NDArray[np.int64], *, population_rows: int) -> float | None:
    """Estimated number K of classes in the population, at least J; None where no sample class tells (pi too small).

    K = J + f_1 * [sum i pi^2 (1-pi^2)^(i-1) f_i / sum (1-pi)^i ((1+pi)^i - 1) f_i]
              * [sum (1-pi)^i f_i / sum i pi (1-pi)^(i-1) f_i]^2,
    the 1 being subtracted inside each term of the sum (outside it, the estimate is a quarter of the truth).

    >>> population_classes(np.array([1, 1, 2]), population_rows=4)
    3.0

    P. J. Haas, L. Stokes, "Estimating the number of classes in a finite population", JASA 93 (1998), the modified
    Shlosser estimator.
    """
    sizes = _check(sizes, population_rows)
    i, f = _Spectrum.of(sizes)
    pi = float(np.sum(i * f)) / population_rows
    uniques = float(f[i == 1].sum())
    if pi == 1 or uniques == 0:
        return float(f.sum())
    unseen, log_rest = np.log1p(-pi), np.log1p(-(pi**2))
    seen_twice = np.sum(i * pi**2 * np.exp((i - 1) * log_rest) * f)
    spread = np.sum((np.exp(i * log_rest) - np.exp(i * unseen)) * f)
    missed = np.sum(np.exp(i * unseen) * f)
    seen_once = np.sum(i * pi * np.exp((i - 1) * unseen) * f)
    if spread <= 0 or seen_once <= 0:
        return None
    K = float(f.sum() + uniques * (seen_twice / spread) * (missed / seen_once) ** 2)
    return min(K, float(population_rows))


def _check(sizes: NDArray[np.int64], population_rows: int) -> NDArray[np.int64]:
    if sizes.ndim != 1 or len(sizes) == 0 or sizes.min() < 1:
        raise UnmaskError("sizes must be the rows of at least 1 class, each at least 1; drop empty classes")
    if population_rows < sizes.sum():
        raise UnmaskError(
            f"population_rows is {population_rows}, expected at least the {int(sizes.sum())} rows of the sample"
        )
    return sizes
