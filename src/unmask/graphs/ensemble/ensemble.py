"""Ensemble: an attack that combines votes of other attacks, with weights fitted to withheld seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.graphs.attacks.base import Count, Entries, Matching, make_matching, seed_images
from unmask.graphs.attacks.rematch import Rematch
from unmask.graphs.ensemble.bagging import MIN_SEEDS, Round, Stage, load_round, run_round, save_round, split_seeds
from unmask.graphs.ensemble.seed_dispersion import SeedDispersion, measure_seed_dispersion
from unmask.graphs.ensemble.success import (
    Candidates,
    SuccessEstimate,
    VoteData,
    count_right,
    estimate_success,
    rank_candidates,
)
from unmask.graphs.graph import SocialGraph
from unmask.graphs.seeds import Guessed
from unmask.graphs.similarity import Auxiliary
from unmask.ranges import CheckedParameters

SeedsAre = Literal["sample", "chosen", "guessed"]

ROUNDS = 8
"""Two rounds without half of the seeds, five without a fifth, and one with all seeds."""

MAX_AUC = 0.7
"""Mean AUC of degree over both graphs above which seeds are not accepted as a random sample.

If people with few edges are in one graph only, a random sample of the common people has a high AUC in that graph only.
"""


class Success(NamedTuple):
    """Expected share of right matches among people who are in the release, with a 95 % interval.

    mean, low       : None if the margin is so wide that only the upper bound `high` is announced
    of_anybody_high : upper bound of the share of right matches among all people without seeds
    """

    mean: float | None
    low: float | None
    high: float
    of_anybody_high: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Announced(Matching):
    """The belief of `Ensemble`: matches, and the probability that each is right if the person is in the target.

    The belief lists P(c | in the target) for all people. Its status is `scores`, because absent people are unknown.

    Parameters
    ----------
    indptr, candidate, log_probability, unlisted, n_unlisted, observation, weight, n_candidates, \
