"""Advice for one person of a network: whether to separate identities, and which identity should hold a secret.

All figures concern this person: degree, local anonymity, effect of seeding and attacks. The only figure of the network
is the number of people.
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
"""Number of people in the cliques from which seeding starts."""

BEST_KNOWN: Final = 0.015
"""Share of nodes, those of highest degree, that seeding tries to match: 1000 of 66,000 in the source."""

OVERLAP: Final = (0.5, 0.75)
"""Overlap of people and of edges between the network and the simulated adversary's; common in published figures."""

MOST_IDENTITIES: Final = 5
MOST_SPLITS: Final = 200
MOST_CONTACTS: Final = 5
"""Largest number of contacts for which a (k, 2)-anonymous identity is searched."""


@dataclass(frozen=True)
class Escape:
    """Probability that seeding misses a person who divides the contacts evenly among y identities.

    cliques    : seeding by cliques of 4, equation (5.11); 1 for a person in no such clique
    best_known : seeding by nodes of highest degree, equation (5.15)
    """

    identities: int
    cliques: float
    best_known: float


@dataclass(frozen=True)
class Placing:
    """Best probability of storing a secret in each identity, and the probability that the adversary learns it."""

    assignment: tuple[float, ...]
    loss: float


@dataclass(frozen=True)
class IdentityAdvice:
    """Advice for one person. Identities have the order of `discovery`; if it is simulated, most contacts first.

    anonymity  : LTA_A; low values mean easily found; None without friends of friends
    rank       : 1 + number of people with a lower value
    in_clique  : True if the person is in a clique of 4
    tried      : number of nodes of highest degree that seeding tries to match
    escapes    : for 2 to 5 identities, at most the number of contacts
    discovery  : P_i, probability that each identity is found; None if unknown
    runs       : number of simulated attacks behind `discovery`; None without a simulation
    strong     : against an adversary who finds all identities
    weak       : against an adversary who finds each identity with its probability, and believes any identity found;
                 None without `discovery`
    unknown    : against any adversary
    hidden     : number of contacts -> number of new contacts of a (k, 2)-anonymous identity, if it exists, see
                 `graphs.protections.anonymous_identity`; None without k
    k          : number of people with the same contacts, including the identity
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


def advise(
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
    """Advise one person whether several identities hide them, by given or simulated discovery probabilities.

    identities : number of identities you would take (default: 5, or as many as in --discovery)
    discovery  : probability that each is found, such as 0.3,0.1
    runs       : simulated attacks for each identity, from which --discovery is estimated (0: no simulation)
    attack     : attack to simulate (needs --runs)
    leaked     : people that the adversary knows already
    k          : number of people, including you, that no attack can tell apart. Prints what a new identity needs
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
    (simulated,) = parse_attacks([attack], Path()).values()
    y = min(identities or MOST_IDENTITIES, max(int(graph.degree[node]), 1))
    chances: ArrayLike | None = discovery or None
    if runs:
        rng = np.random.default_rng(seed)
        chances = simulated_discovery(graph, node, simulated, identities=y, n_seeds=leaked, runs=runs, rng=rng)
    advice = advise_identity(graph, node, identities=y, discovery=chances, runs=runs or None)
    return advice if k is None else replace(advice, k=k, hidden=hidden_identities(graph, node, k))


def hidden_identities(graph: SocialGraph, node: int, k: int) -> dict[int, int]:
    """Return number of contacts -> number of new contacts of a (k, 2)-anonymous identity, for 1 to 5 contacts.

    >>> hidden_identities(SocialGraph.from_edges([0, 0, 3, 3, 4, 4], [1, 2, 1, 2, 1, 5]), 0, 2)
    {2: 0}
    """
    ties = {c: int(new_ties(graph, [node], contacts=c, k=k)[0]) for c in range(1, MOST_CONTACTS + 1)}
    return {contacts: new for contacts, new in ties.items() if new >= 0}


