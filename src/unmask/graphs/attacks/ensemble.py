"""One adversary who runs the others on random parts of the seeds, lets them vote, and learns what a vote is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.graphs.attacks.beliefs import matching_of
from unmask.graphs.attacks.kept import keep, kept
from unmask.graphs.attacks.matching import Matching, check_at_least_one, seeded
from unmask.graphs.attacks.presence import Share
from unmask.graphs.attacks.rematch import Rematch
from unmask.graphs.attacks.rounds import FEW, HELD, KEPT, Round, Stage, deal, run_round, work
from unmask.graphs.attacks.support import rematch
from unmask.graphs.attacks.weighing import Found, Scene, Told, Voted, present, told_by, unweighed, weighed
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.release import SocialGraph
from unmask.graphs.seeds import Guessed
from unmask.promise import Check

SeedsAre = Literal["sample", "partial", "chosen", "guessed"]

ENOUGH = 80
"""Seeds from which on the probability that a person is there at all is announced."""

APART = 0.7
"""The AUC of degree as a sign of a seed, on average of both graphs, from which on seeds do not look like a sample.
Where people of one graph are absent from the other, and have few edges, sampled seeds stand out in that graph alone.
"""

VAGUE = 0.05
"""What is right of everybody is not announced where half of the range of the share of people who are there, times how
often a match is right of those, is more.
"""

LEAST = 10
"""Rounds in any case, so that each seed is held in two: from one nobody can tell what more rounds add."""

SETTLED = 0.02
"""The share of votes for candidates who took the lead in the last round, below which another is not worth it."""

WORK = 6_000_000
"""The `work` of all rounds together, at most: about a minute. Two are run in any case, and where graph matching votes
`LEAST`.
"""


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

    there: NDArray[np.float64]
    earned: Literal["calibrated", "scores"]
    check: Check | None
    presence: Share | None
    refused: tuple[str, ...]

    @property
    def right(self) -> NDArray[np.float64]:
        """(n_observations,) probability that the name is right, by the belief itself; nan without one, 1 of seeds."""
        named = self.candidate == self.mapping[self.row]
        found = np.full(len(self.mapping), np.nan)
        found[self.row[named]] = np.exp(self.log_probability[named], dtype=np.float64)
        return found

    @property
    def margin(self) -> float | None:
        """By how much the mean of `there` may be off by the luck of the held seeds that tell it: 1.96 standard errors
        of a share of so many people, one more of them right and one more wrong. None where they are too few.
        """
        if self.check is None:
            return None
        likely = (self.check.people * self.check.realized + 1) / (self.check.people + 2)
        return float(1.96 * np.sqrt(likely * (1 - likely) / (self.check.people + 2)))


@dataclass(frozen=True)
class Ensemble:
    """The strongest adversary here: rerun attacks on random parts of the seeds, weigh their votes by held-back seeds.

    A round runs `Rematch` both ways (whom it maps, and what it lists), `Climb` with gamma .25, and 0 and .5 up to
    100,000 nodes, and in small graphs `Irma` and, from where a climb ends, `GraphMatching`. It knows three quarters of
    the seeds (less of more than 225, three fifths of 900 or more). A fifth of all seeds is treated like anybody; so is
    the rest, whose images have lost their edges, so that they are absent for certain. Votes of a kind of attack for a
    pair (u, c) over the rounds, x_j(u, c), make the probability that c is u if u is in the target,

        p(c | u) = exp(w.phi(u, c)) / (exp(a.zeta(u)) + sum over c' with votes of exp(w.phi(u, c')))

    with the features of `logit.choices`; w and a are fitted to seeds that were held back, so that a kind of attack that
    is worthless on these graphs has no weight. Votes are always those of as many rounds as a seed is held in: of
    others, p is the mean over bags of so many, raised by what that mean knows more than a bag. Where ten rounds or more
    are affordable, one more runs from all seeds. By how much it announces more than rounds from parts of them says what
    seeds are worth here, and that is its weight beside the bags: with success in proportion to seeds^e it is e. Whether
    a person is in the target at all is learned from held seeds (present), from all others (a mixture) and from deleted
    ones (a bound), see `presence.share_present`. What is announced of a seed comes from models that did not see it.

    Named is the best candidate of everybody who has one, whether likely or not; two people may be taken for one node.
    See `Announced` for the two probabilities. Both are learned from seeds: neither is announced with fewer than 30, or
    if seeds were chosen or guessed, or look it: if degree tells them from others with an AUC above .7, on average of
    both graphs, or below .3.
    The second is not announced with fewer than 80 either, or where the share of people who are there is known so badly
    that half of its range moves the mean over everybody by more than 5 points (`VAGUE`).

    rounds    : at most; 10, and more as long as the last one made other candidates than before the leaders of 2 % of
                the votes. In large graphs as many as take about a minute (`WORK`), and at least 2, but 10 where graph
                matching votes, whatever that takes: 70 CPU s with 2,000 people. With fewer than 10 seeds there is
                nothing to leave out, and one round
    seeds_are : `sample`: a random sample of the people in both graphs; `partial`: of some of them, so that "is in the
                target" cannot be told from "could be a seed"; `chosen`: by degree, say, so that others are not
                re-identified as often as held-back seeds; `guessed`: found without the truth (`Guessed` always are)
    listed    : candidates that the belief lists of a node, at most
    folder    : keeps the rounds that are finished, so that the same attack goes on after an interruption with the next
                one; see `kept`. What is announced is the same
    progress  : is told of each round, and which share of held-back seeds is named rightly so far: first by `Rematch`,
                as soon as one of its steps changes little

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
    folder: Path | None = field(default=None, compare=False, repr=False)
    progress: Callable[[str], None] | None = field(default=None, compare=False, repr=False)

    draws: ClassVar = True

    def __post_init__(self) -> None:
        check_at_least_one(self.rounds, "rounds")
        check_at_least_one(self.listed, "listed")
        if self.seeds_are not in get_args(SeedsAre):
            raise UnmaskError(f"seeds_are is {self.seeds_are!r}, expected one of {', '.join(get_args(SeedsAre))}")
        if self.folder is not None:
            object.__setattr__(self, "folder", Path(self.folder))  # a document says it in text

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary[SocialGraph], *, rng: np.random.Generator | None = None
    ) -> Announced:
        """The belief about each node of the adversary's graph."""
        seeded(release, knowledge)
        rng = np.random.default_rng(0) if rng is None else rng
        scene = Scene(release, knowledge)
        seeds_are = "guessed" if isinstance(knowledge.seeds, Guessed) else self.seeds_are
        silent = list(_silent(scene, seeds_are))
        refused = silent + list(_undecided(scene, seeds_are))
        found = self._run(scene, deal(scene.n_seeds, self._planned(scene), rng))
        voted = unweighed(found) if scene.n_seeds < FEW else weighed(found, rng)
        if voted.learned is not None and voted.learned.check.refuted:
            silent.append(f"held-back seeds refute it: {voted.learned.check}")
            refused += silent[-1:]
        presence = None if refused else present(scene, voted)
        if presence is not None and (vague := list(_vague(presence[0], voted))):
            presence, refused = None, vague
        return self._announced(scene, found, voted, rng, presence=presence, silent=bool(silent), refused=refused)

    def _planned(self, scene: Scene) -> int:
        if scene.n_seeds < 10:
            return 1
        affordable = WORK // work(scene.release, scene.knowledge, scene.kinds)
        return min(self.rounds, max(LEAST if "dense" in scene.kinds else 2, affordable))

    def _run(self, scene: Scene, parts: NDArray[np.int8]) -> Found:
        """Rounds until another one changes next to nothing, or all that are planned, and one from all seeds, where
        there is time for it and somebody to tell what it is worth.
        """
        found, said = Found(scene, parts[:0], ()), ""
        for at, part in enumerate(parts, 1):
            self._say(f"round {at} of at most {len(parts)}{said}")
            made = self._round(scene, part, first=at == 1)
            found = Found(scene, parts[:at], (*found.rounds, made))
            said = _so_far("all votes", *found.rightly)
            if at >= LEAST and found.unsettled < SETTLED:
                break
        if len(parts) < LEAST or scene.n_seeds < FEW:
            return found
        self._say(f"a round from all seeds{said}")
        return found._replace(whole=self._round(scene, np.full_like(parts[0], KEPT), first=False))

    def _round(self, scene: Scene, part: NDArray[np.int8], *, first: bool) -> Round:
        """A round that was kept, or a new one; the first of all tells what `Rematch` finds."""
        stage = Stage.of(scene.release, scene.knowledge, part)
        if self.folder is not None and (before := kept(self.folder, stage)) is not None:
            return before

        def told(mapping: NDArray[np.int32]) -> None:
            self._say(_so_far(Rematch.__name__, *_named_of_held(scene, part, mapping)).removeprefix("; "))

        found = run_round(stage, rematch(stage.release, stage.known, told if first else None), scene.kinds)
        if self.folder is not None:
            keep(self.folder, stage, found)
        return found

    def _say(self, what: str) -> None:
        if self.progress is not None and what:
            self.progress(what)

    def _announced(
        self,
        scene: Scene,
        found: Found,
        voted: Voted,
        rng: np.random.Generator,
        *,
        presence: tuple[Share, list[NDArray[np.float64]]] | None,
        silent: bool,
        refused: Sequence[str],
    ) -> Announced:
        """The belief, from what is voted and, bag by bag, how likely each person is to be there.

        silent : whether no probability is announced at all
        """
        told = told_by(scene, voted, None if presence is None else presence[1], rng)
        bare = self._listed(scene, found, told)
        sure = np.full(len(scene.image), np.nan)
        sure[told.person[told.first]] = told.there[told.first]
        fields = {name: getattr(bare, name) for name in Matching.__dataclass_fields__}
        return Announced(
            **{**fields, "status": "scores" if presence is None else "model"},
            there=sure,
            earned="scores" if silent else "calibrated",
            check=None if voted.learned is None else voted.learned.check,
            presence=None if presence is None else presence[0],
            refused=tuple(refused),
        )

    def _listed(self, scene: Scene, found: Found, told: Told) -> Matching:
        """Seeds for certain, and of each other person the likeliest candidates."""
        here, shown = scene.seeds
        mapping, first = scene.image.astype(np.int32), told.first
        mapping[told.person[first]] = told.candidate[first]
        kept = (told.place < self.listed) & (told.all > 0)
        row, candidate = np.append(told.person[kept], here), np.append(told.candidate[kept], shown)
        certain = np.append(np.log(told.all[kept]), np.zeros(len(here)))
        return matching_of(
            mapping, (row, candidate, certain), n_target=scene.release.n_nodes,
            sweeps=[len(one.pair) for one in found.rounds], visits=0, attack=repr(self),
        )  # fmt: skip


