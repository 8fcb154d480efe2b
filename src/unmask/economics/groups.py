"""Who is attacked: the distinct groups of candidates behind a list of sizes, or behind a belief."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.csr_rows import segment_max
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.economics.attacker import Attacker, numbers
from unmask.economics.exploitation import CLEAN, Alike, Floats, Games, Ranked
from unmask.economics.prices import distinct_sizes, group_sizes, plans_by_size


@dataclass(frozen=True, eq=False)
class Grouped:
    """Targets, each of whom is one of so many equal candidates with a probability of their own.

    size, inside : (n,) candidates, at least 1; probability that the target is one of them
    """

    size: NDArray[np.int64]
    inside: Floats


Who = ArrayLike | Posterior | Grouped
"""Who is attacked: (n,) group sizes, or a belief; of a belief what is found is (n_observations,) where one target is
attacked at a time, and (n_targets,) where one campaign faces all.
"""

LOG_TIE = 1e-5
"""Candidates whose log-probabilities differ by less are alike: a few units of float32 in the last place."""

NEGLIGIBLE = 1e-9
"""Chance below which the candidates at the end of a list are not told apart from none."""

BLOCK_ENTRIES = 2**24
"""Candidates of different chance that are held in memory at once."""


@dataclass(frozen=True, eq=False)
class Group:
    """Games of one kind, and the members that play them: member[i] of the list plays game[i]."""

    games: Games
    member: NDArray[np.int64]
    game: NDArray[np.int64]

    def spread(self, of_member: NDArray[np.int64]) -> Group:
        """The same games for others: `of_member` of them is the member here that each plays the game of."""
        game = np.full(int(of_member.max(initial=-1)) + 1, -1)
        game[self.member] = self.game
        played = game[of_member]
        member = np.flatnonzero(played >= 0)
        return Group(self.games, member, played[member])


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups behind a list of n members; whoever is in none of them is worth nothing to the attacker."""

    n: int
    parts: tuple[Group, ...]

    def spread(self, value: Callable[[Games], Floats], *, otherwise: float = 0.0) -> Floats:
        """(k, n) a value of each game, (k, n_games), handed to the members that play it."""
        out: Floats | None = None
        for part in self.parts:
            found = value(part.games)
            out = np.full((len(found), self.n), otherwise) if out is None else out
            out[:, part.member] = found[:, part.game]
        return np.full((8, self.n), otherwise) if out is None else out


def groups_of(attacker: Attacker, who: Who) -> Groups:
    """The distinct games behind group sizes (with the attacker's prior), or behind the observations of a belief.

    Groups so large that the attacker would leave them alone even if the target were surely inside are left out.
    """
    if isinstance(who, Posterior):
        return _of_belief(attacker, who)
    if isinstance(who, Grouped):
        return Groups(len(who.size), _alike(attacker, np.arange(len(who.size)), who.size, who.inside))
    distinct, of_member = distinct_sizes(group_sizes(who))
    parts = _alike(attacker, np.arange(len(distinct)), distinct, np.full(len(distinct), attacker.prior))
    return Groups(len(of_member), tuple(part.spread(of_member) for part in parts))


def counted(who: Who, people: ArrayLike | None) -> tuple[Who, ArrayLike | None]:
    """The same targets for a campaign, each distinct group once; people: how many each stands for.

    Of a belief whose candidates are alike in every row; any other is returned as it is.

    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]))
    >>> found, people = counted(belief, None)
    >>> found.size, people
    (array([1, 2]), array([1, 2]))
    """
    if not isinstance(who, Posterior) or who.status == "scores" or not alike_rows(who).all():
        return who, people
    pairs = np.stack([candidates_tried(who).astype(np.float64), chance_inside(who)])[:, who.observation]
    (size, inside), of_target = np.unique(pairs, axis=1, return_inverse=True)
    count = np.bincount(of_target, weights=people_of(people, len(of_target)), minlength=len(size)).astype(np.int64)
    some = size > 0
    if not some.any():
        return who, people
    return Grouped(size[some].astype(np.int64), inside[some]), count[some]


def people_of(people: ArrayLike | None, n_targets: int) -> Floats:
    """(n_targets,) how many people each target stands for."""
    if people is None:
        return np.ones(n_targets)
    given = numbers("people", people)
    if given.ndim and given.shape != (n_targets,):
        raise UnmaskError(f"people has the shape {given.shape}, expected one count for each of {n_targets} targets")
    given = np.broadcast_to(given, (n_targets,))
    if not (np.all(given >= 0) and np.all(given == np.rint(given)) and np.all(given < 2**53)):
        raise UnmaskError("the counts of people are not whole numbers of at least 0, one for each target")
    return given


def candidates_tried(belief: Posterior) -> NDArray[np.int64]:
    """(n_observations,) candidates of a row: those listed, and those who share what is not listed."""
    return belief.row_length + np.where(_shared(belief), belief.n_unlisted, 0)


