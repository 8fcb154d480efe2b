"""Rounds of an ensemble: attacks run on random subsets of the seeds and vote for pairs of nodes."""

from __future__ import annotations

import hashlib
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import FailedError
from unmask.data.writing import replace_file
from unmask.graphs.attacks.base import Matching
from unmask.graphs.attacks.climb import MIN_SHARE, Climb
from unmask.graphs.attacks.graph_matching import GraphMatching
from unmask.graphs.attacks.support import Support, Walks, rematched
from unmask.graphs.attacks.witnesses import Irma
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary
from unmask.version import __version__

MIN_SEEDS = 30
"""Smallest number of seeds for which a probability can be tested."""

MAX_IRMA_NODES = 10_000
"""Largest number of nodes of the larger graph for which `Irma` votes."""

_MIN_PROBABILITY = 0.02  # listed candidates below it have no vote

_MIN_FIRST_SHARE = 0.01  # pairs below it in the first climb are excluded from the other climbs

_STEPS = 10  # of `GraphMatching`; 30 steps from the center change its hits by -1 to 3 points on thin networks

Vote = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.floating]]
"""People, candidates, and the vote for each pair."""

Votes = dict[str, list[Vote]]
"""Kind of attack -> votes of each attack of this kind."""


class Round(NamedTuple):
    """Votes of one round.

    withheld : (n_seeds,) True for seeds that the attacks did not know
    pair     : (n_pairs,) source node * number of target nodes + target node, ascending, for pairs with a vote
    vote     : (n_pairs, n_kinds) mean vote of the attacks of each kind
    """

    withheld: Booleans
    pair: Integers
    vote: NDArray[np.float32]


class Tally(NamedTuple):
    """Votes of several rounds for each person; the number of rounds may differ between people.

    person, candidate : (n_pairs,) ascending by person, then candidate
    share             : (n_pairs, n_kinds) votes of a kind for the pair / rounds of the person
    """

    person: Integers
    candidate: Integers
    share: Floats


def kinds_for(release: SocialGraph, knowledge: Auxiliary) -> tuple[str, ...]:
    """Return the kinds of attacks that vote, by the size of the graphs and by the adversary's knowledge."""
    n = max(release.n_nodes, knowledge.graph.n_nodes)
    is_used = {
        "alike": knowledge.similarity is not None,
        "irma": n <= MAX_IRMA_NODES,
        "dense": n <= GraphMatching.largest,
    }
    return ("named", "listed", "climb", "discounted", *(kind for kind, votes in is_used.items() if votes))


def split_seeds(n_seeds: int, *, rng: np.random.Generator) -> Booleans:
    """Return (7, n_seeds) masks of the seeds withheld in each round: two random halves, then five random fifths.

    Each seed is withheld in one half and in one fifth; the two divisions are independent.

    >>> split_seeds(10, rng=np.random.default_rng(0)).sum(axis=1)
    array([5, 5, 2, 2, 2, 2, 2])
    """
    half, fifth = rng.permutation(n_seeds) % 2, rng.permutation(n_seeds) % 5
    return np.array([half == 0, half == 1, *(fifth == part for part in range(5))])


class Stage(NamedTuple):
    """The networks and seeds of a round, the (n_seeds,) withheld seeds, and cached walks of other rounds."""

    release: SocialGraph
    knowledge: Auxiliary
    withheld: Booleans
    walks: tuple[Walks, Walks] | None = None

    @property
    def visible_knowledge(self) -> Auxiliary:
        """Return the knowledge without the withheld seeds."""
        if not self.withheld.any():
            return self.knowledge
        source, target = self.knowledge.seeds
        return replace(self.knowledge, seeds=(source[~self.withheld], target[~self.withheld]))


