"""Probabilistic record linkage without another library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition
from unmask.pseudonyms.attacks.agreement import MISSING, agreement, has_near
from unmask.pseudonyms.attacks.blocking import Blocks, pairs_of_rule, random_pairs, union
from unmask.pseudonyms.attacks.components import codes_of
from unmask.pseudonyms.attacks.links import Links, no_links
from unmask.pseudonyms.attacks.threshold import profiles_of
from unmask.pseudonyms.release import Feature, Items

_LEVELS = 3
_SAMPLE = 1_000_000
_START = np.array([0.05, 0.15, 0.8])
_ROUNDS = 200


@dataclass(frozen=True)
class Weights:
    """What a linker believes about agreement: for each feature (different, near, equal), each summing to 1.

    m     : the probabilities of the three levels in a pair of one user's pseudonyms
    u     : the same in a pair of different users'
    prior : the probability that two pseudonyms, drawn at random, are one user's

    The evidence of a feature is log(m / u) at its level, in natural units; a missing cell is no evidence. Features
    are taken as independent given whether the pair is one user's.

    I. P. Fellegi, A. B. Sunter, "A theory for record linkage", JASA 64, 1969.
    """

    m: Mapping[str, tuple[float, float, float]]
    u: Mapping[str, tuple[float, float, float]]
    prior: float

    def __post_init__(self) -> None:
        if not 0 < self.prior < 1:
            raise UnmaskError(f"the prior is {self.prior}, expected a probability between 0 and 1")
        for letter, table in (("m", self.m), ("u", self.u)):
            for name, row in table.items():
                if len(row) != _LEVELS or min(row) < 0 or abs(sum(row) - 1) > 1e-6:
                    raise UnmaskError(
                        f"{letter} of {name!r} is {row}, expected the probabilities of (different, near, equal), sum 1"
                    )
        if set(self.m) != set(self.u):
            raise UnmaskError("m and u name different features, expected both for each feature")


@dataclass(frozen=True)
class RecordLinkage:
    """Which pseudonyms belong together? Those whose features agree more than chance allows (Fellegi and Sunter).

    Pairs that agree on all features of a block rule are compared. Their log-odds of being one user's are the prior
    log-odds plus log(m / u) for each feature; pairs of at least `threshold` are linked and closed: the clusters are
    the connected components of the links. `link` gives the pairs, from which other thresholds and views come.

    What is not `known` is estimated from the release alone. u: equal cells by their frequencies, near ones on up to a
    million pairs drawn with `seed`. m: by expectation maximization over the pairs of each block rule, u fixed, on the
    features outside that rule; the mean over the rules. A feature that is in every rule keeps m = (0.05, 0.15, 0.8)
    (0.2 and 0.8 where cells cannot be near). Prior: the matches found in a rule's pairs, divided by the probability
    that a match agrees on that rule, over all pairs; the mean over the rules.
    Where a user's errors are not independent (a record with exactly one error) m is too low and the prior too high.

    blocks    : rules, each the names of features; two rules with no feature in common are a good choice
    threshold : the least probability of a link
    features  : names of the features to compare; all of them for none
    known     : the m, u and prior to use instead of estimates
    similar   : least Dice coefficient of letter pairs at which two texts are near
    tolerance : by numeric feature, the difference at which two numbers are near

    Cost: O(n log n + pairs of the rules), some 50 bytes for each pair; at most 100 million pairs for a rule.

    Assumes: features agree independently, given whether two pseudonyms are one person's, and each true pair agrees on
    all features of some block rule.

    Fails when: errors come together, no rule holds the true pairs, or one false link joins two people's clusters.

    >>> names = [first + last for first in ("ann ", "bob ", "cat ") for last in ("may", "ray", "lee", "fox")]
    >>> twice = {"name": names * 2, "born": [str(1950 + 7 * number % 40) for number in range(12)] * 2}
    >>> guess = RecordLinkage(blocks=(("name",), ("born",)))(Items.read(twice, features=["name", "born"]))
    >>> guess.n_clusters, bool((guess.code[:12] == guess.code[12:]).all())
    (12, True)

    W. E. Winkler, "Using the EM algorithm for weight computation in the Fellegi-Sunter model", 1988; the training by
    block rule is that of Splink (R. Linacre et al., 2022).
    """

    blocks: Blocks
    threshold: float = 0.9
    features: tuple[str, ...] = ()
    known: Weights | None = None
    similar: float = 0.6
    tolerance: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        check_blocks(self.blocks, self.threshold)
        if not 0 < self.similar <= 1:
            raise UnmaskError(f"similar is {self.similar}, expected a coefficient above 0 and at most 1")

    def __call__(self, release: Items, knowledge: None = None, *, rng: np.random.Generator | None = None) -> Partition:
        """The adversary's partition of the items at the threshold."""
        return self.link(release).clusters(self.threshold)

    def fit(self, release: Items) -> Weights:
        """The m, u and prior as estimated from the release: what the adversary can learn without the truth."""
        features, rules = self._rules(release)
        return self._fit(features, [self._pairs(features, rule) for rule in rules], rules)

    def link(self, release: Items) -> Links:
        """The compared pairs and their probabilities."""
        features, rules = self._rules(release)
        found = [self._pairs(features, rule) for rule in rules]
        left, right = union(found, release.partition.n_clusters)
        if not len(left):
            return no_links(release)
        weights = self.known or self._fit(features, found, rules)
        log_odds = np.full(len(left), np.log(weights.prior) - np.log1p(-weights.prior))
        with np.errstate(divide="ignore"):
            for feature in features:
                if feature.name in weights.m:
                    gain = np.log(weights.m[feature.name]) - np.log(np.maximum(weights.u[feature.name], 1e-300))
                    log_odds += np.append(gain, 0.0)[self._levels(feature, left, right)]  # missing is -1: the 0
        return Links(release, left, right, scipy.special.expit(log_odds))

    def _rules(self, release: Items) -> tuple[tuple[Feature, ...], list[tuple[str, ...]]]:
        """The profiles to compare, those of the block rules among them, and the rules."""
        chosen = tuple(feature.name for feature in release.chosen(self.features))
        blocking = tuple(name for rule in self.blocks for name in rule)
        stray = next(
            (name for name in (*self.tolerance, *(self.known.m if self.known else ())) if name not in chosen), None
        )
        if stray is not None:
            raise UnmaskError(f"feature {stray!r} has a tolerance or weights but is not compared; add it to features")
        release.chosen(blocking)
        return profiles_of(release, tuple(dict.fromkeys((*chosen, *blocking)))), list(self.blocks)

    def _pairs(
        self, features: tuple[Feature, ...], rule: tuple[str, ...]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return pairs_of_rule(tuple(feature for feature in features if feature.name in rule))

    def _levels(self, feature: Feature, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int8]:
        return agreement(feature, left, right, similar=self.similar, tolerance=self.tolerance.get(feature.name))

    def _fit(
        self,
        features: tuple[Feature, ...],
        pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
        rules: list[tuple[str, ...]],
    ) -> Weights:
        n = len(features[0].missing)
        sample = random_pairs(n, _SAMPLE, self.seed)
        allowed = np.array([[True, has_near(f, self.tolerance.get(f.name)), True] for f in features])
        u = np.array(
            [_by_chance(f, self._levels(f, *sample), allow) for f, allow in zip(features, allowed, strict=True)]
        )
        m = [np.array([_start(allow) for allow in allowed])]
        learned: list[tuple[NDArray[np.bool_], NDArray[np.float64], float]] = []
        for rule, (left, right) in zip(rules, pairs, strict=True):
            if len(left):
                outside = np.array([feature.name not in rule for feature in features])
                levels = np.array([self._levels(feature, left, right) for feature in features])
                learned.append((outside, *_expectation_maximization(levels, outside, m[0], u, allowed)))
        mean = _mean_m(m[0], [(outside, found) for outside, found, _ in learned])
        matches = [found / mean[~outside, 2].prod() for outside, _, found in learned]
        possible = n * (n - 1) / 2
        prior = float(np.clip(np.mean(matches) / possible, 1e-12, 0.5)) if matches else 1e-12
        names = [feature.name for feature in features]
        return Weights(_rows(names, mean), _rows(names, u), prior)


def check_blocks(blocks: Blocks, threshold: float) -> None:
    """Refuse block rules that are empty or no tuples of names, and a threshold that is no probability."""
    if not blocks or not all(type(rule) is tuple and rule for rule in blocks):
        raise UnmaskError(f'the blocks are {blocks!r}, expected rules such as (("name",), ("born", "town"))')
    if not 0 <= threshold <= 1:
        raise UnmaskError(f"the threshold is {threshold}, expected a probability from 0 to 1")


def _by_chance(feature: Feature, level: NDArray[np.int8], allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(3,) probabilities of the levels in a random pair: equal by the frequencies of the cells, near by the sample."""
    codes = codes_of(feature)
    size = np.bincount(codes[codes >= 0]).astype(np.float64)
    n = size.sum()
    equal = (size * (size - 1)).sum() / max(n * (n - 1), 1)
    equal = min(max(equal, 1 / max(n * n, 4)), 1 - 1e-6)
    there = np.count_nonzero(level != MISSING)
    near = (np.count_nonzero(level == 1) + 0.5) / (there + 1) if allowed[1] else 0.0
    near = min(near, (1 - equal) * 0.999)
    return np.array([1 - equal - near, near, equal])


def _start(allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
    return _START if allowed[1] else np.array([_START[0] + _START[1], 0.0, _START[2]])


def _expectation_maximization(
    levels: NDArray[np.int8],
    outside: NDArray[np.bool_],
    m: NDArray[np.float64],
    u: NDArray[np.float64],
    allowed: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], float]:
    """m of the features outside the rule, and the matches among its pairs, on the distinct patterns of levels."""
    base = _LEVELS + 1
    key = np.zeros(levels.shape[1], dtype=np.int64)
    for row in levels[outside]:
        key = np.unique(key * base + row + 1, return_inverse=True)[1] if key.max() > 2**60 else key * base + row + 1
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    patterns = levels[outside][:, first]
    on = np.array([patterns == level for level in range(_LEVELS)]).transpose(1, 0, 2)  # (features, 3, patterns)
    gain_u = _log_chance(u[outside], on)
    m, share = m.copy(), 0.1
    for _ in range(_ROUNDS):
        log_odds = np.log(share) - np.log1p(-share) + _log_chance(m[outside], on) - gain_u
        weight = count * scipy.special.expit(log_odds)
        tally = (on @ weight + 1.0) * allowed[outside]  # one pair of each level in advance: no chance is 0
        m[outside] = tally / tally.sum(axis=1, keepdims=True)
        new = float(np.clip(weight.sum() / count.sum(), 1e-9, 1 - 1e-9))
        if abs(new - share) < 1e-9:
            break
        share = new
    return m, share * float(count.sum())


def _log_chance(chance: NDArray[np.float64], on: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(patterns,) log-probability of each pattern, missing levels left out."""
    logs = np.log(np.maximum(chance, 1e-300))
    total: NDArray[np.float64] = np.einsum("fl,flp->p", logs, on.astype(np.float64))
    return total


def _mean_m(
    start: NDArray[np.float64], learned: list[tuple[NDArray[np.bool_], NDArray[np.float64]]]
) -> NDArray[np.float64]:
    """The mean of what each rule says about the features outside it; the start where no rule says anything."""
    out = start.copy()
    for at in range(len(start)):
        said = [m[at] for outside, m in learned if outside[at]]
        if said:
            out[at] = np.mean(said, axis=0)
    return out


def _rows(names: list[str], table: NDArray[np.float64]) -> dict[str, tuple[float, float, float]]:
    return {name: (float(row[0]), float(row[1]), float(row[2])) for name, row in zip(names, table, strict=True)}
