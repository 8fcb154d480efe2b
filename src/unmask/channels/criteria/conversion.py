"""From the value of a criterion to the error of the attacker, with what has to be assumed for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, exp, inf, isfinite, log, log2, sqrt, tanh
from typing import Literal, NamedTuple

from unmask.core.errors import UnmaskError

Case = Literal["best", "average", "worst", "hybrid"]
Statement = Literal["equality", "range", "bound"]

SINGLE = "one observation, the loss is 0/1"


class ErrorRange(NamedTuple):
    """Between which numbers the attacker's expected error lies.

    low, high    : under the assumption of the criterion
    without_it   : the lower end that remains when the assumption fails: what a cautious reader may rely on
    statement    : `equality` (low = high), `range` (both ends are attained by some belief), or `bound` (a bound on the
                   loss of privacy, never a measure of privacy)
    assumption   : in words
    """

    low: float
    high: float
    without_it: float
    statement: Statement
    assumption: str


@dataclass(frozen=True)
class Criterion:
    """One criterion: what it is, in which unit, and how it becomes an error.

    name, unit : as `error_of` takes them
    case       : from the user's point of view; `hybrid` is a maximum of an expectation
    formula    : the error, or the bound on what is lost, in words of the text below
    assumption : when the formula holds
    trap       : what goes wrong when it is read as privacy
    source     : section of Rebollo-Monedero et al. 2012, or the paper
    needs      : what `error_of` has to be told besides the value

    P is the adversary's expected loss given y under the Bayes answer, R0 the same before the release, p posterior,
    q prior, dmax the largest loss.
    """

    name: str
    unit: str
    case: Case
    formula: str
    assumption: str
    trap: str
    source: str
    needs: tuple[str, ...] = ()


CRITERIA: tuple[Criterion, ...] = (
    Criterion(
        "k_anonymity",
        "records",
        "best",
        "P = 1 - 1/k = 1 - 2^-H0",
        "the attacker holds the k records of a class alike (no background knowledge); " + SINGLE,
        "with background knowledge P may be anything from 0 to 1 - 1/k",
        "V-A1",
    ),
    Criterion(
        "l_diversity",
        "values",
        "best",
        "P = 1 - 1/l = 1 - 2^-H0",
        "the l values of a class are equally frequent; " + SINGLE,
        "l distinct values may be 99 % one of them: P near 0; similar values count as different",
        "V-A1",
    ),
    Criterion(
        "entropy_l_diversity",
        "values",
        "average",
        "P between Fano's bound and its opposite at H = log2 l",
        "the class has entropy log2 l over n values; " + SINGLE,
        "the same entropy allows very different errors",
        "V-A1; Cover & Thomas, theorem 2.10.1; Feder & Merhav 1994",
        ("n",),
    ),
    Criterion(
        "hartley_entropy",
        "bits",
        "best",
        "P = 1 - 2^-H0",
        "p is uniform on its support; " + SINGLE,
        "counts a candidate of probability 1e-9 as much as any other",
        "V-A1",
    ),
    Criterion(
        "shannon_entropy",
        "bits",
        "average",
        "P between Fano's bound and its opposite",
        "H is the entropy of p over n candidates, given one y; " + SINGLE,
        "not the error of anybody: a measure of the size of typical sets of long sequences",
        "V-A2; Cover & Thomas, theorem 2.10.1; Feder & Merhav 1994, eq. (2), (11)",
        ("n",),
    ),
    Criterion(
        "conditional_entropy",
        "bits",
        "average",
        "E P between Fano's bound and the chords of its opposite (at most H/2)",
        "H is the average of H(X given y) over y, n candidates; " + SINGLE,
        "an average: it may hide an output that tells all",
        "V-A2; Hellman & Raviv 1970; Feder & Merhav 1994, eq. (14)",
        ("n",),
    ),
    Criterion(
        "min_entropy",
        "bits",
        "worst",
        "P = 1 - 2^-H_inf",
        "H_inf = -log2 max p given one y, or Smith's -log2 E max p for the average; " + SINGLE,
        "the average of H_inf(X given y) over y is larger than Smith's and gives too large an error",
        "V-A1, eq. (7)",
    ),
    Criterion(
        "t_closeness",
        "probability",
        "hybrid",
        "|P - R0| <= dmax t",
        "t is the largest total variation between p and q (equal-distance t-closeness)",
        "a bound on what is lost, not on what is left; the regret R of ignoring y is bounded by twice that",
        "V-B1, eq. (8), with its constant 4 corrected to 1 (regret: 2)",
        ("prior_error", "dmax"),
    ),
    Criterion(
        "t_closeness_kl",
        "bits",
        "hybrid",
        "|P - R0| <= dmax min(sqrt(ln2 D / 2), sqrt(1 - 2^-D))",
        "D is the largest divergence of p from q, in bits",
        "permuting the values does not change it: it cannot see that values are similar",
        "V-B1, eq. (8), with its constant 2 sqrt2 corrected to 1/sqrt2; Pinsker; Bretagnolle & Huber 1979",
        ("prior_error", "dmax"),
    ),
    Criterion(
        "mutual_information",
        "bits",
        "average",
        "R0 - E P <= dmax min(sqrt(ln2 I / 2), sqrt(1 - 2^-I))",
        "I = I(X; Y) in bits; averages over y",
        "an average of an average: one output may tell all",
        "V-B2, with 1/8 corrected to 2",
        ("prior_error", "dmax"),
    ),
    Criterion(
        "delta_disclosure",
        "nats",
        "worst",
        "P >= e^-delta R0 and |P - R0| <= dmax tanh(delta / 2)",
        "|ln p/q| <= delta everywhere",
        "infinite as soon as a class lacks a value, and always for identity",
        "V-B3",
        ("prior_error", "dmax"),
    ),
    Criterion(
        "local_epsilon",
        "nats",
        "worst",
        "P >= R0 / (R0 + (1 - R0) e^eps) for the 0/1 loss, e^-eps R0 for any; |P - R0| <= dmax tanh(eps / 4)",
        "the channel is eps-locally differentially private: p(y given x) <= e^eps p(y given x')",
        "says nothing about the error itself: with a low prior error everything stays low",
        "V-B3; delta <= eps <= 2 delta",
        ("prior_error", "dmax"),
    ),
)
"""Best, average and worst case of the error, and the bounds on its loss (sections V-A and V-B, corrected)."""


def error_of(
    criterion: str,
    value: float,
    *,
    n: int | None = None,
    prior_error: float | None = None,
    dmax: float = 1.0,
    graded: bool = False,
) -> ErrorRange:
    """The attacker's expected error that a value of a criterion stands for, or the range that it leaves.

    criterion   : a name in `CRITERIA`; value in the unit given there (bits for entropies and divergences, nats for
                  delta and epsilon)
    n           : number of candidates, for Shannon entropy
    prior_error : R0, the error before the release, for criteria that compare with the prior; 0 <= R0 <= dmax
    dmax        : largest loss; 1 for the 0/1 loss. Any loss when `graded`, otherwise the loss is 0/1

    >>> error_of("k_anonymity", 4).low
    0.75
    >>> error_of("min_entropy", 1.0).high
    0.5
    >>> found = error_of("t_closeness", 0.2, prior_error=0.5)
    >>> round(found.low, 2), round(found.high, 2), found.statement
    (0.3, 0.7, 'bound')
    """
    entry = next((c for c in CRITERIA if c.name == criterion), None)
    if entry is None:
        raise UnmaskError(f"criterion {criterion!r} is unknown, expected one of {', '.join(c.name for c in CRITERIA)}")
    if not value >= 0:
        raise UnmaskError(f"{criterion} is {value}, expected at least 0 ({entry.unit})")
    if "n" in entry.needs:
        return _from_entropy(entry, value, n)
    if "prior_error" in entry.needs:
        return _from_distance(entry, value, prior_error, dmax, graded)
    if graded:
        raise UnmaskError(f"{criterion} says something about the 0/1 loss alone: report the error under your own loss")
    return _from_size(entry, value)


def _from_size(entry: Criterion, value: float) -> ErrorRange:
    if entry.unit in ("records", "values") and value < 1:
        raise UnmaskError(f"{entry.name} is {value}, expected at least 1")
    error = 1.0 - (2.0**-value if entry.unit == "bits" else 1.0 / value)
    sure = entry.name == "min_entropy"
    return ErrorRange(error, error, error if sure else 0.0, "equality", entry.assumption)


def _from_entropy(entry: Criterion, value: float, n: int | None) -> ErrorRange:
    if n is None or n < 1:
        raise UnmaskError(f"{entry.name} needs n, the number of candidates, at least 1")
    if entry.unit == "values" and value < 1:
        raise UnmaskError(f"{entry.name} is {value}, expected at least 1")
    bits = log2(value) if entry.unit == "values" else value
    if bits > log2(n) + 1e-9:
        raise UnmaskError(f"{n} candidates have at most {log2(n):.4g} bits of entropy, but {bits:.4g} were given")
    low = _solve(lambda e: _largest_entropy(e, n), bits, n)
    most = _smallest_average_entropy if entry.name == "conditional_entropy" else _smallest_entropy
    high = max(low, _solve(most, bits, n))
    return ErrorRange(low, high, low, "range", entry.assumption)


def _largest_entropy(error: float, n: int) -> float:
    """Fano: the largest entropy of a belief over n candidates with 1 - max p = error."""
    return _h(error) + (error * log2(n - 1) if n > 1 else 0.0)


def _smallest_entropy(error: float) -> float:
    """The smallest entropy of a belief with 1 - max p = error: as many candidates as possible as likely as the best."""
    top = 1.0 - error
    whole = int(1.0 / top + 1e-12)
    rest = max(1.0 - whole * top, 0.0)
    return -whole * top * log2(top) - (rest * log2(rest) if rest > 0 else 0.0)


def _smallest_average_entropy(error: float) -> float:
    """The largest convex function below it: chords between uniform beliefs over i and i + 1 candidates."""
    i = max(1, ceil(1.0 / (1.0 - error) - 1e-12) - 1)
    start, end = 1.0 - 1.0 / i, 1.0 - 1.0 / (i + 1)
    return log2(i) + (error - start) / (end - start) * (log2(i + 1) - log2(i))


def _solve(entropy_of: Callable[[float], float], bits: float, n: int) -> float:
    """The error at which a rising function of it takes a value, on 0..1 - 1/n."""
    low, high = 0.0, 1.0 - 1.0 / n
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if entropy_of(middle) < bits else (low, middle)
    return high if bits > 0 else 0.0


def _h(p: float) -> float:
    return 0.0 if p <= 0 or p >= 1 else -p * log2(p) - (1 - p) * log2(1 - p)


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
    """What bounded ratios p/q leave: p >= e^-delta q gives P >= e^-delta R0 under every loss."""
    if entry.name == "local_epsilon" and not graded and prior_error > 0:
        odds = exp(-value)
        return prior_error * odds / (prior_error * odds + (1 - prior_error))
    return prior_error * exp(-value) if entry.name in ("delta_disclosure", "local_epsilon") else 0.0