log_prior, status, provenance, candidate_label, representative, mapping, sweeps, visits : see `Matching`
        Fields of every matching.
    if_there : (n_observations,) float64 array
        Probability that the match is right if the person is in the target; nan without a match, and for seeds.
    confidence : {"calibrated", "bound", "scores"}
        `calibrated` if withheld seeds support the probabilities; `bound` if they are too few for more than an upper
        bound; `scores` if no probability is announced.
    estimate : SuccessEstimate or None
        Success of withheld seeds; None if they are too few.
    dispersion : SeedDispersion or None
        Dispersion of the seeds; None if it was not tested.
    max_present : float
        Largest possible share of other people who are in the target, by its number of nodes.
    refused : tuple of str
        Reasons why no probability is announced, a sentence each.
    """

    if_there: Floats
    confidence: Literal["calibrated", "bound", "scores"]
    estimate: SuccessEstimate | None
    dispersion: SeedDispersion | None
    max_present: float
    refused: tuple[str, ...]

    def expected_success(self, present: Booleans | None = None) -> Success | None:
        """Return the announced success; None if no probability is announced.

        present : (n_observations,) True for people who are known to be in the target; None if this is unknown for all
        """
        if self.estimate is None or self.confidence == "scores":
            return None
        if present is None:
            mean, margin = self.estimate.mean, self.estimate.blind_margin
        else:
            mean, margin = float(np.nan_to_num(self.if_there[present]).mean()), self.estimate.margin
        low, high = max(0.0, mean - margin), min(1.0, mean + margin)
        if self.confidence == "bound":
            return Success(None, None, high, self.max_present * high)
        return Success(mean, low, high, self.max_present * high)


@dataclass(frozen=True)
class Ensemble(CheckedParameters):
    """The strongest attack on networks: several attacks vote, and withheld seeds determine the weight of their votes.

    A round runs `Rematch` in both directions (its mapping and its candidate lists), and `Climb` with gamma .25. Pairs
    with a share of 1 % there are attacked by `Climb` with gamma 0 and .5, too. In small graphs, `Irma` runs, and
    `GraphMatching` from the result of a climb. There are eight rounds: two without a random half of the seeds, five
    without a fifth, and one with all seeds.

    Let x_j(u, c) be the votes of attack j for the pair (u, c) in some rounds, and phi and zeta the features of
    `VoteData.choices` made from them. If u is in the target, the probability that c is u is

        p(c | u) = exp(w.phi(u, c)) / (exp(a.zeta(u)) + sum over c' with votes of exp(w.phi(u, c')))

    w and a are fitted to withheld seeds. An attack that is useless on these graphs therefore gets no weight. The votes
    for a seed come from two rounds, without a half and without a fifth of the seeds. For other people, p is a mean over
    the pairs of a round without a fifth and the round with all seeds. Probabilities of seeds come from models that were
    not fitted to them.

    Each node with a candidate is matched to the likeliest one, also if it is unlikely. Two people may be matched to one
    node. p holds for people who are in the target and resemble the seeds. No probability is announced if

    * there are fewer than 30 seeds, or the seeds were chosen or guessed;
    * degrees separate seeds from other people: the mean AUC of both graphs is above .7 or below .3;
    * the seeds are close to each other (`measure_seed_dispersion`).

    If the margin of error of the mean success is above 10 points, only a bound is announced.

    The attack cannot recognize people who are absent from the target. `Success.of_anybody_high` is an upper bound, from
    the numbers of nodes, of the share of right matches among all people. It is not an estimate.

    The draws and the order of exact ties come from `rng`, or from a fixed seed without it. The truth is not used.

    Parameters
    ----------
    rounds : int
        Number of rounds. With fewer than 8 rounds, which are rounds without a fifth of the seeds and one with all
        seeds, no probability is announced. With fewer than 10 seeds there is one round.
    seeds_are : SeedsAre
        `sample`: a random sample of the people in both graphs. `chosen`: selected, for example by degree, so that other
        people are not re-identified as often as withheld seeds. `guessed`: found without the truth (`Guessed` always
        are).
    listed : int
        Largest number of candidates of a node in the belief.
    folder : Path or None
        Cache of finished rounds. After an interruption, the same attack resumes from it with the same results.
    progress : Callable[[str], None] or None
        Called with a text before each round: the share of withheld seeds that is matched correctly so far, first by
        `Rematch`.

    Notes
    -----
    Assumes: what the attacks assume, and that the seeds are right. Wrong seeds make all probabilities too low.

    Fails when: no attack finds more than the seeds; or the seeds are not a random sample, and neither their degrees nor
    their positions in the networks show it.

    References
    ----------
    Bagging: L. Breiman, "Bagging predictors", Machine Learning 1996; the logit: D. McFadden, "Conditional logit
    analysis of qualitative choice behavior", 1974.

    Examples
    --------
    >>> from unmask.graphs.graph import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 1, 2, 3, 4], [1, 2, 2, 3, 3, 4, 5])
    >>> belief = Ensemble()(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1]))))
    >>> belief.mapping, belief.confidence  # two seeds are too few to announce a probability
    (array([0, 1, 2, 3, 4, 5], dtype=int32), 'scores')
    """

    rounds: Count = ROUNDS
    seeds_are: SeedsAre = "sample"
    listed: Count = 10
    folder: Path | None = field(default=None, compare=False, repr=False)
    progress: Callable[[str], None] | None = field(default=None, compare=False, repr=False)

    draws: ClassVar = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folder is not None:
            object.__setattr__(self, "folder", Path(self.folder))  # documents give it as text

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Announced:
        """Return the belief about each node of the adversary's graph."""
        seed_images(release, knowledge)
        rng = np.random.default_rng(0) if rng is None else rng
        data = VoteData(release, knowledge)
        dispersion = _dispersion(data, rng)
        seeds_are = "guessed" if isinstance(knowledge.seeds, Guessed) else self.seeds_are
        refused = list(_refusals(data, dispersion, seeds_are, self.rounds))
        rounds, estimate = self._run(data, rng), None
        fifths, halves, full_round = rounds[:5], rounds[5:-1], rounds[-1]
        if halves:
            candidates, estimate = estimate_success(data, halves, fifths, full_round, rng=rng)
            refused += [f"withheld seeds contradict it: {estimate.check}"] * estimate.check.refuted
        else:
            bags = [[round_, full_round] for round_ in rounds[:-1]] or [[full_round]]
            candidates = rank_candidates(data, bags, [data.initial_model], rng=rng)
        mapping, if_there, entries = self._match(data, candidates)
        return make_matching(
            mapping,
            entries,
            n_target=release.n_nodes,
            sweeps=[len(round_.pair) for round_ in rounds],
            visits=0,
            attack=repr(self),
            kind=Announced,
            if_there=if_there,
            confidence="scores" if estimate is None or refused else estimate.confidence,
            estimate=estimate,
            dispersion=dispersion,
            max_present=min(1.0, (release.n_nodes - data.n_seeds) / max(len(data.free), 1)),
            refused=tuple(refused),
        )

    def _run(self, data: VoteData, rng: np.random.Generator) -> list[Round]:
        """Run the planned rounds: without each fifth of the seeds, without each half if enough, and with all seeds."""
        parts = split_seeds(data.n_seeds, rng=rng)
        learns = data.n_seeds >= MIN_SEEDS and self.rounds >= ROUNDS
        n_parts = 7 if learns else 0 if data.n_seeds < 10 else min(5, self.rounds - 1)
        plan = [*np.roll(parts, -2, axis=0)[:n_parts], np.zeros(data.n_seeds, dtype=np.bool_)]
        rounds: list[Round] = []
        for number, withheld in enumerate(plan, 1):
            so_far = _so_far("all votes", *count_right(data, rounds[:5])) if rounds else ""
            self._say(f"round {number} of {len(plan)}{so_far}")
            rounds.append(self._round(data, withheld, first=number == 1))
        return rounds

    def _round(self, data: VoteData, withheld: Booleans, *, first: bool) -> Round:
        """Return a cached round, or run it; the first round reports the matches of `Rematch`."""
        stage = Stage(data.release, data.knowledge, withheld, data.walks)
        if self.folder is not None and (cached := load_round(self.folder, stage)) is not None:
            return cached

        def report(mapping: NDArray[np.int32]) -> None:
            source, target = (side[withheld] for side in data.seeds)
            self._say(_so_far(Rematch.__name__, int((mapping[source] == target).sum()), len(source)).removeprefix("; "))

        result = run_round(stage, data.kinds, progress=report if first else None)
        if self.folder is not None:
            save_round(self.folder, stage, result)
        return result

    def _say(self, message: str) -> None:
        if self.progress is not None and message:
            self.progress(message)

    def _match(self, data: VoteData, candidates: Candidates) -> tuple[NDArray[np.int32], Floats, Entries]:
        """Return the mapping, the probability of the best candidate of each person who is not a seed, and the entries
        of the belief, in which seeds are certain.
        """
        seed_source, seed_target = data.seeds
        mapping, first = data.image.astype(np.int32), candidates.first
        mapping[candidates.person[first]] = candidates.candidate[first]
        if_there = np.full(len(mapping), np.nan)
        if_there[candidates.person[first]] = candidates.probability[first]
        is_listed = (candidates.rank < self.listed) & (candidates.probability > 0)
        row = np.append(candidates.person[is_listed], seed_source)
        log_p = np.append(np.log(candidates.probability[is_listed]), np.zeros(len(seed_source)))
        return mapping, if_there, (row, np.append(candidates.candidate[is_listed], seed_target), log_p)


