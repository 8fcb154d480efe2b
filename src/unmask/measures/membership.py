"""Membership inference: measures of a belief about members and a control group.

Candidate 0 of such a belief is "in", candidate 1 "out". Only the order of people by log p(in) - log p(out) matters, so
scores are sufficient. An AUC of 0.5 is not a guarantee: the adversary may be sure about a few people.
"""

from __future__ import annotations

from math import exp, sqrt
from typing import NamedTuple

import numpy as np

from unmask.core.arrays import Floats
from unmask.core.csr_rows import distinct
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, log_odds
from unmask.core.tolerances import COUNT_ROUNDING
from unmask.core.truth import Truth
from unmask.measures.interval import Z95, Interval, clopper_pearson, wilson
from unmask.measures.measure import build_row
from unmask.measures.registry import FAMILIES, MEASURES, Quantity, declare_all
from unmask.results import Row

IN, OUT = 0, 1

RATES = (0.1, 0.01, 0.001)
"""False-positive rates at which members are counted."""

MIN_FALSE_POSITIVES = 5
"""False positives below which a rate is not measured."""

GUESSED_SHARE = 0.2
"""Share of the people that the adversary of `epsilon_of_guesses` guesses: half of it "in", half "out"."""

CONFIDENCE = 0.95
"""Confidence of a lower bound on epsilon."""

auc = MEASURES["membership_auc"]
epsilon_at_least = MEASURES["epsilon_at_least"]
membership_success_at_most = MEASURES["membership_success_at_most"]
vulnerability_correlation = MEASURES["vulnerability_correlation"]


def true_positive_rate(fpr: float) -> Quantity:
    """Return the measure "true positives at a false-positive rate of `fpr`"."""
    return Quantity(
        f"true_positive_rate_at_{fpr:g}",
        f"True positives at {100 * fpr:g} % false ones",
        f"share of members classified as members while {100 * fpr:g} % of the control group is",
        "share",
        range=(0.0, 1.0),
        source='N. Carlini et al., "Membership inference attacks from first principles", IEEE S&P 2022, section III',
        needs_truth=True,
    )


declare_all(*map(true_positive_rate, RATES))
FAMILIES[r"true_positive_rate_at_(\d*\.?\d+)"] = true_positive_rate


def area(members: Floats, control: Floats) -> tuple[float, Interval]:
    """Return the AUC, P(member above control person) + P(equal) / 2 over all pairs, with DeLong's interval.

    V = var(a_i) / n + var(b_j) / m. a_i is the share of the control group below member i, and b_j the share of members
    above control person j; ties count half. If neither varies, the interval is Wilson's with the smaller number of
    people.

    >>> area(np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0]))[0]
    0.75
    """
    members_above, control_below = share_below(members, control), 1 - share_below(control, members)
    value, n = float(members_above.mean()), min(len(members), len(control))
    if n < 2:
        return value, Interval(None, None, "none: there are fewer than two people")
    variance = members_above.var(ddof=1) / len(members) + control_below.var(ddof=1) / len(control)
    if variance == 0:
        return value, Interval(*wilson(value, n), "people like these (Wilson)")
    half = Z95 * sqrt(variance)
    return value, Interval(max(value - half, 0.0), min(value + half, 1.0), "people like these (DeLong)")


def share_below(scores: Floats, reference: Floats) -> Floats:
    """Return the share of the reference below each score; ties count half."""
    distinct_scores, position = np.unique(
        scores, return_inverse=True
    )  # usually few, and looked up faster in ascending order
    ordered = np.sort(reference)
    n_below, n_up_to = (np.searchsorted(ordered, distinct_scores, side=side) for side in ("left", "right"))
    return np.asarray((n_below + n_up_to) / (2 * len(reference)))[position]


def rank_correlation(x: Floats, y: Floats) -> tuple[float, Interval]:
    """Return Spearman's rho, with shared ranks for ties, and the interval of Bonett & Wright.

    The interval is tanh(artanh rho +- z s) with s^2 = (1 + rho^2 / 2) / (n - 3). If x or y is constant, or for fewer
    than 4 people, rho is 0 without an interval.

    >>> rank_correlation(np.arange(4.0), np.array([1.0, 3.0, 2.0, 4.0]))[0]
    0.8

    D. Bonett & T. Wright, "Sample size requirements for estimating Pearson, Kendall and Spearman correlations",
    Psychometrika 2000.
    """
    ranks = np.stack([share_below(values, values) for values in (x, y)])
    if len(x) < 4 or ranks.std(axis=1).min() == 0:
        return 0.0, Interval(None, None, "none: no two of the people differ")
    rho = round(float(np.corrcoef(ranks).flat[1]), 12)
    middle, half = np.arctanh(np.clip(rho, 1e-12 - 1, 1 - 1e-12)), Z95 * sqrt((1 + rho**2 / 2) / (len(x) - 3))
    low, high = np.tanh([middle - half, middle + half]).tolist()
    return rho, Interval(low, high, "people like these (Bonett-Wright)")


