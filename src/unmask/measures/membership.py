"""Who can be told to be in a release? Measures of a belief about members and control people.

Candidate 0 of such a belief is "in", candidate 1 "out". Only the order of the people by log p(in) - log p(out) counts
here, so that mere scores will do. Who are told apart well is a matter of the few whom the adversary is sure of: "AUC
0.5" is no safety.
"""

from __future__ import annotations

from math import exp, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import distinct
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, log_odds
from unmask.core.truth import Truth
from unmask.measures.base import build_row
from unmask.measures.interval import Z95, Interval, clopper_pearson, wilson
from unmask.measures.registry import FAMILIES, Quantity, declare, declare_all
from unmask.results import Row

Floats = NDArray[np.float64]

IN, OUT = 0, 1

RATES = (0.1, 0.01, 0.001)
"""The false-positive rates at which members are counted."""

FEWEST = 5
"""False positives below which a rate is not measured."""

GUESSED = 0.2
"""Share of the people about whom the adversary of `epsilon_of_guesses` says something: half of it "in", half "out"."""

SURE = 0.95
"""How sure a lower bound on epsilon is."""

auc = declare(
    Quantity(
        "membership_auc",
        "Membership AUC",
        "probability that a person of the release looks more like one of it than a control person does",
        "probability",
        range=(0.0, 1.0),
        source='E. DeLong et al., "Comparing the areas under two or more correlated ROC curves", Biometrics 1988',
        needs_truth=True,
    )
)

epsilon_at_least = declare(
    Quantity(
        "epsilon_at_least",
        "Epsilon, at least",
        "no mechanism of a smaller epsilon gives so much away, with 95 % confidence",
        "nats",
        source='T. Steinke, M. Nasr & M. Jagielski, "Privacy auditing with one (1) training run", 2023, theorem 3.1',
        needs_truth=True,
    )
)


vulnerability_correlation = declare(
    Quantity(
        "vulnerability_correlation",
        "Vulnerability and belief",
        "rank correlation (Spearman) of how rare a member is and how far they are told to be in the release",
        "",
        range=(-1.0, 1.0),
        source='M. Meeus et al., "Achilles\u2019 heels", 2023, section 3',
        needs_truth=True,
    )
)


def true_positive_rate(fpr: float) -> Quantity:
    """Share of the members told to be in, by an adversary who says so of a share `fpr` of the control people."""
    return Quantity(
        f"true_positive_rate_at_{fpr:g}",
        f"True positives at {100 * fpr:g} % false ones",
        f"share of members told to be in the release while {100 * fpr:g} % of control people are",
        "share",
        range=(0.0, 1.0),
        source='N. Carlini et al., "Membership inference attacks from first principles", IEEE S&P 2022, section III',
        needs_truth=True,
    )


declare_all(*map(true_positive_rate, RATES))
FAMILIES[r"true_positive_rate_at_(\d*\.?\d+)"] = true_positive_rate


def area(members: Floats, control: Floats) -> tuple[float, Interval]:
    """P(member above control person) + P(equal) / 2, over all pairs, with DeLong's interval.

    V = var(a_i) / n + var(b_j) / m, a_i the share of control people below member i, b_j that of members above control
    person j, equals half. Where neither varies the interval is Wilson's at the smaller number of people.

    >>> area(np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0]))[0]
    0.75
    """
    below, above = placed(members, control), 1 - placed(control, members)
    value, n = float(below.mean()), min(len(members), len(control))
    if n < 2:
        return value, Interval(None, None, "none: there are fewer than two people")
    variance = below.var(ddof=1) / len(members) + above.var(ddof=1) / len(control)
    if variance == 0:
        return value, Interval(*wilson(value, n), "people like these (Wilson)")
    half = Z95 * sqrt(variance)
    return value, Interval(max(value - half, 0.0), min(value + half, 1.0), "people like these (DeLong)")


def placed(scores: Floats, among: Floats) -> Floats:
    """The share of others that is below each score, equals half."""
    at, of = np.unique(scores, return_inverse=True)  # few of many, and found sooner in their order
    ordered = np.sort(among)
    below, upto = np.searchsorted(ordered, at, side="left"), np.searchsorted(ordered, at, side="right")
    return np.asarray((below + upto) / (2 * len(among)))[of]


