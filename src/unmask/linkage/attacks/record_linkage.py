"""Probabilistic record linkage by Fellegi and Sunter, and agreement levels of cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.linkage.attacks.pairs import (
    Linker,
    Links,
    Pairs,
    code_cells,
    draw_pairs,
    list_pairs,
    no_links,
    unite_pairs,
)
from unmask.linkage.items import Feature, Items

MISSING, DIFFERENT, NEAR, EQUAL = -1, 0, 1, 2

SIMILAR = 0.6
"""Smallest Dice coefficient of letter pairs for which two texts are near."""

_LEVELS = 3
_SAMPLE = 1_000_000
_BLOCK_PAIRS = 1_000_000
_FIRST_M, _FIRST_M_WITHOUT_NEAR = np.array([0.05, 0.15, 0.8]), np.array([0.2, 0.0, 0.8])
_ROUNDS = 200


@dataclass(frozen=True)
class Weights:
    """Agreement probabilities that a linker estimated.

    Each feature has probabilities of the levels (different, near, equal), which sum to 1. The weight of a feature is
    log(m / u) at its level, natural logarithm; a missing cell has weight 0. The model assumes that features are
    independent given the match status of the pair.

    Parameters
    ----------
    m : mapping
        Probabilities of the three levels in a pair of pseudonyms of one user.
    u : mapping
        Probabilities of the three levels in a pair of pseudonyms of different users.
    prior : float
        Probability that two random pseudonyms belong to one user.

    References
    ----------
    I. P. Fellegi, A. B. Sunter, "A theory for record linkage", JASA 64, 1969.
    """

    m: Mapping[str, tuple[float, float, float]]
    u: Mapping[str, tuple[float, float, float]]
    prior: float


@dataclass(frozen=True)
class RecordLinkage(Linker):
    """Linkage of pseudonyms whose features agree more often than by chance (Fellegi and Sunter).

    Pairs that agree on all features of a blocking rule are compared. The log-odds of a match are the prior log-odds
    plus log(m / u) for each feature. Pairs with a probability of at least `threshold` are linked, and the clusters are
    the connected components of the links. `link` returns the pairs for other thresholds and views.

    Texts are near if they share most letter pairs (`SIMILAR`). All parameters are estimated from the release:

    * u: frequencies of equal values; for near values, up to a million random pairs.
    * m: expectation maximization over the pairs of each blocking rule, with fixed u, on the features outside the rule;
      the mean over the rules. A feature in every rule keeps m = (0.05, 0.15, 0.8), or (0.2, 0.8) if its cells cannot be
      near.
    * prior: estimated matches among the pairs of a rule, divided by the probability that a match agrees on the rule, as
      a share of all pairs; the mean over the rules.

    If the errors of a user are dependent, for example exactly one error in each record, m is too low and the prior too
    high.

    Work: O(n log n + pairs of the rules), about 50 bytes for each pair, at most 100 million pairs for a rule.

    Assumes: features agree independently given the match status, and each true pair agrees on all features of some
    blocking rule.

    Fails when: errors are dependent; no rule contains the true pairs; or a false link joins the clusters of two people.

    Parameters
    ----------
    blocks : Blocks
        Blocking rules, each a tuple of feature names. Two rules without a common feature are a good choice.
    threshold : float
        Smallest probability of a link.
    features : tuple of str
        Names of the features to compare. Default: all.

    Examples
    --------
    >>> names = [first + last for first in ("ann ", "bob ", "cat ") for last in ("may", "ray", "lee", "fox")]
    >>> twice = {"name": names * 2, "born": [str(1950 + 7 * number % 40) for number in range(12)] * 2}
    >>> guess = RecordLinkage(blocks=(("name",), ("born",)))(Items.read(twice, features=["name", "born"]))
    >>> guess.n_clusters, bool((guess.code[:12] == guess.code[12:]).all())
    (12, True)

    References
    ----------
    W. E. Winkler, "Using the EM algorithm for weight computation in the Fellegi-Sunter model", 1988; training by
    blocking rule as in Splink (R. Linacre et al., 2022).
    """

    def fit(self, release: Items) -> Weights:
        """Estimate m, u and the prior from the release, without the truth."""
        features = self.select(release)
        return self._estimate(features, self._pairs(features))

    def link(self, release: Items) -> Links:
        """Return the compared pairs and their match probabilities."""
        features = self.select(release)
        pairs = self._pairs(features)
        first, second = unite_pairs(pairs, release.partition.n_clusters)
        if not len(first):
            return no_links(release)
        weights = self._estimate(features, pairs)
        log_odds = np.full(len(first), np.log(weights.prior) - np.log1p(-weights.prior))
        with np.errstate(divide="ignore"):
            for feature in features:
                gain = np.log(weights.m[feature.name]) - np.log(np.maximum(weights.u[feature.name], 1e-300))
                log_odds += np.append(gain, 0.0)[compare_cells(feature, first, second)]  # missing: -1 is the 0
        return Links(release, first, second, scipy.special.expit(log_odds))

    def _pairs(self, features: tuple[Feature, ...]) -> list[Pairs]:
        """Return the pairs of each blocking rule."""
        return [list_pairs(tuple(feature for feature in features if feature.name in rule)) for rule in self.blocks]

    def _estimate(self, features: tuple[Feature, ...], pairs: list[Pairs]) -> Weights:
        n = len(features[0].missing)
        sample = draw_pairs(n, _SAMPLE)
        allowed = np.array([[True, feature.kind == "text", True] for feature in features])
        u = np.array(
            [_estimate_u(f, compare_cells(f, *sample), allow) for f, allow in zip(features, allowed, strict=True)]
        )
        m = np.where(allowed[:, 1:2], _FIRST_M, _FIRST_M_WITHOUT_NEAR)
        learned: list[tuple[Booleans, Floats, float]] = []
        for rule, (first, second) in zip(self.blocks, pairs, strict=True):
            if len(first):
                outside = np.array([feature.name not in rule for feature in features])
                levels = np.array([compare_cells(feature, first, second) for feature in features])
                learned.append((outside, *_expectation_maximization(levels, outside, m, u, allowed)))
        mean = _average_m(m, [(outside, m_rule) for outside, m_rule, _ in learned])
        matches = [n_matches / mean[~outside, 2].prod() for outside, _, n_matches in learned]
        possible = n * (n - 1) / 2
        prior = float(np.clip(np.mean(matches) / possible, 1e-12, 0.5)) if matches else 1e-12
        names = [feature.name for feature in features]
        return Weights(_rows(names, mean), _rows(names, u), prior)


def _estimate_u(feature: Feature, level: NDArray[np.int8], allowed: Booleans) -> Floats:
    """Return the (3,) probabilities of the levels in a random pair; equal cells are counted exactly."""
    codes = code_cells(feature)
    size = np.bincount(codes[codes >= 0]).astype(np.float64)
    n = size.sum()
    equal = (size * (size - 1)).sum() / max(n * (n - 1), 1)
    equal = min(max(equal, 1 / max(n * n, 4)), 1 - 1e-6)
    n_present = np.count_nonzero(level != MISSING)
    near = (np.count_nonzero(level == 1) + 0.5) / (n_present + 1) if allowed[1] else 0.0
    near = min(near, (1 - equal) * 0.999)
    return np.array([1 - equal - near, near, equal])


def _expectation_maximization(
    levels: NDArray[np.int8], outside: Booleans, m: Floats, u: Floats, allowed: Booleans
) -> tuple[Floats, float]:
    """Return m of the features outside the rule, and the estimated number of matches among the pairs."""
    base = _LEVELS + 1
    key = np.zeros(levels.shape[1], dtype=np.int64)
    for row in levels[outside]:
        key = np.unique(key * base + row + 1, return_inverse=True)[1] if key.max() > 2**60 else key * base + row + 1
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    patterns = levels[outside][:, first]
    is_level = np.array([patterns == level for level in range(_LEVELS)]).transpose(1, 0, 2)  # (features, 3, patterns)
    gain_u = _log_chance(u[outside], is_level)
    m, share = m.copy(), 0.1
    for _ in range(_ROUNDS):
        log_odds = np.log(share) - np.log1p(-share) + _log_chance(m[outside], is_level) - gain_u
        weight = count * scipy.special.expit(log_odds)
        tally = (is_level @ weight + 1.0) * allowed[outside]  # pseudo-count of 1: no probability is 0
        m[outside] = tally / tally.sum(axis=1, keepdims=True)
        new = float(np.clip(weight.sum() / count.sum(), 1e-9, 1 - 1e-9))
        if abs(new - share) < 1e-9:
            break
        share = new
    return m, share * float(count.sum())


def _log_chance(chance: Floats, is_level: Booleans) -> Floats:
    """Return the (n_patterns,) log-probabilities of agreement patterns; missing levels are skipped."""
    logs = np.log(np.maximum(chance, 1e-300))
    total: Floats = np.einsum("fl,flp->p", logs, is_level.astype(np.float64))
    return total


def _average_m(start: Floats, learned: list[tuple[Booleans, Floats]]) -> Floats:
    """Return the mean of m over the rules that do not contain a feature; the start value for a feature in all rules."""
    mean = start.copy()
    for i in range(len(start)):
        estimates = [m[i] for outside, m in learned if outside[i]]
        if estimates:
            mean[i] = np.mean(estimates, axis=0)
    return mean


def _rows(names: list[str], table: Floats) -> dict[str, tuple[float, float, float]]:
    return {name: (float(row[0]), float(row[1]), float(row[2])) for name, row in zip(names, table, strict=True)}


# --- agreement levels of cells ---


def compare_cells(feature: Feature, first: Integers, second: Integers) -> NDArray[np.int8]:
    """Return (n_pairs,) agreement levels: MISSING if a cell is missing, otherwise DIFFERENT, NEAR or EQUAL.

    Texts are near if the Dice coefficient of their letter pairs is at least `SIMILAR`. Other cells are equal or
    different.
    """
    codes = code_cells(feature)
    a, b = codes[first], codes[second]
    level = np.where(a == b, EQUAL, DIFFERENT).astype(np.int8)
    open_ = np.flatnonzero((level == DIFFERENT) & (a >= 0) & (b >= 0))
    if feature.kind == "text" and len(open_):
        pair, position = np.unique(_keys(a[open_], b[open_], len(feature.labels)), return_inverse=True)
        lower, upper = np.divmod(pair, len(feature.labels))
        near = compute_dice(feature.labels, lower, upper) >= SIMILAR
        level[open_[near[position]]] = NEAR
    level[(a < 0) | (b < 0)] = MISSING
    return level


def compute_dice(labels: NDArray[Any], first: Integers, second: Integers) -> Floats:
    """Return the (n_pairs,) Dice coefficients 2 |A and B| / (|A| + |B|) of the sets of letter pairs of two labels.

    Labels are compared in lower case with start and end markers: "ann" has the pairs ^a, an, nn, n$.

    >>> compute_dice(np.array(["ann", "anne", "bob"], dtype=object), np.array([0, 0]), np.array([1, 2])).round(3)
    array([0.667, 0.   ])

    L. R. Dice, "Measures of the amount of ecologic association between species", Ecology 26, 1945.
    """
    sets = _letter_pairs(labels)
    sizes = np.diff(sets.indptr)
    coefficient = np.empty(len(first))
    for start in range(0, len(first), _BLOCK_PAIRS):
        part = slice(start, start + _BLOCK_PAIRS)
        shared = np.asarray(sets[first[part]].multiply(sets[second[part]]).sum(axis=1)).ravel()
        coefficient[part] = 2 * shared / (sizes[first[part]] + sizes[second[part]])
    return coefficient


def _letter_pairs(labels: NDArray[Any]) -> csr_matrix:
    number: dict[str, int] = {}
    columns: list[int] = []
    pointer = [0]
    for label in labels.tolist():
        marked = f"\x02{label.lower()}\x03"
        columns += {number.setdefault(marked[i : i + 2], len(number)) for i in range(len(marked) - 1)}
        pointer.append(len(columns))
    ones = np.ones(len(columns), dtype=np.int32)
    return csr_matrix((ones, columns, pointer), shape=(len(labels), max(len(number), 1)))


def _keys(a: NDArray[np.int32], b: NDArray[np.int32], n: int) -> Integers:
    return np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b)