def classify_members(members: Floats, control: Floats, fpr: float) -> Floats:
    """Return the share of each member that is classified "in" at a false-positive rate.

    The adversary classifies the share `fpr` (below 1) of the control group with the highest scores as "in". Equal
    scores at the threshold are classified fractionally.

    >>> classify_members(np.array([5.0, 3.0, 1.0]), np.array([4.0, 3.0, 3.0, 0.0]), 0.5)
    array([1. , 0.5, 0. ])
    """
    n_allowed = fpr * len(control)
    threshold = np.sort(control)[::-1][int(n_allowed + COUNT_ROUNDING)]
    share = (n_allowed - np.count_nonzero(control > threshold)) / np.count_nonzero(control == threshold)
    return np.where(members > threshold, 1.0, np.where(members == threshold, share, 0.0))


def epsilon_of_guesses(
    right: int, guesses: int, *, delta: float = 0.0, canaries: int = 0, confidence: float = CONFIDENCE
) -> float:
    """Return the largest epsilon that the number of right membership guesses rules out, from one release.

    Let B be binomial with r guesses and probability e^eps / (1 + e^eps). For every (eps, delta)-private mechanism, P[V
    >= v] <= P[B >= v] + 2 m delta max_i (P[B >= v - i] - P[B >= v]) / i. The result is the largest eps for which this
    bound is at most 1 - confidence, or 0 if chance explains the guesses. It holds if each of the m canaries (r by
    default) was included by an independent fair coin, and the number of guesses was fixed in advance.

    >>> round(epsilon_of_guesses(100, 100), 3), round(epsilon_of_guesses(90, 100), 3), epsilon_of_guesses(50, 100)
    (3.493, 1.631, 0.0)

    T. Steinke, M. Nasr & M. Jagielski, "Privacy auditing with one (1) training run", NeurIPS 2023, theorem 3.1 and
    algorithm 1.
    """
    from scipy.special import bdtrc

    def tail_probability(epsilon: float) -> float:
        p_right = 1 / (1 + exp(-epsilon))
        at_least = float(bdtrc(right - 1, guesses, p_right)) if right else 1.0
        if delta == 0 or right == 0:
            return at_least
        fewer = np.append(bdtrc(np.arange(right - 1)[::-1], guesses, p_right), 1.0)  # P[B >= v - 1], ..., P[B >= 0]
        slack = (fewer - at_least) / np.arange(1, right + 1)
        return at_least + 2 * (canaries or guesses) * delta * float(slack.max())

    low, high = 0.0, 50.0
    if tail_probability(low) > 1 - confidence:
        return 0.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if tail_probability(middle) <= 1 - confidence else (low, middle)
    return low


def count_right_guesses(members: Floats, control: Floats) -> tuple[int, int]:
    """Return the numbers of right guesses and of all guesses, for guesses about people with extreme scores.

    The tenth with the highest scores is guessed "in", and the tenth with the lowest "out". Equal scores count as wrong.
    """
    n = round(GUESSED_SHARE / 2 * (len(members) + len(control)))
    scores = np.concatenate([members, control])
    inside = np.arange(len(scores)) < len(members)
    high, low = np.lexsort((inside, -scores))[:n], np.lexsort((~inside, scores))[:n]
    return int(np.count_nonzero(inside[high]) + np.count_nonzero(~inside[low])), 2 * n


class MembershipRows(NamedTuple):
    """Rows of a membership attack, and the measures without a value, each with its reason."""

    rows: tuple[Row, ...]
    not_run: tuple[tuple[str, str], ...]


def evaluate_membership(
    belief: Posterior, truth: Truth, *, release: str = "release", adversary: str = "adversary"
) -> MembershipRows:
    """Evaluate AUC, true positives at low false-positive rates, and the lower bound on epsilon.

    belief : scores of the attack. A belief that was fitted to the truth of other people would overstate epsilon
    truth : candidate 0 for members, 1 for the control group; other targets are skipped. Each person counts once
    """
    scores = log_odds(belief)
    if len(truth) != len(scores):
        raise UnmaskError(f"the truth has {len(truth)} targets and the belief {len(scores)}, expected as many")
    inside = truth.judged & (truth.candidate == IN)
    members, control = scores[inside], scores[truth.judged & (truth.candidate == OUT)]
    if not len(members) or not len(control):
        raise UnmaskError(f"{len(members)} members and {len(control)} control-group people are attacked, expected both")
    observation = belief.observation[inside]

    def row(measure: Quantity, prior: float, values: Floats, interval: Interval) -> Row:
        return build_row(
            measure,
            (prior, float(values.mean())),
            interval,
            (values, np.full(len(values), 1 / len(values)), observation),
            n=len(members),
            n_observations=len(distinct(observation)),
            names=(release, adversary, "membership", f"{len(control):,} people of the control group"),
            status=belief.status,
        )

    rows, not_run = [row(auc, 0.5, share_below(members, control), area(members, control)[1])], []
    for fpr in RATES:
        if fpr * len(control) < MIN_FALSE_POSITIVES:
            needed = f"{MIN_FALSE_POSITIVES / fpr:,.0f} are needed"
            not_run.append((true_positive_rate(fpr).name, f"a control group of {len(control)} is too small, {needed}"))
            continue
        values = classify_members(members, control, fpr)
        ends = clopper_pearson(float(values.sum()), len(members))
        rows.append(row(true_positive_rate(fpr), fpr, values, Interval(*ends, "people like these (Clopper-Pearson)")))
    bound = np.full(len(members), epsilon_of_guesses(*count_right_guesses(members, control)))
    rows.append(row(epsilon_at_least, 0.0, bound, Interval(None, None, "none: it is a limit itself, 95 % sure")))
    return MembershipRows(tuple(rows), tuple(not_run))
