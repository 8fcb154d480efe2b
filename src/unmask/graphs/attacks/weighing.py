"""What the votes of an ensemble are worth, told by seeds that were held back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from unmask.graphs.attacks.logit import Choices, choices, fitted, probabilities, start
from unmask.graphs.attacks.presence import Share, probability, scored, share_present
from unmask.graphs.attacks.rounds import DELETED, HELD, KEPT, Round, Tally, kinds_for, leaders, tallied
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.release import SocialGraph
from unmask.promise import Check
from unmask.segments import segment_max, segment_sum

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]

FOLDS = 5

STEEP = 3.0
"""Before a seed is seen, the standard deviation of the log-odds that a match gains where some bags are certain of it
and the others exclude it: those of 20 to 1.
"""


class Scene:
    """The graphs, the seeds, and who is free.

    seeds : source nodes, and the target node of each; image: (n_source,) the same, -1 of all others
    free  : source nodes that are no seeds, ascending
    """

    def __init__(self, release: SocialGraph, knowledge: Auxiliary[SocialGraph]) -> None:
        self.release, self.knowledge = release, knowledge
        self.seeds = np.asarray(knowledge.seeds[0], np.int64), np.asarray(knowledge.seeds[1], np.int64)
        self.image = np.full(knowledge.graph.n_nodes, -1)
        self.image[self.seeds[0]] = self.seeds[1]
        self.n_seeds, self.free = len(self.seeds[0]), np.flatnonzero(self.image < 0)
        self.degrees = knowledge.graph.degree, release.degree
        self.ratios = knowledge.ratios(release)
        self.kinds = kinds_for(release, knowledge)

    def choices(self, tally: Tally, people: Nodes) -> Choices:
        """The features of votes for some people."""
        likeness = None if self.ratios is None else self.ratios.of(tally.person, tally.candidate)
        return choices(tally, people, self.degrees, self.seeds, likeness)

    def right(self, tally: Tally) -> NDArray[np.bool_]:
        """(n_pairs,) whether a pair is a seed and its image."""
        return np.asarray(self.image[tally.person] == tally.candidate)


class Found(NamedTuple):
    """What was run: (n_rounds, n_seeds) what became of each seed, and the votes.

    whole : a round from all seeds, which tells nothing about any of them; None where there was none
    """

    scene: Scene
    parts: NDArray[np.int8]
    rounds: tuple[Round, ...]
    whole: Round | None = None

    @property
    def many(self) -> int:
        """Rounds in which a seed is held."""
        return max(1, round(float((self.parts == HELD).sum(axis=0).mean())))

    @property
    def rightly(self) -> tuple[int, int]:
        """How many held seeds most votes name rightly, and how many were held."""
        tally, people = self.of_seeds(HELD)
        person, candidate, _ = leaders(tally)
        return int((self.scene.image[person] == candidate).sum()), len(people)

    @property
    def unsettled(self) -> float:
        """The share of votes of people who are no seeds for leaders that did not lead before the last round."""
        before, after = (self._leading(rounds) for rounds in (self.rounds[:-1], self.rounds))
        new = ~np.isin(after[0], before[0])
        return float(after[1][new].sum() / max(after[1].sum(), 1e-300))

    def _leading(self, rounds: tuple[Round, ...]) -> tuple[Nodes, Floats]:
        """The pair of each person who is no seed with the most votes, as a number, and its share of votes."""
        whole = np.zeros((len(rounds), len(self.scene.image)), dtype=np.bool_)
        whole[:, self.scene.free] = True
        person, candidate, share = leaders(tallied(rounds, whole, self.scene.release.n_nodes))
        return person * self.scene.release.n_nodes + candidate, share

    def of_seeds(self, part: int) -> tuple[Tally, Nodes]:
        """The votes for seeds in rounds in which they were held, or deleted; and who was, ascending."""
        return self._tally(self.scene.seeds[0], self.parts == part)

    def bags_of_seeds(self, part: int, many: int, rng: np.random.Generator) -> tuple[list[Tally], Nodes]:
        """The same of so many rounds at a time, each person's dealt out anew, of seeds that were so often enough."""
        were = self.parts == part
        enough = were.sum(axis=0) >= self.many
        people = self.scene.seeds[0][enough]
        return self._dealt(people, were[:, enough], many, self.many // many, rng), np.sort(people)

    def bags_of_others(self, many: int, rng: np.random.Generator) -> list[Tally]:
        """The votes for people who are no seeds, of so many rounds at a time, each person's dealt out anew."""
        everyone = np.ones((len(self.rounds), len(self.scene.free)), dtype=np.bool_)
        return self._dealt(self.scene.free, everyone, many, len(self.rounds) // many, rng)

    def _dealt(
        self, people: Nodes, among: NDArray[np.bool_], many: int, n_bags: int, rng: np.random.Generator
    ) -> list[Tally]:
        turn = dealt(among, rng)
        return [self._tally(people, turn // many == bag)[0] for bag in range(n_bags)]

    def _tally(self, people: Nodes, counted: NDArray[np.bool_]) -> tuple[Tally, Nodes]:
        """counted : (n_rounds, n_people)"""
        whole = np.zeros((len(self.rounds), len(self.scene.image)), dtype=np.bool_)
        whole[:, people] = counted
        return tallied(self.rounds, whole, self.scene.release.n_nodes), np.flatnonzero(whole.any(axis=0))


def dealt(among: NDArray[np.bool_], rng: np.random.Generator) -> Nodes:
    """(n_rounds, n_people) the turn, 0 1 2.., at which each round of a person comes; -1 of rounds not among."""
    lot = np.where(among, rng.random(among.shape), 2.0)
    return np.where(among, lot.argsort(axis=0).argsort(axis=0), -1)


class Bag(NamedTuple):
    """Votes of people who are no seeds, p of each of them, and by each model the features that tell presence."""

    tally: Tally
    p: Floats
    features: tuple[Floats, ...] = ()


class Learned(NamedTuple):
    """What seeds tell. check : announced of held ones and come true; gain: see `_gain`.

    held, deleted : features, and folds
    """

    check: Check
    gain: float
    top: Floats
    held: tuple[Floats, Nodes]
    deleted: tuple[Floats, Nodes]


class Voted(NamedTuple):
    """What votes are worth.

    bags    : of people who are no seeds
    learned : None where all votes count alike
    whole   : the round from all seeds, and its weight beside the mean over bags, see `_whole`
    """

    bags: list[Bag]
    learned: Learned | None = None
    whole: tuple[Bag, float] | None = None


def unweighed(found: Found) -> Voted:
    """All votes alike."""
    (tally,) = found.bags_of_others(len(found.rounds), np.random.default_rng(0))
    asked = found.scene.choices(tally, found.scene.free)
    p, _ = probabilities(start(len(found.scene.kinds), asked.phi.shape[1]), asked)
    return Voted([Bag(tally, p)])


def weighed(found: Found, rng: np.random.Generator) -> Voted:
    """Votes weighed by seeds that were held back: five models, each without a fifth of them."""
    scene = found.scene
    fold_of = np.zeros(len(scene.image), dtype=np.int64)
    fold_of[scene.seeds[0]] = rng.permutation(scene.n_seeds) % FOLDS
    tally, people = found.of_seeds(HELD)
    models, asked, p, _ = _cross_fitted(scene, tally, people, fold_of)
    most, right = _best(asked.indptr, p, scene.right(tally))
    held, deleted = (_features_of_seeds(found, part, models, fold_of, rng) for part in (HELD, DELETED))
    learned = Learned(Check.of(most, right, within=0.03), _gain(found, fold_of, rng), most, held, deleted)
    bags = [_open_bag(scene, tally, models) for tally in found.bags_of_others(found.many, rng)]
    return Voted(bags, learned, None if found.whole is None else _whole(found, found.whole, fold_of, rng))


def _features_of_seeds(
    found: Found, part: int, models: list[Floats], fold_of: Nodes, rng: np.random.Generator
) -> tuple[Floats, Nodes]:
    """What tells presence, from exactly as many rounds as of others, and the folds."""
    (tally,), people = found.bags_of_seeds(part, found.many, rng)
    asked = found.scene.choices(tally, people)
    return _features(tally, asked, *_by_fold(models, asked, fold_of[people])), fold_of[people]


def _cross_fitted(
    scene: Scene, tally: Tally, people: Nodes, fold_of: Nodes
) -> tuple[list[Floats], Choices, Floats, Floats]:
    """The models, and what each person is asked and is told by the model that did not see them."""
    asked, right, fold = scene.choices(tally, people), scene.right(tally), fold_of[people]
    models = [fitted(asked.take(fold != k), right[fold_of[tally.person] != k], len(scene.kinds)) for k in range(FOLDS)]
    return models, asked, *_by_fold(models, asked, fold)


def _by_fold(models: list[Floats], asked: Choices, fold: Nodes) -> tuple[Floats, Floats]:
    """Each person's probabilities by the model that did not see them."""
    p, none = (np.array(side) for side in zip(*(probabilities(theta, asked) for theta in models), strict=True))
    of_pair = fold[asked.of_pair]
    return p[of_pair, np.arange(len(of_pair))], none[fold, np.arange(len(fold))]


def _best(indptr: Nodes, p: Floats, right: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """(n_people,) the largest p of each person, and how often it is of the right candidate; ties are drawn."""
    most = segment_max(p, indptr, empty=0.0)
    best = p >= np.repeat(most, np.diff(indptr))
    hit = segment_sum((best & right).astype(np.float64), indptr)
    return most, hit / np.maximum(segment_sum(best.astype(np.float64), indptr), 1.0)


def _gain(found: Found, fold_of: Nodes, rng: np.random.Generator) -> float:
    """By how much, in log-odds, the likeliest candidate is likelier than the mean over bags, where bags disagree.

    The mean of probabilities that hold knows more than it says, by what each bag knows and the others do not: nothing
    where all say the same, however unsure they are, and most where some are sure and others are not. So the log-odds
    rise in proportion to how far the bags are apart (`_pooled`), and held seeds tell how steeply, by bags of m / 2 of
    their m rounds: most likely, with a normal prior of standard deviation `STEEP`, and never below 0. 0 where m is 1.

    R. Ranjan & T. Gneiting, "Combining probability forecasts", Journal of the Royal Statistical Society B 72, 2010.
    """
    scene, half = found.scene, found.many // 2
    if not half:
        return 0.0
    bags, people = found.bags_of_seeds(HELD, half, rng)
    models = _cross_fitted(scene, bags[0], people, fold_of)[0]
    told = [_by_fold(models, scene.choices(bag, people), fold_of[people])[0] for bag in bags]
    weights = np.full(len(bags), 1 / len(bags))
    (person, candidate), p, apart = _pooled(bags, told, scene.release.n_nodes, weights)
    indptr = np.searchsorted(person, np.append(people, len(fold_of)))
    most, right = _best(indptr, p, scene.image[person] == candidate)
    leads = p >= np.repeat(most, np.diff(indptr))
    return _steepness(most, segment_max(np.where(leads, apart, 0.0), indptr, empty=0.0), right)


def _steepness(p: Floats, apart: Floats, right: Floats) -> float:
    """The likeliest g with log-odds of being right of logit(p) + g apart. right : (n_people,) 0 to 1"""
    odds = special.logit(np.clip(p, 1e-9, 1 - 1e-9))

    def loss(steep: float) -> float:
        raised = odds + steep * apart
        return float((np.logaddexp(0.0, raised) - right * raised).sum() + (steep / STEEP) ** 2 / 2)

    return float(scipy.optimize.minimize_scalar(loss, bounds=(0.0, 5 * STEEP), method="bounded").x)


def _open_bag(scene: Scene, tally: Tally, models: list[Floats]) -> Bag:
    """Votes for people who are no seeds, weighed by all models alike."""
    asked = scene.choices(tally, scene.free)
    each = [probabilities(theta, asked) for theta in models]
    return Bag(tally, np.mean([p for p, _ in each], axis=0), tuple(_features(tally, asked, *one) for one in each))


def _whole(found: Found, whole: Round, fold_of: Nodes, rng: np.random.Generator) -> tuple[Bag, float]:
    """The votes of the round from all seeds, weighed as those of a single round are, and how much they count.

    No seed is held in it, so that nothing tells how often it is right: models of single rounds weigh it as one of them.
    With A(k) the sum over people who are no seeds of the largest p by the votes of a round from a share k of the seeds,
    it counts log(A(1) / A(k)) / log(1 / k), between 0 and 1: nothing where more seeds do not help, so that bags, which
    rest on several rounds, are better; all where success grows in proportion to seeds.
    """
    bags, people = found.bags_of_seeds(HELD, 1, rng)
    models, *_ = _cross_fitted(found.scene, bags[0], people, fold_of)
    everyone = np.ones((1, len(found.scene.image)), dtype=np.bool_)
    all_seeds = _open_bag(found.scene, tallied([whole], everyone, found.scene.release.n_nodes), models)
    some_seeds = _open_bag(found.scene, found.bags_of_others(1, rng)[0], models)
    more = np.log(_success(found.scene, all_seeds) / _success(found.scene, some_seeds))
    return all_seeds, float(np.clip(more / -np.log((found.parts == KEPT).mean()), 0.0, 1.0))


def _success(scene: Scene, bag: Bag) -> float:
    """The sum over people who are no seeds of the largest p; a little more than 0 where nobody has a vote."""
    indptr = np.searchsorted(bag.tally.person, np.append(scene.free, len(scene.image)))
    return max(float(segment_max(bag.p, indptr, empty=0.0).sum()), 1e-9)


def _features(tally: Tally, asked: Choices, p: Floats, none: Floats) -> Floats:
    """Presence is told by: the best candidate, none of them, the best share of names, all votes, and the degree."""
    degree = asked.zeta[:, 1]
    silent = -np.log(none + 0.01)
    columns = (
        np.log(segment_max(p, asked.indptr, empty=0.0) + 0.02),
        silent,
        np.log(segment_max(tally.share[:, 0], asked.indptr, empty=0.0) + 0.03),
        np.log(segment_sum(tally.share.mean(axis=1), asked.indptr) + 0.05),
        degree,
        degree * silent,
    )
    return np.column_stack(columns)


def present(scene: Scene, voted: Voted) -> tuple[Share, list[Floats]]:
    """The share of people who are there, and how likely each of them is, bag by bag.

    Seeds of a fold and people who are no seeds are looked at by the same model, which saw neither.
    """
    assert voted.learned is not None
    (held, fold), (deleted, fold_gone) = voted.learned.held, voted.learned.deleted
    most = (scene.release.n_nodes - scene.n_seeds) / max(len(scene.free), 1)
    share = share_present(held, deleted, voted.bags[0].features, (fold, fold_gone), most=most)
    scores = [scored(held[fold != k], open_, share.value) for k, open_ in enumerate(voted.bags[0].features)]
    return share, [np.mean(list(map(probability, scores, bag.features)), axis=0) for bag in voted.bags]


class Told(NamedTuple):
    """Pairs, likelier ones of a person first: p if the person is there, and p. Ascending by person."""

    person: Nodes
    candidate: Nodes
    there: Floats
    all: Floats

    @property
    def first(self) -> Nodes:
        """Where each person begins."""
        return np.flatnonzero(np.diff(self.person, prepend=-1))

    @property
    def place(self) -> Nodes:
        """(n_pairs,) how many likelier ones the person has."""
        first = self.first
        return np.arange(len(self.person)) - np.repeat(first, np.diff(np.append(first, len(self.person))))


def told_by(scene: Scene, voted: Voted, presence: list[Floats] | None, rng: np.random.Generator) -> Told:
    """Means over the bags, ties in the order of a draw, and the likeliest candidates raised by the gain.

    presence : how likely each person is to be there, bag by bag; None for certain
    """
    n, bags = scene.release.n_nodes, voted.bags
    rho = [np.ones(len(scene.free))] * len(bags) if presence is None else presence
    weights = np.full(len(bags), 1 / len(bags))
    if voted.whole is not None:
        whole, weight = voted.whole
        bags, rho, weights = [*bags, whole], [*rho, np.mean(rho, axis=0)], np.append((1 - weight) * weights, weight)
    tallies = [bag.tally for bag in bags]
    at = [np.searchsorted(scene.free, tally.person) for tally in tallies]
    sure = [bag.p * likely[i] for bag, likely, i in zip(bags, rho, at, strict=True)]
    (person, candidate), there, apart = _pooled(tallies, [bag.p for bag in bags], n, weights)
    _, every = _mean_of(tallies, sure, n, weights)
    order = np.lexsort((rng.permutation(n)[candidate], -there, person))
    found = Told(person[order], candidate[order], there[order], every[order])
    return found if voted.learned is None else _raised(found, voted.learned.gain * apart[order][found.first])


def _pooled(
    bags: Sequence[Tally], p: Sequence[Floats], n_target: int, weights: Floats
) -> tuple[tuple[Nodes, Nodes], Floats, Floats]:
    """The pairs of all bags, means of p over the bags, and how far the bags are apart:

    the variance of p over the bags in that of bags that either are certain or exclude the pair, mean (1 - mean); 0 to 1
    """
    pairs, mean = _mean_of(bags, p, n_target, weights)
    _, square = _mean_of(bags, [one * one for one in p], n_target, weights)
    return pairs, mean, np.clip((square - mean**2) / np.maximum(mean * (1.0 - mean), 1e-12), 0.0, 1.0)


def _mean_of(
    bags: Sequence[Tally], values: Sequence[Floats], n_target: int, weights: Floats
) -> tuple[tuple[Nodes, Nodes], Floats]:
    """The pairs of all bags, ascending, and means of their values over the bags; 0 of a bag that has not the pair.

    weights : (n_bags,) summing to 1
    """
    pair = np.concatenate([bag.person * n_target + bag.candidate for bag in bags])
    pairs, at = np.unique(pair, return_inverse=True)
    person, candidate = np.divmod(pairs, n_target)
    shares = np.concatenate([weight * value for weight, value in zip(weights, values, strict=True)])
    return (person, candidate), np.bincount(at, weights=shares, minlength=len(pairs)).astype(np.float64)


def _raised(found: Told, shift: Floats) -> Told:
    """The log-odds of each person's first candidate raised by the shift; the others share what is left as before."""
    first = found.first
    before = np.minimum(found.there[first], 1.0 - 1e-12)
    after = special.expit(special.logit(before) + shift)
    ratio = np.repeat((1.0 - after) / (1.0 - before), np.diff(np.append(first, len(found.person))))
    ratio[first] = np.where(before > 0, after / np.maximum(before, 1e-300), 1.0)
    return found._replace(there=np.minimum(found.there * ratio, 1.0), all=np.minimum(found.all * ratio, 1.0))