def rank_correlation(one: Floats, other: Floats) -> tuple[float, Interval]:
    """Spearman's rho, equals sharing their ranks, with the interval of Bonett & Wright: tanh(artanh rho +- z s) with
    s^2 = (1 + rho^2 / 2) / (n - 3). 0 and no interval where one of the two never differs, or for fewer than 4.

    >>> rank_correlation(np.arange(4.0), np.array([1.0, 3.0, 2.0, 4.0]))[0]
    0.8

    D. Bonett & T. Wright, "Sample size requirements for estimating Pearson, Kendall and Spearman correlations",
    Psychometrika 2000.
    """
    ranks = np.stack([placed(values, values) for values in (one, other)])
    if len(one) < 4 or ranks.std(axis=1).min() == 0:
        return 0.0, Interval(None, None, "none: no two of the people differ")
    rho = round(float(np.corrcoef(ranks).flat[1]), 12)
    middle, half = np.arctanh(np.clip(rho, 1e-12 - 1, 1 - 1e-12)), Z95 * sqrt((1 + rho**2 / 2) / (len(one) - 3))
    low, high = np.tanh([middle - half, middle + half]).tolist()
    return rho, Interval(low, high, "people like these (Bonett-Wright)")


def told_in(members: Floats, control: Floats, fpr: float) -> Floats:
    """(n_members,) how far each is told to be in by an adversary who says so of the fraction `fpr` of the control
    people, those of the highest scores; equals share what is left of it. fpr : below 1

    >>> told_in(np.array([5.0, 3.0, 1.0]), np.array([4.0, 3.0, 3.0, 0.0]), 0.5)
    array([1. , 0.5, 0. ])
    """
    allowed = fpr * len(control)
    at = np.sort(control)[::-1][int(allowed + 1e-9)]
    share = (allowed - np.count_nonzero(control > at)) / np.count_nonzero(control == at)
    return np.where(members > at, 1.0, np.where(members == at, share, 0.0))


def epsilon_of_guesses(right: int, guesses: int, *, delta: float = 0.0, canaries: int = 0, sure: float = SURE) -> float:
    """The largest epsilon that is ruled out by so many right guesses of who is in, from one release.

    With B binomial of r guesses at e^eps / (1 + e^eps), P[V >= v] <= P[B >= v] + 2 m delta max_i (P[B >= v - i] -
    P[B >= v]) / i for every (eps, delta)-private mechanism; the largest eps at which that is at most 1 - sure. It holds
    where each of the m canaries (r if none said) was put in by a fair coin of its own, for a number of guesses that was
    fixed before. 0 where guessing explains it.

    >>> round(epsilon_of_guesses(100, 100), 3), round(epsilon_of_guesses(90, 100), 3), epsilon_of_guesses(50, 100)
    (3.493, 1.631, 0.0)

    T. Steinke, M. Nasr & M. Jagielski, "Privacy auditing with one (1) training run", NeurIPS 2023, theorem 3.1 and
    algorithm 1.
    """
    from scipy.special import bdtrc

    def explained(epsilon: float) -> float:
        each = 1 / (1 + exp(-epsilon))
        at_least = float(bdtrc(right - 1, guesses, each)) if right else 1.0
        if delta == 0 or right == 0:
            return at_least
        fewer = np.append(bdtrc(np.arange(right - 1)[::-1], guesses, each), 1.0)  # P[B >= v - 1], ..., P[B >= 0]
        slack = (fewer - at_least) / np.arange(1, right + 1)
        return at_least + 2 * (canaries or guesses) * delta * float(slack.max())

    low, high = 0.0, 50.0
    if explained(low) > 1 - sure:
        return 0.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if explained(middle) <= 1 - sure else (low, middle)
    return low