def _named_of_held(scene: Scene, part: NDArray[np.int8], mapping: NDArray[np.int32]) -> tuple[int, int]:
    """How many held seeds the mapping names rightly, and how many there are."""
    source, target = (side[part == HELD] for side in scene.seeds)
    return int((mapping[source] == target).sum()), len(source)


def _so_far(by: str, right: float, held: int) -> str:
    """What is known of success so far; nothing where no seed was held back."""
    return f"; so far: names about {100 * right / held:.0f} % ({by}; {held} held-back seeds)" if held else ""


def _silent(scene: Scene, seeds_are: SeedsAre) -> Iterator[str]:
    """Why no probability is announced: nobody could test it, or those who could are unlike the others."""
    if scene.n_seeds < FEW:
        seeds = "1 seed is" if scene.n_seeds == 1 else f"{scene.n_seeds} seeds are"
        yield f"{seeds} too few to test a probability, expected at least {FEW}: these are scores"
    if seeds_are == "guessed":
        yield "seeds were guessed, so that held-back seeds tell what is guessed alike, and not what is right"
    elif seeds_are == "chosen":
        yield "seeds were chosen and not sampled, so that held-back seeds do not stand for other people"
    elif scene.n_seeds >= FEW:
        yield from _unlike(float(np.mean(list(map(_auc, scene.degrees, scene.seeds)))))