def run_round(
    stage: Stage, kinds: Sequence[str], *, progress: Callable[[NDArray[np.int32]], None] | None = None
) -> Round:
    """Return the votes of all attacks. Images of seeds are candidates for no other node. progress : see `rematched`"""
    votes, n, (source, target) = _votes(stage, kinds, progress), stage.release.n_nodes, stage.knowledge.seeds
    free, free_target = np.ones(stage.knowledge.graph.n_nodes, dtype=np.bool_), np.ones(n, dtype=np.bool_)
    free[source[~stage.withheld]], free_target[target] = False, False
    pair, kind, vote = (np.concatenate(column) for column in zip(*_flat(votes, kinds, n), strict=True))
    allowed = free[pair // n] & (free_target[pair % n] | np.isin(pair, source.astype(np.int64) * n + target))
    pairs, position = np.unique(pair[allowed], return_inverse=True)
    table = np.zeros((len(pairs), len(kinds)), dtype=np.float32)
    np.add.at(table, (position, kind[allowed]), vote[allowed])
    return Round(stage.withheld, pairs, table)


def _flat(votes: Votes, kinds: Sequence[str], n: int) -> Iterator[tuple[Integers, Integers, NDArray[np.floating]]]:
    """Yield (pairs, kinds, votes) of each attack; several attacks of one kind share its weight."""
    for number, kind in enumerate(kinds):
        for u, c, vote in votes[kind]:
            yield u.astype(np.int64) * n + c, np.full(len(u), number), vote / len(votes[kind])


def _votes(stage: Stage, kinds: Sequence[str], progress: Callable[[NDArray[np.int32]], None] | None) -> Votes:
    """Return the votes of all attacks. Climbs with other discounts skip pairs with a small share in the first climb."""
    release, knowledge = stage.release, stage.visible_knowledge
    forward, backward = rematched(release, knowledge, progress=progress)
    support = Support.of(release, knowledge, walks=stage.walks)
    share = Climb(0.25).shares(support)
    smaller = support.take(share >= _MIN_FIRST_SHARE)
    votes: Votes = {
        "named": [_vote_mapping(forward), _reverse_vote(_vote_mapping(backward))],
        "listed": [_vote_listed(forward), _reverse_vote(_vote_listed(backward))],
        "climb": [_vote_shares(smaller, Climb(0.0).shares(smaller)), _vote_shares(support, share)],
        "discounted": [_vote_shares(smaller, Climb(0.5).shares(smaller))],
    }
    if "alike" in kinds:
        votes["alike"] = [_vote_shares(support, Climb(0.25, scale).shares(support)) for scale in (16.0, 2.0, 1.0)]
    if "irma" in kinds:
        votes["irma"] = [_vote_mapping(Irma()(release, knowledge))]
    if "dense" in kinds:
        u, c, vote = votes["climb"][-1]
        first = scipy.sparse.csr_array(
            (vote.astype(np.float64), (u, c)), shape=(knowledge.graph.n_nodes, release.n_nodes)
        )
        votes["dense"] = [_vote_mapping(GraphMatching(steps=_STEPS).begun(release, knowledge, first))]
    return votes


def _reverse_vote(vote: Vote) -> Vote:
    """Return votes for target nodes as votes for source nodes."""
    u, c, share = vote
    return c, u, share


def _vote_mapping(belief: Matching) -> Vote:
    node = np.flatnonzero(belief.mapping >= 0)
    return node, belief.mapping[node], np.ones(len(node))


def _vote_listed(belief: Matching) -> Vote:
    vote = np.exp(belief.log_probability.astype(np.float64))
    has_vote = vote >= _MIN_PROBABILITY
    return belief.row[has_vote], belief.candidate[has_vote], vote[has_vote]


def _vote_shares(support: Support, share: NDArray[np.float32]) -> Vote:
    has_vote = share >= MIN_SHARE
    return support.row[has_vote], support.candidate[has_vote], share[has_vote]


def tally_votes(rounds: Sequence[Round], counted: Booleans, n_target: int) -> Tally:
    """Return for each person the sum of votes over the counted rounds, divided by the number of these rounds.

    counted : (n_rounds, n_source) True if the round counts for the person
    """
    is_counted = [counted[i, round_.pair // n_target] for i, round_ in enumerate(rounds)]
    pair = np.concatenate([round_.pair[rows] for round_, rows in zip(rounds, is_counted, strict=True)])
    pairs, position = np.unique(pair, return_inverse=True)
    share = np.zeros((len(pairs), rounds[0].vote.shape[1]))
    np.add.at(
        share, position, np.concatenate([round_.vote[rows] for round_, rows in zip(rounds, is_counted, strict=True)])
    )
    person, candidate = np.divmod(pairs, n_target)
    return Tally(person, candidate, share / counted.sum(axis=0)[person][:, None])


def find_leaders(tally: Tally) -> tuple[Integers, Integers, Floats]:
    """Return the people with votes, and for each the candidate with the largest mean share over kinds, and this
    share.
    """
    mean = tally.share.mean(axis=1)
    order = np.lexsort((-mean, tally.person))
    first = order[np.flatnonzero(np.diff(tally.person[order], prepend=-1))]
    return tally.person[first], tally.candidate[first], mean[first]


DAMAGED = (
    OSError, EOFError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error, tokenize.TokenError,
)  # fmt: skip
"""Exceptions that numpy raises for a damaged file, depending on the damaged part."""


def load_round(folder: Path, stage: Stage) -> Round | None:
    """Return the cached round of these networks and seeds by this version; None if its file is missing or damaged."""
    try:
        with _file(folder, stage).open("rb") as file, np.load(file) as stored:
            return Round(stage.withheld, stored["pair"], stored["vote"])
    except DAMAGED:
        return None


def save_round(folder: Path, stage: Stage, result: Round) -> None:
    """Write a finished round to the folder, which is created if needed. The write is atomic: files are complete."""
    path = _file(folder, stage)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as place:
            np.savez_compressed(place, pair=result.pair, vote=result.vote)
    except OSError as error:
        raise FailedError(f"a round cannot be written to folder {folder.name!r}: {error.strerror}") from None


def _file(folder: Path, stage: Stage) -> Path:
    """Return the file of a round; its name is a digest of all inputs of the round."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    for array in _inputs(stage):
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return folder / f"round-{digest.hexdigest()}.npz"


def _inputs(stage: Stage) -> Iterator[NDArray[np.generic]]:
    for graph in (stage.release, stage.knowledge.graph):
        yield from (graph.indptr, graph.neighbor, *(() if graph.way is None else (graph.way,)))
    if (alike := stage.knowledge.similarity) is not None:
        yield from (alike.source, alike.target, alike.weight)
    yield from (*stage.knowledge.seeds, stage.withheld)