def _so_far(method: str, n_right: float, n_withheld: int) -> str:
    """Describe the success so far; "" without withheld seeds."""
    return (
        f"; so far: matches about {100 * n_right / n_withheld:.0f} % ({method}; {n_withheld} withheld seeds)"
        if n_withheld
        else ""
    )


_NO_SAMPLE = ", so withheld seeds do not represent other people"


def _dispersion(data: VoteData, rng: np.random.Generator) -> SeedDispersion | None:
    """Return the dispersion of the seeds; None if they are too few, or if a network has no edge."""
    if data.n_seeds < MIN_SEEDS or not (data.release.n_edges and data.knowledge.graph.n_edges):
        return None
    return measure_seed_dispersion(data.knowledge.graph, data.release, data.seeds, rng=rng)


def _refusals(data: VoteData, spread: SeedDispersion | None, seeds_are: SeedsAre, rounds: int) -> Iterator[str]:
    """Yield reasons, from the seeds only, why no probability is announced."""
    if seeds_are == "guessed":
        yield "seeds were guessed, so withheld seeds do not show which matches are right"
    if seeds_are == "chosen":
        yield f"seeds were chosen and not sampled{_NO_SAMPLE}"
    if data.n_seeds < MIN_SEEDS:
        seeds = "1 seed is" if data.n_seeds == 1 else f"{data.n_seeds} seeds are"
        yield f"{seeds} too few to test a probability, expected at least {MIN_SEEDS}: these are scores"
        return
    if rounds < ROUNDS:
        yield f"rounds is {rounds}, but {ROUNDS} are needed to test a probability: these are scores"
    auc = float(np.mean(list(map(_auc, data.degrees, data.seeds))))
    if abs(auc - 0.5) > MAX_AUC - 0.5:
        comparison = "more" if auc > 0.5 else "fewer"
        yield f"seeds have {comparison} edges than others in both networks (AUC {auc:.2f}){_NO_SAMPLE}"
    if spread is None:
        yield "a network has no edge, so the dispersion of the seeds is unknown"
    elif spread.is_clustered:
        yield (
            f"seeds are near each other: {spread.ratio:.1f} times as many seeds around them as in a random draw, and "
            f"{spread.community_ratio:.1f} times as unevenly spread over communities{_NO_SAMPLE}"
        )


def _auc(degree: Integers, seeds: Integers) -> float:
    """Return the probability that a seed has more edges than another node; ties count half."""
    others = np.sort(np.delete(degree, seeds))
    n_below, n_up_to = (np.searchsorted(others, degree[seeds], side=side).sum() for side in ("left", "right"))
    return float((n_below + n_up_to) / (2 * len(seeds) * len(others))) if len(others) else 0.5