def _unlike(auc: float) -> Iterator[str]:
    """Why held-back seeds do not stand for others, by how often a seed has more edges."""
    if auc > APART:
        yield (
            f"seeds have more edges than others in both networks (AUC {auc:.2f}), so that either they were chosen by "
            "it, or people who are absent have few: the two cannot be told apart"
        )
    elif auc < 1 - APART:
        yield (
            f"seeds have fewer edges than others in both networks (AUC {auc:.2f}), so that held-back seeds do not "
            "stand for other people"
        )


def _undecided(scene: Scene, seeds_are: SeedsAre) -> Iterator[str]:
    """Why nothing is announced about people who may be absent, where something is of those who are not."""
    if seeds_are == "partial":
        yield "seeds are a sample of some of the people in both networks, so that who is absent cannot be told"
    if FEW <= scene.n_seeds < ENOUGH:
        yield f"{scene.n_seeds} seeds are too few to tell who is absent; it takes at least {ENOUGH}"


def _vague(share: Share, voted: Voted) -> Iterator[str]:
    """Why nothing is announced about people who may be absent, where their share is known too badly."""
    assert voted.learned is not None
    if (share.high - share.low) / 2 * float(voted.learned.top.mean()) > VAGUE:
        yield (
            f"it is only known that {100 * share.low:.0f} % to {100 * share.high:.0f} % of the people who are not "
            "seeds are in both networks, too wide a range to say how likely a match is to be right where the person "
            "may be absent"
        )


def _auc(degree: NDArray[np.int64], seeds: NDArray[np.int64]) -> float:
    """How often a seed has more edges than somebody else; equally many count one half, as does that nobody else is."""
    rank, n = scipy.stats.rankdata(degree)[seeds], len(seeds)
    others = len(degree) - n
    return float((rank.sum() - n * (n + 1) / 2) / (n * others)) if others else 0.5