def epsilon_of_rates(
    members: Floats, control: Floats, *, rates: tuple[float, ...] = RATES, delta: float = 0.0, sure: float = SURE
) -> float:
    """The largest epsilon ruled out by the true-positive rates at some false-positive rates, and by both the other way
    round: max ln((L - delta) / U), 0 if that is below.

    L, U : Clopper-Pearson limits of the two rates, together sure at every rate and both ways (Bonferroni: of K rates
    each limit fails with probability (1 - sure) / (4 K)). A cut at the k-th highest control score has a false-positive
    rate of U or less so surely as one fixed before. It holds for scores that are independent between people: each of a
    release of their own, as shadow runs have.

    P. Kairouz, S. Oh & P. Viswanath, "The composition theorem for differential privacy", 2015; M. Jagielski et al.,
    "Auditing differentially private machine learning", NeurIPS 2020.
    """
    level = 1 - (1 - sure) / (2 * len(rates))
    found = [0.0]
    for one, other in ((members, control), (-control, -members)):
        for rate in rates:
            wrong = int(rate * len(other) + 1e-9)
            if wrong < len(other):
                right = int(np.count_nonzero(one > np.sort(other)[::-1][wrong]))
                low = clopper_pearson(right, len(one), level=level)[0] - delta
                found.append(float(np.log(max(low, 1e-300) / clopper_pearson(wrong, len(other), level=level)[1])))
    return max(found)


def surest_right(members: Floats, control: Floats) -> tuple[int, int]:
    """(right, guesses) of an adversary who says "in" of a tenth of all people, those of the highest scores, and "out"
    of the tenth of the lowest; equals count as wrong.
    """
    n = round(GUESSED / 2 * (len(members) + len(control)))
    scores = np.concatenate([members, control])
    inside = np.arange(len(scores)) < len(members)
    high, low = np.lexsort((inside, -scores))[:n], np.lexsort((~inside, scores))[:n]
    return int(np.count_nonzero(inside[high]) + np.count_nonzero(~inside[low])), 2 * n


class Told(NamedTuple):
    """The rows of a membership attack, and what could not be measured, each with its reason."""

    rows: tuple[Row, ...]
    not_run: tuple[tuple[str, str], ...]


def told(belief: Posterior, truth: Truth, *, release: str = "release", adversary: str = "adversary") -> Told:
    """AUC, true positives at low false-positive rates, and the lower bound on epsilon.

    belief : by the attack's own scores; what was fitted to the truth of others would make too much of epsilon
    truth  : candidate 0 of those who are in, 1 of those who are out; others take no part. Everybody counts once.
    """
    scores = log_odds(belief)
    if len(truth) != len(scores):
        raise UnmaskError(f"the truth has {len(truth)} targets and the belief {len(scores)}, expected as many")
    inside = truth.judged & (truth.candidate == IN)
    members, control = scores[inside], scores[truth.judged & (truth.candidate == OUT)]
    if not len(members) or not len(control):
        raise UnmaskError(f"{len(members)} members and {len(control)} control people were attacked, expected both")
    observation = belief.observation[inside]

    def row(measure: Quantity, prior: float, values: Floats, interval: Interval) -> Row:
        worst = int(np.argmax(values))
        return build_row(
            measure,
            (prior, float(values.mean())),
            interval,
            (values, np.full(len(values), 1 / len(values))),
            n=len(members),
            n_observations=len(distinct(observation)),
            worst=float(values[worst]),
            worst_observation=int(observation[worst]),
            names=(release, adversary, "membership", f"{len(control):,} control people"),
            status=belief.status,
        )

    rows, not_run = [row(auc, 0.5, placed(members, control), area(members, control)[1])], []
    for fpr in RATES:
        if fpr * len(control) < FEWEST:
            why = f"{len(control)} control people are too few, {FEWEST / fpr:,.0f} are needed"
            not_run.append((true_positive_rate(fpr).name, why))
            continue
        values = told_in(members, control, fpr)
        ends = clopper_pearson(float(values.sum()), len(members))
        rows.append(row(true_positive_rate(fpr), fpr, values, Interval(*ends, "people like these (Clopper-Pearson)")))
    bound = np.full(len(members), epsilon_of_guesses(*surest_right(members, control)))
    rows.append(row(epsilon_at_least, 0.0, bound, Interval(None, None, "none: it is a limit itself, 95 % sure")))
    return Told(tuple(rows), tuple(not_run))
