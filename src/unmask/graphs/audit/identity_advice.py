"""What one person of a network should know before separating identities, and before trusting one with a secret.

All figures are about that one person: degree, ways of hiding, what seeding and attacks make of them. No neighbor, no
other node and no figure of the network as a whole goes into the advice but how many people there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.graphs import Attack, IdentitySeparation, Pair, SeedPairs, SocialGraph, select_seeds, split
from unmask.graphs.audit.attack_plan import parse_attacks
from unmask.graphs.criteria import clique_failure, local_anonymity, top_border, top_failure
from unmask.graphs.disclosure import discovery
from unmask.graphs.identity_game import best_assignment, equilibrium, expected_loss, worst_loss
from unmask.graphs.protections import new_ties
from unmask.measures.interval import wilson
from unmask.ranges import Range

CLIQUE: Final = 4
"""Size of the groups by which seeding starts, all of whom know each other."""

BEST_KNOWN: Final = 0.015
"""Share of all nodes, those of the highest degree, that seeding may try to match: 1000 of 66,000 in the source."""

OVERLAP: Final = (0.5, 0.75)
"""Of people and of edges, between the network and what a simulated adversary knows: that of most published figures."""

MOST_IDENTITIES: Final = 5
MOST_SPLITS: Final = 200
MOST_CONTACTS: Final = 5
"""Of a new identity that is to be (k, 2)-anonymous."""


@dataclass(frozen=True)
class Escape:
    """Probability that seeding misses a person who divides the contacts evenly, each to one of y identities.

    cliques    : it goes by cliques of 4, equation (5.11); 1 for a person in none
    best_known : it goes by the nodes of the highest degree, equation (5.15)
    """

    identities: int
    cliques: float
    best_known: float


@dataclass(frozen=True)
class Placing:
    """The probability with which a secret is best put in each identity, and that with which it is lost all the same."""

    assignment: tuple[float, ...]
    loss: float


@dataclass(frozen=True)
class IdentityAdvice:
    """Advice for one person. Identities are in the order of `discovery`, of the most contacts first if simulated.

    anonymity  : LTA_A, None without friends of friends; low is easily found
    rank       : 1 + how many people have a lower one
    in_clique  : whether the person is in a clique of 4 at all
    tried      : how many of the highest degree the second kind of seeding takes
    escapes    : for 2 to 5 identities, but never more than contacts
    discovery  : P_i, probability that each identity is found; None where that is not known
    runs       : of the simulation that says so, None where there was none
    strong     : against an adversary who finds all identities
    weak       : against one who finds each with its probability and believes any found; None without `discovery`
    unknown    : against whomsoever
    hidden     : contacts -> new contacts that an identity with so many needs to be (k, 2)-anonymous, see
                 `graphs.protections.anonymous_identity`, where there is one; None where k was not given
    k          : people, itself one of them, whose contacts are the same
    """

    degree: int
    anonymity: float | None
    rank: int | None
    people: int
    in_clique: bool
    tried: int
    escapes: tuple[Escape, ...]
    discovery: tuple[float, ...] | None
    runs: int | None
    strong: Placing
    weak: Placing | None
    unknown: Placing
    hidden: Mapping[int, int] | None = None
    k: int | None = None


def told(
    graph: SocialGraph,
    node: int,
    *,
    identities: Annotated[int, Range(1, 1000)] | None = None,
    discovery: Sequence[float] = (),
    runs: Annotated[int, Range(0)] = 0,
    attack: str = "Rematch",
    leaked: Annotated[int, Range(1)] = 100,
    k: Annotated[int, Range(2)] | None = None,
    seed: Annotated[int, Range(0)] = 0,
) -> IdentityAdvice:
    """Tell one person whether several identities hide them, by probabilities that are given, simulated, or not known.

    identities : number of identities you would take; 5, or as many as in --discovery
    discovery  : probability that each is found, such as 0.3,0.1
    runs       : simulated attacks for each identity, from which --discovery is estimated; 0 for none
    attack     : attack to simulate (needs --runs)
    leaked     : people whom it knows already
    k          : people, you among them, whom no attack shall tell apart: what a new identity needs for that
    seed       : random seed of every draw
    """
    if discovery and runs:
        raise UnmaskError(
            "--discovery and --runs were both given, expected the probabilities or a simulation; leave one out"
        )
    if discovery and identities not in (None, len(discovery)):
        raise UnmaskError(
            f"there are {identities} identities and {len(discovery)} probabilities, expected one for each"
        )
    (made,) = parse_attacks([attack], Path()).values()
    y = min(identities or MOST_IDENTITIES, max(int(graph.degree[node]), 1))
    given: ArrayLike | None = discovery or None
    if runs:
        rng = np.random.default_rng(seed)
        given = simulated_discovery(graph, node, made, identities=y, n_seeds=leaked, runs=runs, rng=rng)
    found = advise_identity(graph, node, identities=y, discovery=given, runs=runs or None)
    return found if k is None else replace(found, k=k, hidden=hidden_identities(graph, node, k))


def hidden_identities(graph: SocialGraph, node: int, k: int) -> dict[int, int]:
    """Contacts -> new contacts of a (k, 2)-anonymous identity of a node with 1 to 5 contacts, where there is one.

    >>> hidden_identities(SocialGraph.from_edges([0, 0, 3, 3, 4, 4], [1, 2, 1, 2, 1, 5]), 0, 2)
    {2: 0}
    """
    found = {c: int(new_ties(graph, [node], contacts=c, k=k)[0]) for c in range(1, MOST_CONTACTS + 1)}
    return {contacts: new for contacts, new in found.items() if new >= 0}


def advise_identity(
    graph: SocialGraph,
    node: int,
    *,
    identities: int = MOST_IDENTITIES,
    discovery: ArrayLike | None = None,
    runs: int | None = None,
) -> IdentityAdvice:
    """Advice for the person at a node: seeding, and the game of y identities against three adversaries.

    identities : y, where no discovery is given; never more than contacts
    discovery  : (y,) probability that each identity is found, None where it is not known
    runs       : how many runs of a simulation it comes from, to be told

    >>> star = SocialGraph.from_edges([0, 0, 0, 1], [1, 2, 3, 2])
    >>> advice = advise_identity(star, 0, discovery=[0.5, 0.1])
    >>> advice.degree, advice.rank, advice.strong.loss, advice.weak.assignment
    (3, 1, 0.5, (0.0, 1.0))

    G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, chapters 4 to
    6: equations (4.3), (5.11), (5.15), (6.7), theorems 1 to 3.
    """
    degree = len(graph.neighbors(node))
    chances = None if discovery is None else np.asarray(discovery, dtype=np.float64).reshape(-1)
    y = min(identities, max(degree, 1)) if chances is None else len(chances)
    if y < 1:
        raise UnmaskError(f"there are {y} identities, expected at least 1, or one discovery chance for each")
    anonymity = local_anonymity(graph)
    own = float(anonymity[node])
    grouped, tried = in_clique(graph, node), max(1, round(BEST_KNOWN * graph.n_nodes))
    game = equilibrium(y)
    return IdentityAdvice(
        degree=degree,
        anonymity=own if own == own else None,
        rank=int(np.count_nonzero(anonymity < own)) + 1 if own == own else None,
        people=graph.n_nodes,
        in_clique=grouped,
        tried=tried,
        escapes=tuple(_escapes(degree, grouped, top_border(graph.degree, tried))),
        discovery=None if chances is None else tuple(chances.tolist()),
        runs=runs,
        strong=_placing(game.assignment, game.loss),
        weak=None if chances is None else _against_weak(chances),
        unknown=_placing(game.assignment, worst_loss(game.assignment)),
    )


def _escapes(degree: int, grouped: bool, border: int) -> Iterator[Escape]:
    for y in range(2, min(MOST_IDENTITIES, degree) + 1):
        even = np.full(y, 1 / y)
        cliques = clique_failure(degree, even, CLIQUE) if grouped else 1.0
        yield Escape(y, cliques, top_failure(degree, even, max(border, 1)))


def _against_weak(chances: NDArray[np.float64]) -> Placing:
    best = best_assignment(chances)
    return _placing(best, expected_loss(best, discovery=chances))


def _placing(assignment: NDArray[np.float64], loss: float) -> Placing:
    return Placing(tuple(assignment.tolist()), loss)


def in_clique(graph: SocialGraph, node: int) -> bool:
    """Whether a node is in a clique of 4: three of its neighbors know each other.

    >>> in_clique(SocialGraph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]), 0)
    True
    """
    among = graph.take(graph.neighbors(node)).adjacency().astype(np.int32)
    return bool((among @ among).multiply(among).nnz)


def simulated_discovery(
    graph: SocialGraph,
    node: int,
    attack: Attack,
    *,
    identities: int,
    n_seeds: int,
    runs: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """(y,) share of runs in which each identity of one person is found by an attack that looks for it, see `discovery`.

    Every run splits the network anew into what is released and what the adversary knows, half of the people and three
    quarters of the edges in common, such that the person is in both; this person alone separates identities, each
    contact going to any of them (basic model); the adversary starts from `n_seeds` people, random.25. Identities are
    told apart by their number of contacts, the largest first; one that a run has not counts as not found.

    G. Gulyas, 2015, section 6.3.
    """
    hits = np.zeros(identities)
    alone = IdentitySeparation("basic", identities, adopters=1, minimum_degree=1)

    def seeds(whole: Pair, rng: np.random.Generator) -> SeedPairs:
        return select_seeds(whole, "random.25", n_seeds, rng)

    for _ in range(runs):
        pair, person = _pair_with(graph, node, rng)
        separated = alone(pair.target, rng=rng, eligible=pair.truth[[person]])
        found = discovery(pair, separated, [person], attack, seeds, runs=1, rng=rng)
        largest_first = np.argsort(-separated.release.degree[found.node], kind="stable")
        hits[: len(largest_first)] += found.hits[largest_first]
    return hits / runs


def _pair_with(graph: SocialGraph, node: int, rng: np.random.Generator) -> tuple[Pair, int]:
    """Two overlapping graphs that both have this person, with a contact in the release; and their source node."""
    numbered = SocialGraph(graph.indptr, graph.neighbor)
    for _ in range(MOST_SPLITS):
        pair = split(numbered, *OVERLAP, rng)
        assert pair.source.labels is not None  # the nodes of `graph`
        here = np.flatnonzero(pair.source.labels == node)
        if len(here) and pair.truth[here[0]] >= 0 and pair.target.degree[pair.truth[here[0]]] > 0:
            return pair, int(here[0])
    raise UnmaskError(
        f"the node was in both parts of the network in none of {MOST_SPLITS} splits, expected in some; "
        "it has too few edges to be found: give its discovery chances instead"
    )


# --- in words -------------------------------------------------------------------------------------------------------


def sentences(advice: IdentityAdvice) -> Iterator[str]:
    """The advice in plain sentences, one after the other."""
    yield _standing(advice)
    if not advice.in_clique:
        yield "No three of your contacts know each other, so nobody starts from you by a group of four."
    yield _seeding(advice)
    if advice.hidden is not None:
        yield _hidden(advice.hidden, advice.k or 0)
    y = len(advice.strong.assignment)
    if y == 1:
        yield "With one identity, whoever finds it learns the secret that you put in it."
        return
    yield (
        f"A secret in one of {y} identities, other values in the rest: put it in any of them with equal probability if "
        f"the adversary may find them all, who then learns it with {_percent(advice.strong.loss)}."
    )
    yield from _weak(advice)
    yield (
        "If you know nothing of the adversary, put it in any of them with equal probability: they learn it with "
        f"{_percent(advice.unknown.loss)} at most."
    )


def _standing(advice: IdentityAdvice) -> str:
    told = f"You have {advice.degree:,} contacts"
    if advice.anonymity is None:
        return f"{told} and no friends of friends: a local anonymity (LTA_A) is not defined."
    return (
        f"{told} and a local anonymity (LTA_A) of {advice.anonymity:.4f}, number {advice.rank:,} of "
        f"{advice.people:,} people from the most easily found."
    )


def _seeding(advice: IdentityAdvice) -> str:
    if not advice.escapes:
        return "You have too few contacts to divide among several identities."
    counts, cliques, best_known = (
        ", ".join(texts)
        for texts in zip(
            *((f"{one.identities}", _percent(one.cliques), _percent(one.best_known)) for one in advice.escapes),
            strict=True,
        )
    )
    return (
        f"With your contacts divided evenly among {counts} identities, an adversary who starts from groups of {CLIQUE} "
        f"misses you with a probability of {cliques}, one who starts from the {advice.tried:,} best known with "
        f"{best_known}."
    )


def _hidden(new: Mapping[int, int], k: int) -> str:
    """What a new identity needs so that nobody tells it from others."""
    others = f"{k - 1} other{'s' * (k > 2)}"
    if not new:
        return f"No identity with up to {MOST_CONTACTS} contacts can have the very contacts of {others} near you."
    needs = ", ".join(f"{contacts} ({n} new)" for contacts, n in new.items())
    return f"An identity has the very contacts of {others}, and no attack tells it from them, with contacts: {needs}."


def _weak(advice: IdentityAdvice) -> Iterator[str]:
    if advice.weak is None or advice.discovery is None:
        yield (
            "How likely each identity is found is not known; give --discovery, or have it simulated with --runs, to "
            "learn where a secret is safest from an adversary who finds some of them."
        )
        return
    best = [f"{i}" for i, share in enumerate(advice.weak.assignment, 1) if share > 0]
    where = f"identity {best[0]}" if len(best) == 1 else f"any of the identities {', '.join(best)}"
    if advice.runs:
        hits = ", ".join(f"{round(chance * advice.runs)}" for chance in advice.discovery)
        seen = (
            f"They were found in {hits} of {advice.runs} simulated attacks, the one with most contacts first. If that"
        )
    else:
        seen = f"If they are found with a probability of {', '.join(map(_percent, advice.discovery))}, as given, that"
    yield (
        f"{seen} is all the adversary can do, and any of those found is believed, put the secret in {where}: "
        f"they learn it with {_percent(advice.weak.loss)}."
    )
    if advice.runs and min(advice.discovery) == 0:
        still = _percent(wilson(0.0, advice.runs)[1])
        yield (
            f"An identity that was not found in {advice.runs} attacks may still be with a probability of up to {still}."
        )


def _percent(p: float) -> str:
    """In per cent; what is only nearly certain does not become so by rounding."""
    if 0.9995 <= p < 1:
        return "over 99.9%"
    return "under 0.1%" if 0 < p < 0.0005 else f"{100 * p:.1f}%"
