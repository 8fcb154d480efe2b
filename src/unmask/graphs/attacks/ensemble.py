"""One adversary who runs the others on random parts of the seeds, lets them vote, and learns what a vote is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.graphs.attacks.beliefs import matching_of
from unmask.graphs.attacks.logit import Choices, choices, fitted, probabilities, start
from unmask.graphs.attacks.matching import Matching, check_at_least_one, seeded
from unmask.graphs.attacks.presence import Share, probability, scored, share_present
from unmask.graphs.attacks.rounds import DELETED, FEW, HELD, Round, Tally, deal, kinds_for, run_round, tallied
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.release import SocialGraph
from unmask.promise import Check
from unmask.segments import segment_max, segment_sum

Floats = NDArray[np.float64]
SeedsAre = Literal["sample", "chosen"]

ENOUGH = 80
"""Seeds from which on the probability that a person is there at all is announced."""

MANY = 1_000
"""Seeds that need to be held in three rounds only, not in six."""

WORK = 2_700_000
"""Edges, and four times nodes, of both graphs that all rounds together go over at most: about a minute. Two are run in
any case.
"""

BAGS, FOLDS = 6, 5


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Announced(Matching):
    """The belief of `Ensemble`: whom it names, and how likely that is to be right, in two numbers of two statuses.

    there    : (n_observations,) probability that the name is right if the person is in the target; nan without a name,
               and of seeds, which are given
    earned   : `calibrated` where held seeds bear it out; else `scores`, and no probability is announced
    check    : of seeds that were held back, what was announced beside what came true; None where they are too few
    presence : share of the people who are no seeds that is in the target, with bounds; None where it is refused
    refused  : why a number is not announced, a sentence each

    The belief itself is about everybody. With `presence` its status is `model`, and it lists
    P(in the target) P(c | in the target); without, the status is `scores`, and it lists P(c | in the target).
    """

    there: Floats
    earned: Literal["calibrated", "scores"]
    check: Check | None
    presence: Share | None
    refused: tuple[str, ...]

    @property
    def right(self) -> Floats:
        """(n_observations,) probability that the name is right, by the belief itself; nan without one, 1 of seeds."""
        named = self.candidate == self.mapping[self.row]
        found = np.full(len(self.mapping), np.nan)
        found[self.row[named]] = np.exp(self.log_probability[named], dtype=np.float64)
        return found


@dataclass(frozen=True)
class Ensemble:
    """The strongest adversary here: rerun attacks on random parts of the seeds, weigh their votes by held-back seeds.

    A round runs `Rematch` both ways (whom it maps, and what it lists), `Climb` with gamma 0, .25 and .5, and in small
    graphs `Irma` and `GraphMatching`, from three fifths of the seeds. The others are treated like anybody else, and of
    half of them the image has lost its edges, so that they are absent for certain. Votes of a kind of attack for a
    pair (u, c) over the rounds, x_j(u, c), make the probability that c is u if u is in the target,

        p(c | u) = exp(w.phi(u, c)) / (exp(a.zeta(u)) + sum over c' with votes of exp(w.phi(u, c')))

    with the features of `logit.choices`; w and a are fitted to seeds that were held back, so that a kind of attack that
    is worthless on these graphs has no weight. Votes are always those of as many rounds as a seed is held in: of
    others, p is the mean over six draws of so many. Whether a person is in the target at all is learned from held seeds
    (present), from all others (a mixture) and from deleted ones (a bound), see `presence.share_present`. What is
    announced of a seed comes from models that did not see it.

    Named is the best candidate of everybody who has one, whether likely or not; two people may be taken for one node.
    See `Announced` for the two probabilities. Neither is announced with fewer than 30 seeds, and the second not with
    fewer than 80, or if seeds were chosen.

    rounds    : at most; 30, so that each seed is held in 6, or 15 with 1,000 seeds; in large graphs as many as take
                about a minute (`WORK`), and at least 2. With fewer than 10 seeds there is nothing to leave out, and one
                round
    seeds_are : `sample`: a random sample of the people in both graphs; `chosen`: by degree, say. Then "is in the
                target" cannot be told from "looks like a seed"
    listed    : candidates that the belief lists of a node, at most
    progress  : is told of each round

    Draws the deal and exact ties from `rng`, from a fixed seed where there is none. No truth is used.

    Assumes: what the attacks assume; that seeds are right. Where some are wrong, all numbers come out too low.

    Fails when: no attack gets beyond its seeds; or people who are absent look as present as held seeds do, which the
    bounds of `presence` then show.

    >>> from unmask.graphs.release import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 1, 2, 3, 4], [1, 2, 2, 3, 3, 4, 5])
    >>> belief = Ensemble()(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1]))))
    >>> belief.mapping, belief.earned  # two seeds are too few to announce a probability
    (array([0, 1, 2, 3, 4, 5], dtype=int32), 'scores')

    Bagging: L. Breiman, "Bagging predictors", Machine Learning 1996; the logit: D. McFadden, "Conditional logit
    analysis of qualitative choice behavior", 1974; presence: M. C. du Plessis, G. Niu & M. Sugiyama, "Convex
    formulation for learning from positive and unlabeled data", ICML 2015.
    """

    rounds: int = 30
    seeds_are: SeedsAre = "sample"
    listed: int = 10
    progress: Callable[[str], None] | None = field(default=None, compare=False, repr=False)

    draws: ClassVar = True

    def __post_init__(self) -> None:
        check_at_least_one(self.rounds, "rounds")
        check_at_least_one(self.listed, "listed")
        if self.seeds_are not in get_args(SeedsAre):
            raise UnmaskError(f"seeds_are is {self.seeds_are!r}, expected one of {', '.join(get_args(SeedsAre))}")

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary[SocialGraph], *, rng: np.random.Generator | None = None
    ) -> Announced:
        """The belief about each node of the adversary's graph."""
        seeded(release, knowledge)
        rng = np.random.default_rng(0) if rng is None else rng
        scene = _Scene(release, knowledge)
        parts = deal(scene.n_seeds, self._planned(scene), rng)
        found = _Rounds(scene, parts, tuple(self._run(scene, parts)))
        if scene.n_seeds < FEW:
            few = f"{scene.n_seeds} seeds are too few to test a probability, expected at least {FEW}: these are scores"
            return self._announced(scene, found, _unweighed(found), rng, refused=(few,))
        voted = _weighed(found, rng)
        refused = tuple(_refusals(scene, self.seeds_are))
        presence = None if refused or voted.check is None or voted.check.refuted else _present(scene, voted)
        return self._announced(scene, found, voted, rng, presence=presence, refused=refused)

    def _planned(self, scene: _Scene) -> int:
        if scene.n_seeds < 10:
            return 1
        work = sum(graph.n_edges + 4 * graph.n_nodes for graph in (scene.release, scene.knowledge.graph))
        return min(self.rounds, 15 if scene.n_seeds >= MANY else 30, max(2, WORK // work))

    def _run(self, scene: _Scene, parts: NDArray[np.int8]) -> list[Round]:
        done = []
        for at, part in enumerate(parts, 1):
            if self.progress is not None:
                self.progress(f"round {at} of {len(parts)}")
            done.append(run_round(scene.release, scene.knowledge, part, scene.kinds))
        return done

    def _announced(
        self,
        scene: _Scene,
        found: _Rounds,
        voted: _Voted,
        rng: np.random.Generator,
        *,
        presence: tuple[Share, list[Floats]] | None = None,
        refused: tuple[str, ...] = (),
    ) -> Announced:
        """The belief, from what is voted and, bag by bag, how likely each person is to be there."""
        alone = [np.ones(len(scene.free))] * len(voted.bags)
        person, candidate, there, all_ = _mean(scene, voted, alone if presence is None else presence[1])
        order = np.lexsort((rng.permutation(scene.release.n_nodes)[candidate], -there, person))
        person, candidate, there, all_ = person[order], candidate[order], there[order], all_[order]
        first = np.flatnonzero(np.diff(person, prepend=-1))
        mapping = np.full(scene.knowledge.graph.n_nodes, -1, dtype=np.int32)
        mapping[person[first]] = candidate[first]
        sure = np.full(len(mapping), np.nan)
        sure[person[first]] = there[first]
        here, shown = scene.seeds
        mapping[here] = shown
        place = np.arange(len(person)) - np.repeat(first, np.diff(np.append(first, len(person))))
        kept = (place < self.listed) & (all_ > 0)
        entries = (
            np.append(person[kept], here), np.append(candidate[kept], shown),
            np.append(np.log(all_[kept]), np.zeros(len(here))),
        )  # fmt: skip
        check = voted.check
        bare = matching_of(
            mapping, entries, n_target=scene.release.n_nodes, sweeps=[len(one.pair) for one in found.rounds], visits=0,
            attack=repr(self),
        )  # fmt: skip
        calibrated = check is not None and not check.refuted
        return Announced(
            **{**vars_of(bare), "status": "scores" if presence is None else "model"},
            there=sure,
            earned="calibrated" if calibrated else "scores",
            check=check,
            presence=None if presence is None else presence[0],
            refused=refused if check is None or not check.refuted else (*refused, f"held seeds refute it: {check}"),
        )


def vars_of(belief: Matching) -> dict[str, Any]:
    """The fields of a belief."""
    return {name: getattr(belief, name) for name in Matching.__dataclass_fields__}


class _Scene:
    """The graphs, the seeds, and who is free.

    seeds : source nodes, and the target node of each
    free  : source nodes that are no seeds, ascending
    """

    def __init__(self, release: SocialGraph, knowledge: Auxiliary[SocialGraph]) -> None:
        self.release, self.knowledge = release, knowledge
        self.seeds = np.asarray(knowledge.seeds[0], np.int64), np.asarray(knowledge.seeds[1], np.int64)
        self.n_seeds = len(self.seeds[0])
        self.free = np.setdiff1d(np.arange(knowledge.graph.n_nodes), self.seeds[0])
        self.degrees = knowledge.graph.degree, release.degree
        self.ratios = knowledge.ratios(release)
        self.kinds = kinds_for(release, knowledge)

    def choices(self, tally: Tally, people: NDArray[np.int64]) -> Choices:
        """The features of votes for some people."""
        likeness = None if self.ratios is None else self.ratios.of(tally.person, tally.candidate)
        return choices(tally, people, self.degrees, self.seeds, likeness)


class _Rounds(NamedTuple):
    """What was run: (n_rounds, n_seeds) parts, and the votes."""

    scene: _Scene
    parts: NDArray[np.int8]
    rounds: tuple[Round, ...]

    def of_seeds(self, part: int) -> tuple[Tally, NDArray[np.int64]]:
        """The votes for seeds in rounds in which they were held, or deleted; and who was, ascending."""
        counted = np.zeros((len(self.parts), self.scene.knowledge.graph.n_nodes), dtype=np.bool_)
        counted[:, self.scene.seeds[0]] = self.parts == part
        return tallied(self.rounds, counted, self.scene.release.n_nodes), np.flatnonzero(counted.any(axis=0))

    def of_others(self, many: int, rng: np.random.Generator) -> Tally:
        """The votes for people who are no seeds, of so many rounds each, drawn for each person."""
        counted = np.zeros((len(self.parts), self.scene.knowledge.graph.n_nodes), dtype=np.bool_)
        drawn = rng.random((len(self.parts), len(self.scene.free))).argsort(axis=0)
        counted[:, self.scene.free] = drawn < many
        return tallied(self.rounds, counted, self.scene.release.n_nodes)


class _Bag(NamedTuple):
    """Votes, p of each of them, p of none by person, and the features by which presence is told."""

    tally: Tally
    p: Floats
    features: Floats


class _Voted(NamedTuple):
    """What votes are worth. bags : of people who are no seeds; held, deleted : features, and folds, of seeds."""

    bags: list[_Bag]
    check: Check | None = None
    held: tuple[Floats, NDArray[np.int64]] | None = None
    deleted: tuple[Floats, NDArray[np.int64]] | None = None


def _unweighed(found: _Rounds) -> _Voted:
    """All votes alike."""
    tally = found.of_others(len(found.parts), np.random.default_rng(0))
    asked = found.scene.choices(tally, found.scene.free)
    return _Voted([_bag(tally, asked, *probabilities(start(len(found.scene.kinds), asked.phi.shape[1]), asked))])


def _weighed(found: _Rounds, rng: np.random.Generator) -> _Voted:
    """Votes weighed by seeds that were held back: five models, each without a fifth of them."""
    scene, n_kinds = found.scene, len(found.scene.kinds)
    fold_of = np.zeros(scene.knowledge.graph.n_nodes, dtype=np.int64)
    fold_of[scene.seeds[0]] = rng.permutation(scene.n_seeds) % FOLDS
    image = np.full(len(fold_of), -1)
    image[scene.seeds[0]] = scene.seeds[1]
    tally, people = found.of_seeds(HELD)
    asked, right = scene.choices(tally, people), image[tally.person] == tally.candidate
    fold = fold_of[people]
    models = [fitted(asked.take(fold != k), right[fold_of[tally.person] != k], n_kinds) for k in range(FOLDS)]
    held = _bag(tally, asked, *_by_fold(models, asked, fold))
    gone, absent = found.of_seeds(DELETED)
    asked_gone = scene.choices(gone, absent)
    deleted = _bag(gone, asked_gone, *_by_fold(models, asked_gone, fold_of[absent]))
    many = max(1, round(float((found.parts == HELD).sum(axis=0).mean())))
    bags = [_open_bag(found, models, many, rng) for _ in range(BAGS)]
    check = _check(asked, held.p, right)
    return _Voted(bags, check, (held.features, fold), (deleted.features, fold_of[absent]))


def _open_bag(found: _Rounds, models: list[Floats], many: int, rng: np.random.Generator) -> _Bag:
    """A draw of so many rounds for each person who is no seed, weighed by all models alike."""
    tally = found.of_others(many, rng)
    asked = found.scene.choices(tally, found.scene.free)
    each = [probabilities(theta, asked) for theta in models]
    return _bag(tally, asked, *(np.mean(side, axis=0) for side in zip(*each, strict=True)))


def _by_fold(models: list[Floats], asked: Choices, fold: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Each person's probabilities by the model that did not see them."""
    p, none = (np.array(side) for side in zip(*(probabilities(theta, asked) for theta in models), strict=True))
    of_pair = fold[asked.of_pair]
    return p[of_pair, np.arange(len(of_pair))], none[fold, np.arange(len(fold))]


def _check(asked: Choices, p: Floats, right: NDArray[np.bool_]) -> Check:
    """Of held seeds, what was announced of their best candidate beside how often it is right."""
    most = segment_max(p, asked.indptr, empty=0.0)
    best = p >= most[asked.of_pair]
    share = segment_sum((best & right).astype(np.float64), asked.indptr)
    tied = np.maximum(segment_sum(best.astype(np.float64), asked.indptr), 1.0)
    return Check.of(most, share / tied, within=0.03)


def _bag(tally: Tally, asked: Choices, p: Floats, none: Floats) -> _Bag:
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
    return _Bag(tally, p, np.column_stack(columns))


def _refusals(scene: _Scene, seeds_are: SeedsAre) -> list[str]:
    """Why nothing is said about people who may be absent."""
    said = []
    if seeds_are == "chosen":
        said.append("seeds were chosen and not sampled, so that who is absent cannot be told from who is unlike a seed")
    if scene.n_seeds < ENOUGH:
        said.append(f"{scene.n_seeds} seeds are too few to tell who is absent; it takes at least {ENOUGH}")
    return said


def _present(scene: _Scene, voted: _Voted) -> tuple[Share, list[Floats]]:
    """The share of people who are there, and how likely each of them is, bag by bag."""
    assert voted.held is not None
    assert voted.deleted is not None
    held, fold = voted.held
    deleted, fold_gone = voted.deleted
    most = (scene.release.n_nodes - scene.n_seeds) / max(len(scene.free), 1)
    share = share_present(held, deleted, voted.bags[0].features, (fold, fold_gone), most=most)
    models = [scored(held[fold != k], voted.bags[0].features, share.value) for k in range(FOLDS)]
    return share, [np.mean([probability(b, bag.features) for b in models], axis=0) for bag in voted.bags]


def _mean(
    scene: _Scene, voted: _Voted, present: list[Floats]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]:
    """Pairs, p if the person is there, and p; means over the bags."""
    n, bags = scene.release.n_nodes, voted.bags
    pair = np.concatenate([bag.tally.person * n + bag.tally.candidate for bag in bags])
    pairs, at = np.unique(pair, return_inverse=True)
    there = np.bincount(at, weights=np.concatenate([bag.p for bag in bags]), minlength=len(pairs))
    weighed = [
        bag.p * rho[np.searchsorted(scene.free, bag.tally.person)] for bag, rho in zip(bags, present, strict=True)
    ]
    all_ = np.bincount(at, weights=np.concatenate(weighed), minlength=len(pairs))
    return *np.divmod(pairs, n), there / len(bags), all_ / len(bags)
