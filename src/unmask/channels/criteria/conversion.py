"""Conversion of a criterion's value to the error of the adversary, with the assumption that it needs."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, inf, isfinite, log, log2, sqrt, tanh
from typing import Literal, NamedTuple

from unmask.core.errors import UnmaskError

Case = Literal["best", "average", "worst", "hybrid"]
Statement = Literal["equality", "range", "bound"]

ROUNDING = 1e-9
"""Bits by which an entropy may exceed log2 n."""

BISECTION_STEPS = 100
"""Halvings of the error: more than a double has digits."""


class ErrorRange(NamedTuple):
    """The range of the adversary's expected error.

    Parameters
    ----------
    low, high : float
        Ends of the range under the assumption of the criterion.
    without_it : float
        The lower end that remains if the assumption fails.
    statement : {"equality", "range", "bound"}
        "equality": low = high. "range": some belief attains each end. "bound": a bound on the loss of privacy, not a
        measure of privacy.
    assumption : str
        The assumption in words.
    """

    low: float
    high: float
    without_it: float
    statement: Statement
    assumption: str


class Criterion(NamedTuple):
    """A criterion that `error_of` converts.

    Parameters
    ----------
    name : str
        Name.
    unit : str
        Unit of its value.
    case : {"best", "average", "worst", "hybrid"}
        Case from the user's point of view. "hybrid" is a maximum of an expectation.
    assumption : str
        Condition under which the conversion holds. All but the distances need one observation and the 0/1 loss.
    needs : str
        Argument of `error_of` that it needs besides the value, or empty.
    """

    name: str
    unit: str
    case: Case
    assumption: str
    needs: Literal["", "n", "prior_error"] = ""


CRITERIA: tuple[Criterion, ...] = (
    Criterion("k_anonymity", "records", "best", "the adversary holds the k records of a class alike"),
    Criterion("l_diversity", "values", "best", "the l values of a class are equally frequent"),
    Criterion("entropy_l_diversity", "values", "average", "the class has entropy log2 l over n values", "n"),
    Criterion("hartley_entropy", "bits", "best", "the belief is uniform on its support"),
    Criterion("shannon_entropy", "bits", "average", "H is the entropy of a belief over n candidates", "n"),
    Criterion("conditional_entropy", "bits", "average", "H averages H(X given y) over y, n candidates", "n"),
    Criterion("min_entropy", "bits", "worst", "H_inf = -log2 max p given y, or -log2 E max p on average"),
    Criterion("t_closeness", "probability", "hybrid", "t is the largest total variation from the prior", "prior_error"),
    Criterion("t_closeness_kl", "bits", "hybrid", "D is the largest divergence from the prior", "prior_error"),
    Criterion("mutual_information", "bits", "average", "I = I(X; Y), an average over y", "prior_error"),
    Criterion("delta_disclosure", "nats", "worst", "|ln p/q| <= delta everywhere", "prior_error"),
    Criterion("local_epsilon", "nats", "worst", "the channel has local differential privacy epsilon", "prior_error"),
)
"""Best, average and worst case of the error, and bounds on its loss (sections V-A and V-B of the paper, corrected)."""


def error_of(
    criterion: str,
    value: float,
    *,
    n: int | None = None,
    prior_error: float | None = None,
    dmax: float = 1.0,
    graded: bool = False,
) -> ErrorRange:
    """Convert the value of a criterion to the adversary's expected error, or to its range.

    P is the expected loss given y under the Bayes answer, R0 the same before the release, p the posterior, q the prior.

    * k-anonymity, l-diversity, Hartley entropy: P = 1 - 1/k = 1 - 2^-H0. With background knowledge P may be 0; l
      values may be 99 % one of them.
    * Min-entropy: P = 1 - 2^-H_inf. The average of H_inf(X given y) gives too large an error; use -log2 E max p.
    * Shannon and conditional entropy, entropy l-diversity: P lies between Fano's bound and its opposite (for averages:
      the chords of the opposite, at most H/2).
    * t-closeness: |P - R0| <= dmax t. In divergence: dmax min(sqrt(ln2 D / 2), sqrt(1 - 2^-D)). These bound the loss of
      privacy and ignore that some values are similar.
    * Mutual information: R0 - E P <= the same with I. One output may reveal everything.
    * delta-disclosure: P >= e^-delta R0 and |P - R0| <= dmax tanh(delta / 2). Always infinite for identity.
    * Local epsilon: P >= R0 / (R0 + (1 - R0) e^eps) for the 0/1 loss, e^-eps R0 for any;
      |P - R0| <= dmax tanh(eps / 4). delta <= eps <= 2 delta.

    Parameters
    ----------
    criterion : str
        A name in `CRITERIA`.
    value : float
        Its value in the unit of `CRITERIA`.
    n : int, optional
        Number of candidates, for Shannon entropies.
    prior_error : float, optional
        R0, 0 <= R0 <= dmax, for criteria that compare with the prior.
    dmax : float
        Largest loss, 1 for the 0/1 loss.
    graded : bool
        Allow any loss up to dmax, not the 0/1 loss alone.

    Returns
    -------
    ErrorRange
        The range and its assumption.

    Raises
    ------
    UnmaskError
        If the criterion is unknown, a value is not valid, or a needed argument is missing.

    References
    ----------
    D. Rebollo-Monedero et al. 2012, sections V-A and V-B, with the constants of eq. (8) corrected; Cover & Thomas,
    theorem 2.10.1; Hellman & Raviv 1970; Feder & Merhav 1994, eqs. (2), (11), (14); Bretagnolle & Huber 1979.

    Examples
    --------
    >>> error_of("k_anonymity", 4).low
    0.75
    >>> error_of("min_entropy", 1.0).high
    0.5
    >>> error = error_of("t_closeness", 0.2, prior_error=0.5)
    >>> round(error.low, 2), round(error.high, 2), error.statement
    (0.3, 0.7, 'bound')
    """
    entry = next((entry for entry in CRITERIA if entry.name == criterion), None)
    if entry is None:
        names = ", ".join(entry.name for entry in CRITERIA)
        raise UnmaskError(f"criterion {criterion!r} is unknown, expected one of {names}")
    if not value >= 0:
        raise UnmaskError(f"{criterion} is {value}, expected at least 0 ({entry.unit})")
    if entry.unit in ("records", "values") and value < 1:
        raise UnmaskError(f"{criterion} is {value}, expected at least 1")
    if entry.needs == "n":
        return _from_entropy(entry, value, n)
    if entry.needs == "prior_error":
        return _from_distance(entry, value, prior_error, dmax, graded)
    if graded:
        raise UnmaskError(f"{criterion} says something about the 0/1 loss alone: report the error under your own loss")
    error = 1.0 - (2.0**-value if entry.unit == "bits" else 1.0 / value)
    return ErrorRange(error, error, error if entry.name == "min_entropy" else 0.0, "equality", entry.assumption)


def _from_entropy(entry: Criterion, value: float, n: int | None) -> ErrorRange:
    if n is None or n < 1:
        raise UnmaskError(f"{entry.name} needs n, the number of candidates, at least 1")
    bits = log2(value) if entry.unit == "values" else value
    if bits > log2(n) + ROUNDING:
        raise UnmaskError(f"{n} candidates have at most {log2(n):.4g} bits of entropy, but {bits:.4g} were given")
    low = _invert(lambda error: _largest_entropy(error, n), bits, n)
    smallest = _smallest_average_entropy if entry.name == "conditional_entropy" else _smallest_entropy
    high = max(low, _invert(smallest, bits, n))
    return ErrorRange(low, high, low, "range", entry.assumption)


def _largest_entropy(error: float, n: int) -> float:
    """Return the largest entropy of a belief over n candidates with 1 - max p = error (Fano)."""
    binary = -error * log2(error) - (1 - error) * log2(1 - error) if 0 < error < 1 else 0.0
    return binary + (error * log2(n - 1) if n > 1 else 0.0)


def _smallest_entropy(error: float) -> float:
    """Return the smallest entropy of a belief with 1 - max p = error: the best ones tie."""
    top = 1.0 - error
    n_top = int(1.0 / top + 1e-12)
    remainder = max(1.0 - n_top * top, 0.0)
    return -n_top * top * log2(top) - (remainder * log2(remainder) if remainder > 0 else 0.0)


def _smallest_average_entropy(error: float) -> float:
    """Return the largest convex function below it: chords between uniform beliefs over i and i + 1 candidates."""
    i = max(1, ceil(1.0 / (1.0 - error) - 1e-12) - 1)
    start, end = 1.0 - 1.0 / i, 1.0 - 1.0 / (i + 1)
    return log2(i) + (error - start) / (end - start) * (log2(i + 1) - log2(i))


def _invert(entropy_of: Callable[[float], float], bits: float, n: int) -> float:
    """Return the error in 0..1 - 1/n at which a rising function of it takes a value."""
    low, high = 0.0, 1.0 - 1.0 / n
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if entropy_of(middle) < bits else (low, middle)
    return high if bits > 0 else 0.0


def _from_distance(entry: Criterion, value: float, prior_error: float | None, dmax: float, graded: bool) -> ErrorRange:
    if not (isfinite(dmax) and dmax > 0):
        raise UnmaskError(f"dmax is {dmax}, expected the largest loss, above 0")
    if not graded and dmax != 1:
        raise UnmaskError(f"dmax is {dmax}, but the 0/1 loss has 1: pass graded=True for another loss")
    if prior_error is None or not 0 <= prior_error <= dmax:
        raise UnmaskError(f"{entry.name} compares with the prior: pass prior_error, from 0 to {dmax:g}")
    drop = dmax * _total_variation(entry, value)
    low = max(prior_error - drop, _factor_bound(entry, value, prior_error, graded), 0.0)
    # on average an observation cannot hurt, so E P <= R0; for one y it can
    high = prior_error if entry.case == "average" else min(prior_error + drop, dmax)
    return ErrorRange(low, high, low, "bound", entry.assumption)


def _total_variation(entry: Criterion, value: float) -> float:
    if entry.name == "t_closeness":
        if value > 1:
            raise UnmaskError(f"t_closeness is {value}, expected a total variation, at most 1")
        return value
    if entry.name == "delta_disclosure":
        return tanh(value / 2)
    if entry.name == "local_epsilon":
        return tanh(value / 4)
    if value == inf:
        return 1.0
    return min(sqrt(log(2) * value / 2), sqrt(1 - 2.0**-value))


def _factor_bound(entry: Criterion, value: float, prior_error: float, graded: bool) -> float:
    """Return the lower bound by the ratio p/q: p >= e^-delta q gives P >= e^-delta R0 under every loss."""
    if entry.name == "local_epsilon" and not graded and prior_error > 0:
        odds = exp(-value)
        return prior_error * odds / (prior_error * odds + (1 - prior_error))
    return prior_error * exp(-value) if entry.name in ("delta_disclosure", "local_epsilon") else 0.0