def advise_identity(
    graph: SocialGraph,
    node: int,
    *,
    identities: int = MOST_IDENTITIES,
    discovery: ArrayLike | None = None,
    runs: int | None = None,
) -> IdentityAdvice:
    """Return advice for the person at a node: effect of seeding, and the game of y identities against three
    adversaries.

    Parameters
    ----------
    identities : int
        Number y of identities if `discovery` is None; at most the number of contacts.
    discovery : (y,) array, optional
        Probability that each identity is found.
    runs : int, optional
        Number of simulated attacks behind `discovery`.

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
    value = float(anonymity[node])
    is_defined, n_best_known = value == value, max(1, round(BEST_KNOWN * graph.n_nodes))
    grouped, game = in_clique(graph, node), equilibrium(y)
    return IdentityAdvice(
        degree=degree,
        anonymity=value if is_defined else None,
        rank=int(np.count_nonzero(anonymity < value)) + 1 if is_defined else None,
        people=graph.n_nodes,
        in_clique=grouped,
        tried=n_best_known,
        escapes=tuple(_escapes(degree, grouped, top_border(graph.degree, n_best_known))),
        discovery=None if chances is None else tuple(chances.tolist()),
        runs=runs,
        strong=_placing(game.assignment, game.loss),
        weak=None if chances is None else _place_against_weak(chances),
        unknown=_placing(game.assignment, worst_loss(game.assignment)),
    )


def _escapes(degree: int, grouped: bool, border: int) -> Iterator[Escape]:
    for y in range(2, min(MOST_IDENTITIES, degree) + 1):
        even = np.full(y, 1 / y)
        cliques = clique_failure(degree, even, CLIQUE) if grouped else 1.0
        yield Escape(y, cliques, top_failure(degree, even, max(border, 1)))


def _place_against_weak(chances: NDArray[np.float64]) -> Placing:
    assignment = best_assignment(chances)
    return _placing(assignment, expected_loss(assignment, discovery=chances))


def _placing(assignment: NDArray[np.float64], loss: float) -> Placing:
    return Placing(tuple(assignment.tolist()), loss)


def in_clique(graph: SocialGraph, node: int) -> bool:
    """Return True if a node is in a clique of 4: three of its neighbors are adjacent to each other.

    >>> in_clique(SocialGraph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]), 0)
    True
    """
    edges = graph.take(graph.neighbors(node)).adjacency().astype(np.int32)
    return bool((edges @ edges).multiply(edges).nnz)


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
    """Return the share of runs in which an attack finds each identity of one person, see `discovery`.

    Each run splits the network into a release and the adversary's network, with half of the people and three quarters
    of the edges in common. The person is in both. Only this person separates identities, by the basic model: each
    contact goes to one identity. The adversary starts from `n_seeds` people, random.25. Identities are ordered by
    number of contacts, largest first. An identity that does not exist in a run counts as not found.

    G. Gulyas, 2015, section 6.3.
    """
    hits = np.zeros(identities)
    separation = IdentitySeparation("basic", identities, adopters=1, minimum_degree=1)

    def seeds(pair: Pair, rng: np.random.Generator) -> SeedPairs:
        return select_seeds(pair, "random.25", n_seeds, rng)

    for _ in range(runs):
        pair, person = _pair_with(graph, node, rng)
        separated = separation(pair.target, rng=rng, eligible=pair.truth[[person]])
        result = discovery(pair, separated, [person], attack, seeds, runs=1, rng=rng)
        largest_first = np.argsort(-separated.release.degree[result.node], kind="stable")
        hits[: len(largest_first)] += result.hits[largest_first]
    return hits / runs


def _pair_with(graph: SocialGraph, node: int, rng: np.random.Generator) -> tuple[Pair, int]:
    """Return two overlapping graphs that contain this person, with a contact in the release, and their source node."""
    numbered = SocialGraph(graph.indptr, graph.neighbor)
    for _ in range(MOST_SPLITS):
        pair = split(numbered, *OVERLAP, rng)
        assert pair.source.labels is not None  # the nodes of `graph`
        nodes = np.flatnonzero(pair.source.labels == node)
        if len(nodes) and pair.truth[nodes[0]] >= 0 and pair.target.degree[pair.truth[nodes[0]]] > 0:
            return pair, int(nodes[0])
    raise UnmaskError(
        f"the node was in both parts of the network in none of {MOST_SPLITS} splits, expected in some; "
        "it has too few edges to be found: give its discovery chances instead"
    )


# --- sentences ------------------------------------------------------------------------------------------------------


def sentences(advice: IdentityAdvice) -> Iterator[str]:
    """Yield the advice in sentences for the person."""
    yield _describe_person(advice)
    if not advice.in_clique:
        yield "No three of your contacts know each other, so no adversary starts from you by a group of four."
    yield _describe_seeding(advice)
    if advice.hidden is not None:
        yield _describe_hidden(advice.hidden, advice.k or 0)
    y = len(advice.strong.assignment)
    if y == 1:
        yield "With one identity, an adversary who finds it learns the secret that you put in it."
        return
    yield (
        f"A secret in one of {y} identities, other values in the rest: put it in any of them with equal probability if "
        f"the adversary may find them all, who then learns it with {_percent(advice.strong.loss)}."
    )
    yield from _describe_weak(advice)
    yield (
        "If you know nothing about the adversary, put it in any of them with equal probability: they learn it with at "
        f"most {_percent(advice.unknown.loss)}."
    )


def _describe_person(advice: IdentityAdvice) -> str:
    contacts = f"You have {advice.degree:,} contacts"
    if advice.anonymity is None:
        return f"{contacts} and no friends of friends: a local anonymity (LTA_A) is not defined."
    rank = f"number {advice.rank:,} of {advice.people:,} people from the most easily found"
    return f"{contacts} and a local anonymity (LTA_A) of {advice.anonymity:.4f}, {rank}."


def _describe_seeding(advice: IdentityAdvice) -> str:
    if not advice.escapes:
        return "You have too few contacts to divide among several identities."
    counts = ", ".join(f"{escape.identities}" for escape in advice.escapes)
    cliques = ", ".join(_percent(escape.cliques) for escape in advice.escapes)
    best_known = ", ".join(_percent(escape.best_known) for escape in advice.escapes)
    return (
        f"With your contacts divided evenly among {counts} identities, an adversary who starts from groups of {CLIQUE} "
        f"misses you with a probability of {cliques}, one who starts from the {advice.tried:,} best known with "
        f"{best_known}."
    )


def _describe_hidden(new: Mapping[int, int], k: int) -> str:
    """Return a sentence about new identities that have the same contacts as other people."""
    people = f"{k - 1} other{'s' * (k > 2)}"
    if not new:
        return f"No identity with up to {MOST_CONTACTS} contacts can have the same contacts as {people} near you."
    contacts = " or ".join(f"{n_contacts} contacts ({n} new)" for n_contacts, n in new.items())
    return f"A new identity with {contacts} can have the contacts of {people}, so that no attack tells them apart."


def _describe_weak(advice: IdentityAdvice) -> Iterator[str]:
    if advice.weak is None or advice.discovery is None:
        yield (
            "How likely each identity is found is not known. Give --discovery, or simulate it with --runs, to learn "
            "where a secret is safest from an adversary who finds some of them."
        )
        return
    safest = [f"{i}" for i, share in enumerate(advice.weak.assignment, 1) if share > 0]
    place = f"identity {safest[0]}" if len(safest) == 1 else f"any of the identities {', '.join(safest)}"
    chances = f"If they are found with a probability of {', '.join(map(_percent, advice.discovery))}, as given, that"
    if advice.runs:
        hits = ", ".join(f"{round(chance * advice.runs)}" for chance in advice.discovery)
        chances = f"They were found in {hits} of {advice.runs} simulated attacks, most contacts first. If that"
    yield (
        f"{chances} is all the adversary can do, and any of those found is believed, put the secret in {place}: "
        f"they learn it with {_percent(advice.weak.loss)}."
    )
    if advice.runs and min(advice.discovery) == 0:
        high = _percent(wilson(0.0, advice.runs)[1])
        yield f"An identity not found in {advice.runs} attacks may still be found with a probability of up to {high}."


def _percent(p: float) -> str:
    """Write a probability in percent; rounding never gives 0 or 100 % unless it is exact."""
    if 0.9995 <= p < 1:
        return "over 99.9%"
    return "under 0.1%" if 0 < p < 0.0005 else f"{100 * p:.1f}%"