def chance_inside(belief: Posterior) -> Floats:
    """(n_observations,) probability of the candidates that can be tried; the rest is "none of these"."""
    listed = np.where(belief.row_length > 0, 1.0 - belief.unlisted, 0.0)
    return np.asarray(np.clip(listed + np.where(_shared(belief), belief.unlisted, 0.0), 0.0, 1.0))


def alike_rows(belief: Posterior) -> NDArray[np.bool_]:
    """(n_observations,) whether all candidates of a row that can be tried are equally likely."""
    log_p = belief.log_probability.astype(np.float64)
    highest = segment_max(log_p, belief.indptr, empty=0.0)
    alike = highest + segment_max(-log_p, belief.indptr, empty=0.0) <= LOG_TIE
    return np.asarray(alike & ((belief.row_length == 0) | ~_shared(belief)))


def _shared(belief: Posterior) -> NDArray[np.bool_]:
    return (belief.n_unlisted > 0) & (belief.unlisted > 0)


def _alike(attacker: Attacker, member: NDArray[np.int64], size: NDArray[np.int64], inside: Floats) -> tuple[Group, ...]:
    """Games of equal candidates, each distinct pair of size and chance once."""
    pairs, game = np.unique(np.stack([size.astype(np.float64), inside]), axis=1, return_inverse=True)
    distinct = np.unique(size)
    fines = attacker.max_fines if attacker.fine > 0 or attacker.arrest else 0  # counting fines of 0 would cost time
    certain = plans_by_size(replace(attacker, prior=1.0, max_fines=fines), distinct)[CLEAN] > 0
    worth = certain[np.searchsorted(distinct, pairs[0].astype(np.int64))]
    kept = worth[game]
    games = Alike(pairs[0, worth].astype(np.int64), pairs[1, worth] * attacker.confirmation)
    return (Group(games, member[kept], (np.cumsum(worth) - 1)[game[kept]]),) if kept.any() else ()


def _of_belief(attacker: Attacker, belief: Posterior) -> Groups:
    """Rows whose candidates are alike become pairs of size and chance; the others are ranked, likeliest first.

    What is not listed is "none of these" where it is not known how many share it.
    """
    if belief.status == "scores":
        raise UnmaskError(
            "an attack that gives scores cannot be priced, a price needs probabilities: calibrate it first"
        )
    alike = alike_rows(belief)
    rows = np.flatnonzero(alike)
    parts = _alike(attacker, rows, candidates_tried(belief)[rows], chance_inside(belief)[rows])
    return Groups(belief.n_observations, (*parts, *_ranked(attacker, belief, np.flatnonzero(~alike))))


def _ranked(attacker: Attacker, belief: Posterior, rows: NDArray[np.int64]) -> list[Group]:
    """Games of unequal candidates, in blocks that fit in memory."""
    parts: list[Group] = []
    chances: list[Floats] = []
    members: list[int] = []
    held = 0
    for row in rows.tolist():
        chances.append(_worth_trying(attacker, belief, row))
        members.append(row)
        held += len(chances[-1])
        if held > BLOCK_ENTRIES or row == rows[-1]:
            parts.append(_ranked_group(chances, members))
            chances, members, held = [], [], 0
    return parts


def _worth_trying(attacker: Attacker, belief: Posterior, row: int) -> Floats:
    """The chances of a row's candidates, descending, until no later one is worth its cost even without a fine."""
    entries = slice(belief.indptr[row], belief.indptr[row + 1])
    p = np.exp(belief.log_probability[entries].astype(np.float64))
    p = p if belief.multiplicity is None else np.repeat(p, belief.multiplicity[entries])
    p *= (1.0 - belief.unlisted[row]) / p.sum()
    if (n := int(belief.n_unlisted[row])) > 0 and belief.unlisted[row] > 0:
        p = np.concatenate([p, np.full(n, belief.unlisted[row] / n)])
    p = attacker.confirmation * np.sort(p)[::-1]
    tried = np.cumsum(p)
    p = p[: int(np.searchsorted(tried, tried[-1] - NEGLIGIBLE)) + 1]
    at_large = 1.0 - np.concatenate(([0.0], tried[: len(p) - 1]))
    profit = np.cumsum(attacker.gain * p - attacker.exploit_cost * at_large)
    best_later = np.maximum.accumulate(profit[::-1])[::-1]
    before = np.concatenate(([0.0], profit[:-1]))
    worth = np.flatnonzero(best_later >= before)
    return p[: int(worth[-1]) + 1 if len(worth) else 0]


def _ranked_group(chances: list[Floats], members: list[int]) -> Group:
    place: dict[bytes, int] = {}
    game = np.array([place.setdefault(chance.tobytes(), len(place)) for chance in chances])
    chances = [np.frombuffer(one) for one in place]
    size = np.array([len(chance) for chance in chances])
    order = np.argsort(size, kind="stable")
    chance = np.concatenate([chances[i] for i in order])
    start = np.concatenate(([0], np.cumsum(size[order])[:-1]))
    total = np.concatenate(([0.0], np.cumsum(chance)))
    before = total[:-1] - np.repeat(total[start], size[order])
    return Group(Ranked(size[order], start, chance, before), np.asarray(members), np.argsort(order)[game])
