"""Attacks rerun on random parts of the seeds: who is taken for whom how often, with seeds left out on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unmask.graphs.attacks.assignment import GraphMatching
from unmask.graphs.attacks.climb import VOTE, Climb
from unmask.graphs.attacks.irma import Irma
from unmask.graphs.attacks.matching import Matching
from unmask.graphs.attacks.support import Support, rematch
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.release import SocialGraph

FEW = 30
"""Seeds below which none is held back: too few to tell how often a vote is right."""

MANY = 900
"""Seeds from which on all take part in deletions; of fewer n, n / 900 of them, and at least a quarter. A deleted image
takes its edges from everybody else: with 200 seeds that costs a round more than it gains by being unlike the others,
with 1,300 it does not; with 400, on one pair of networks, it costs 3 points, of which this rule leaves less than 1.
"""

IRMA = 10_000
"""Nodes of the larger graph up to which `Irma` votes."""

SEVERAL = 100_000
"""Nodes of the larger graph up to which `Climb` votes with several discounts."""

KEPT, HELD, DELETED = 0, 1, 2
"""What became of a seed in a round: known, treated like anybody else, or that and its image without edges."""

_LEAST = 0.02  # listed candidates that are less likely have no vote

_STEPS = 10  # of `GraphMatching`; from the center all 30 move its hits by -1 to 3 points on thin networks

Vote = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float64]]
"""People, candidates, and how much is voted for each."""

Votes = dict[str, list[Vote]]
"""Kind of attack -> the votes of each attack of that kind."""


class Round(NamedTuple):
    """One round.

    part  : (n_seeds,) KEPT, HELD or DELETED
    pair  : (n_pairs,) source node * target nodes + target node, ascending: whoever has a vote
    vote  : (n_pairs, n_kinds) mean over the attacks of a kind
    """

    part: NDArray[np.int8]
    pair: NDArray[np.int64]
    vote: NDArray[np.float32]


class Tally(NamedTuple):
    """Votes of several rounds, by person; the same number of rounds or not.

    person, candidate : (n_pairs,) ascending by person, then candidate
    share             : (n_pairs, n_kinds) votes of a kind for the pair / rounds of the person
    """

    person: NDArray[np.int64]
    candidate: NDArray[np.int64]
    share: NDArray[np.float64]


def kinds_for(release: SocialGraph, knowledge: Auxiliary[SocialGraph]) -> tuple[str, ...]:
    """The kinds of attacks that vote, by the size of the graphs and by what the adversary knows."""
    n = max(release.n_nodes, knowledge.graph.n_nodes)
    asked = {
        "alike": knowledge.similarity is not None,
        "discounted": n <= SEVERAL,
        "irma": n <= IRMA,
        "dense": n <= GraphMatching.largest,  # wherever it runs
    }
    return ("named", "listed", "climb", *(kind for kind, votes in asked.items() if votes))


def work(release: SocialGraph, knowledge: Auxiliary[SocialGraph], kinds: Sequence[str]) -> int:
    """What a round costs: edges and four times nodes of both graphs, as often as they are gone over, and n^3 / 10,000
    for graph matching of n nodes. A million take about seven seconds.

    `Rematch` both ways with the support count three quarters, and each climb a quarter.
    """
    graphs = release, knowledge.graph
    climbs = 1 + 2 * ("discounted" in kinds) + 3 * ("alike" in kinds)
    dense = max(graph.n_nodes for graph in graphs) ** 3 // 10_000 if "dense" in kinds else 0
    return sum(graph.n_edges + 4 * graph.n_nodes for graph in graphs) * (3 + climbs) // 4 + dense


def deal(n: int, n_rounds: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """(n_rounds, n) what becomes of each seed in each round: a fifth is held, and a fifth of those who take part in
    deletions is deleted, dealt like cards.

    Each seed is held in the same number of rounds, give or take one; so often is each deleted that takes part in that:
    a share of min(max(n / `MANY`, 1/4), 1). Of fewer than `FEW` seeds a tenth is held and none deleted.

    >>> for n in (60, 450, 900):
    ...     parts = deal(n, 5, np.random.default_rng(0))
    ...     print((parts == HELD).sum(axis=1), (parts == DELETED).sum(axis=1))
    [12 12 12 12 12] [3 3 3 3 3]
    [90 90 90 90 90] [45 45 45 45 45]
    [180 180 180 180 180] [180 180 180 180 180]
    """
    part = np.full((n_rounds, n), KEPT, dtype=np.int8)
    some = rng.permutation(n)[: 0 if n < FEW else min(max(n * n // MANY, n // 4), n)]
    for left_out, of, many in ((HELD, np.arange(n), n // (5 if n >= FEW else 10)), (DELETED, some, len(some) // 5)):
        cards = np.empty(0, dtype=np.int64)
        for row in part:
            if len(cards) < 2 * len(of):
                cards = np.append(cards, rng.permutation(of))
            chosen = cards[row[cards] == KEPT]
            chosen = chosen[np.sort(np.unique(chosen, return_index=True)[1])][:many]
            row[chosen] = left_out
            cards = _without_first(cards, chosen)
    return part


def _without_first(cards: NDArray[np.int64], drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """The cards without the first of each that was drawn."""
    value, first = np.unique(cards, return_index=True)
    return np.delete(cards, first[np.isin(value, drawn)])


class Stage(NamedTuple):
    """What the attacks of a round see: the release without the edges of deleted images, and the seeds that are kept.

    seeds : source nodes, and target nodes, of all seeds; part: (n_seeds,) what became of each
    """

    release: SocialGraph
    known: Auxiliary[SocialGraph]
    seeds: tuple[NDArray[np.int64], NDArray[np.int64]]
    part: NDArray[np.int8]

    @classmethod
    def of(cls, release: SocialGraph, knowledge: Auxiliary[SocialGraph], part: NDArray[np.int8]) -> Stage:
        """A round in which this becomes of the seeds."""
        source, target = (np.asarray(side, dtype=np.int64) for side in knowledge.seeds)
        thinned = _without_edges_of(release, target[part == DELETED])
        known = replace(knowledge, seeds=(source[part == KEPT], target[part == KEPT]))
        return cls(thinned, known, (source, target), part)


def run_round(stage: Stage, forward: Matching, kinds: Sequence[str]) -> Round:
    """The votes of all attacks; nobody but a seed is taken for its image. forward: what `rematch` believes of it."""
    votes, n, (source, target) = _votes(stage, forward, kinds), stage.release.n_nodes, stage.seeds
    free, free_there = np.ones(stage.known.graph.n_nodes, dtype=np.bool_), np.ones(n, dtype=np.bool_)
    free[source[stage.part == KEPT]], free_there[target] = False, False
    pair, kind, vote = (np.concatenate(column) for column in zip(*_flat(votes, kinds, n), strict=True))
    kept = free[pair // n] & (free_there[pair % n] | np.isin(pair, source * n + target))
    pairs, at = np.unique(pair[kept], return_inverse=True)
    table = np.zeros((len(pairs), len(kinds)), dtype=np.float32)
    np.add.at(table, (at, kind[kept]), vote[kept])
    return Round(stage.part, pairs, table)


def _without_edges_of(graph: SocialGraph, nodes: NDArray[np.int64]) -> SocialGraph:
    """The graph where these nodes have no edge."""
    if not len(nodes):
        return graph
    gone = np.zeros(graph.n_nodes, dtype=np.bool_)
    gone[nodes] = True
    u, v = graph.edges()
    return graph.with_edges(np.flatnonzero(~gone[u] & ~gone[v]))


def _flat(
    votes: Votes, kinds: Sequence[str], n: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    """(pairs, kinds, votes) of each attack; several of one kind share its vote."""
    for at, kind in enumerate(kinds):
        for u, c, vote in votes[kind]:
            yield u.astype(np.int64) * n + c, np.full(len(u), at), vote / len(votes[kind])


def _votes(stage: Stage, forward: Matching, kinds: Sequence[str]) -> Votes:
    """Whom each attack takes for whom, in one round."""
    release, known = stage.release, stage.known
    backward = rematch(known.graph, known.reversed(release))
    support = Support.of(release, known, lists=(forward, backward))
    votes: Votes = {
        "named": [_named(forward), _turned(_named(backward))],
        "listed": [_listed(forward), _turned(_listed(backward))],
        "climb": [_shared(support, Climb(gamma)) for gamma in ((0.0, 0.25) if "discounted" in kinds else (0.25,))],
    }
    if "discounted" in kinds:
        votes["discounted"] = [_shared(support, Climb(0.5))]
    if "alike" in kinds:
        votes["alike"] = [_shared(support, Climb(0.25, scale)) for scale in (16.0, 2.0, 1.0)]
    if "irma" in kinds:
        votes["irma"] = [_named(Irma()(release, known))]
    if "dense" in kinds:
        u, c, share = votes["climb"][-1]
        first = sparse.csr_array((share, (u, c)), shape=(known.graph.n_nodes, release.n_nodes))
        votes["dense"] = [_named(GraphMatching(steps=_STEPS).begun(release, known, first))]
    return votes


def _turned(vote: Vote) -> Vote:
    """Votes for target nodes as votes for source nodes."""
    u, c, share = vote
    return c, u, share


def _named(belief: Matching) -> Vote:
    node = np.flatnonzero(belief.mapping >= 0)
    return node, belief.mapping[node], np.ones(len(node))


def _listed(belief: Matching) -> Vote:
    vote = np.exp(belief.log_probability.astype(np.float64))
    kept = vote >= _LEAST
    return belief.row[kept], belief.candidate[kept], vote[kept]


def _shared(support: Support, climb: Climb) -> Vote:
    share = climb.shares(support)
    kept = share >= VOTE
    return support.row[kept], support.candidate[kept], share[kept]


def tallied(rounds: Sequence[Round], counted: NDArray[np.bool_], n_target: int) -> Tally:
    """The votes of the rounds that count for a person, over the number of these rounds.

    counted : (n_rounds, n_source)
    """
    kept = [counted[i, one.pair // n_target] for i, one in enumerate(rounds)]
    pair = np.concatenate([one.pair[own] for one, own in zip(rounds, kept, strict=True)])
    pairs, at = np.unique(pair, return_inverse=True)
    share = np.zeros((len(pairs), rounds[0].vote.shape[1]))
    np.add.at(share, at, np.concatenate([one.vote[own] for one, own in zip(rounds, kept, strict=True)]))
    person, candidate = np.divmod(pairs, n_target)
    return Tally(person, candidate, share / counted.sum(axis=0)[person][:, None])


def leaders(tally: Tally) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """People with votes, the candidate of each with the largest mean share over kinds, and that share."""
    mean = tally.share.mean(axis=1)
    order = np.lexsort((-mean, tally.person))
    first = order[np.flatnonzero(np.diff(tally.person[order], prepend=-1))]
    return tally.person[first], tally.candidate[first], mean[first]
