"""Advice for one person of a network: whether to separate identities, and which identity should hold a secret.

All figures concern this person: degree, local anonymity, effect of seeding and attacks. The only figure of the network
is the number of people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np

from unmask.core.arrays import Booleans, Floats
from unmask.core.errors import UnmaskError
from unmask.graphs import Attack, IdentitySeparation, Pair, SeedPairs, SocialGraph, select_seeds, split
from unmask.graphs.advice.seeding_loss import TOP_SHARE, CliqueSize, Tolerance, find_border
from unmask.graphs.audit.attack_plan import parse_attacks
from unmask.graphs.criteria import Model, clique_failure, local_anonymity, top_failure
from unmask.graphs.disclosure import discovery
from unmask.graphs.identity_game import best_assignment, equilibrium, expected_loss, worst_loss
from unmask.graphs.knowledge.seeding import clique as find_clique
from unmask.graphs.protections import new_ties
from unmask.ranges import Range

MAX_IDENTITIES: Final = 5
MAX_CONTACTS: Final = 5
"""Largest number of contacts for which a (k, 2)-anonymous identity is searched."""


@dataclass(frozen=True)
class Seeding:
    """Division of the contacts among identities, and how an adversary starts without a leak.

    shares : probability that a contact goes to each identity; () for even shares of 2 to 5 identities
    model : what happens to a contact, see `unmask.graphs.criteria.Model`
    clique, tolerance : size of the cliques, and share by which a degree may be smaller
    top : number of people of highest degree that seeding tries to match; by default `TOP_SHARE` of all
    """

    shares: tuple[float, ...] = ()
    model: Model = "basic"
    clique: int = 4
    tolerance: float = 0.05
    top: int | None = None


@dataclass(frozen=True)
class Stakes:
    """Payoffs of the game of y identities, and the decision rule of an adversary who finds some of them.

    loss : loss of the user if the adversary learns the secret in each identity; () for 1, so that losses are
           probabilities
    gain : gain of the adversary from a right belief in each identity, compared with a wrong one; () for 1
    accepts : "uniform", "likeliest", or the probability that each identity is believed if it is found
    equal_secrets : number of identities with the same value
    """

    loss: tuple[float, ...] = ()
    gain: tuple[float, ...] = ()
    accepts: str | tuple[float, ...] = "uniform"
    equal_secrets: int = 1


@dataclass(frozen=True)
class Escape:
    """Probability that seeding misses a person who divides the contacts among y identities.

    cliques    : seeding by cliques, equations (5.8) to (5.11); 1 for a person in no such clique
    best_known : seeding by nodes of highest degree, equation (5.15)
    """

    identities: int
    cliques: float
    best_known: float


@dataclass(frozen=True)
class Placing:
    """Best probability of storing a secret in each identity, and the expected loss.

    decision : probability that a strong adversary believes each identity in equilibrium; None for other adversaries
    """

    assignment: tuple[float, ...]
    loss: float
    decision: tuple[float, ...] | None = None


@dataclass(frozen=True)
class IdentityAdvice:
    """Advice for one person. Identities have the order of `discovery`; if it is simulated, most contacts first.

    anonymity  : LTA_A; low values mean easily found; None without friends of friends
    rank       : 1 + number of people with a lower value
    in_clique  : True if the person is in a clique of the size of `seeding`
    tried      : number of nodes of highest degree that seeding tries to match
    border     : smallest degree of these nodes
    escapes    : for `seeding.shares`, or for 2 to 5 identities, at most the number of contacts
    discovery  : P_i, probability that each identity is found; None if unknown
    runs       : number of simulated attacks behind `discovery`; None without a simulation
    unit       : "probability" that the adversary learns the secret, or "loss" of given payoffs
    strong     : against an adversary who finds all identities
    weak       : against an adversary who finds each identity with its probability and follows `stakes.accepts`;
                 None without `discovery`
    unknown    : against any adversary
    equal_loss : largest expected loss if `stakes.equal_secrets` identities have the same value
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
    border: int
    escapes: tuple[Escape, ...]
    discovery: tuple[float, ...] | None
    runs: int | None
    unit: str
    strong: Placing
    weak: Placing | None
    unknown: Placing
    equal_loss: float
    seeding: Seeding = Seeding()
    stakes: Stakes = Stakes()
    hidden: Mapping[int, int] | None = None
    k: int | None = None


def advise(
    graph: SocialGraph,
    node: int,
    *,
    identities: Annotated[int, Range(1, 1000)] | None = None,
    shares: Sequence[float] = (),
    model: Model = "basic",
    clique: CliqueSize = 4,
    tolerance: Tolerance = 0.05,
    top: Annotated[int, Range(1)] | None = None,
    discovery: Sequence[float] = (),
    runs: Annotated[int, Range(0)] = 0,
    attack: str = "Rematch",
    leaked: Annotated[int, Range(1)] = 100,
    loss: Sequence[float] = (),
    gain: Sequence[float] = (),
    accepts: str | Sequence[float] = "uniform",
    equal_secrets: Annotated[int, Range(1)] = 1,
    k: Annotated[int, Range(2)] | None = None,
    seed: Annotated[int, Range(0)] = 0,
) -> IdentityAdvice:
    """Advise one person whether several identities hide them, by given or simulated discovery probabilities.

    identities : number of identities you would take (default: 5, or as many as in other options)
    shares     : probability that a contact goes to each identity, such as 0.1,0.9 (default: even shares)
    model      : identities of a contact: one (basic), one or none (best), or several or none (realistic)
    clique     : size of the cliques from which an adversary starts
    tolerance  : relative difference up to which two numbers of contacts count as equal
    top        : number of people with most contacts as start of an adversary (default: 1.5 % of the people)
    discovery  : probability that each is found, such as 0.3,0.1
    runs       : simulated attacks for each identity, from which --discovery is estimated (0: no simulation)
    attack     : attack to simulate (needs --runs)
    leaked     : people that the adversary knows already
    loss       : your loss if the adversary learns the secret, one number or one for each identity, such as 20,5
    gain       : gain of the adversary from the secret, one number or one for each identity (default: 1)
    accepts    : identity that an adversary believes: any of those found, the likeliest one, or each with a probability
    equal_secrets : number of identities with the same value
    k          : number of people, including you, that no attack can tell apart. Prints what a new identity needs
    seed       : random seed of every draw

    >>> star = SocialGraph.from_edges([0, 0, 0, 1], [1, 2, 3, 2])
    >>> advice = advise(star, 0, discovery=[0.5, 0.1])
    >>> advice.degree, advice.rank, advice.strong.loss, advice.weak.assignment
    (3, 1, 0.5, (0.0, 1.0))

    G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, chapters 4 to
    6: equations (4.3), (5.8) to (5.15), (6.7), table 6.1, theorems 1 to 3.
    """
    if discovery and runs:
        raise UnmaskError(
            "`discovery` and `runs` were both given, expected the probabilities or a simulation; leave one out"
        )
    if accepts != "uniform" and not (discovery or runs):
        raise UnmaskError("`accepts` is about identities that are found or not; add `discovery` or `runs`")
    (simulated,) = parse_attacks([attack], Path()).values()
    degree = int(graph.degree[node])
    y = _count_identities(degree, identities, shares=shares, discovery=discovery)
    chances = np.asarray(discovery, dtype=np.float64) if discovery else None
    if runs:
        rng = np.random.default_rng(seed)
        chances = simulated_discovery(graph, node, simulated, identities=y, n_seeds=leaked, runs=runs, rng=rng)
    seeding = Seeding(tuple(shares), model, clique, tolerance, top)
    rule = accepts if isinstance(accepts, str) else tuple(accepts)
    stakes = Stakes(tuple(loss), tuple(gain), rule, equal_secrets)
    if equal_secrets > y:
        raise UnmaskError(f"`equal_secrets` is {equal_secrets}, but there are {y} identities; give at most {y}")
    losses, gains = _one_for_each("loss", stakes.loss, y), _one_for_each("gain", stakes.gain, y)
    anonymity = local_anonymity(graph)
    value = float(anonymity[node])
    is_defined, border = value == value, find_border(graph, seeding.top)
    grouped, game = in_clique(graph, node, seeding.clique), equilibrium(y, loss=losses, gain=gains)
    safest = equilibrium(y, loss=losses, gain=losses).assignment
    return IdentityAdvice(
        degree=degree,
        anonymity=value if is_defined else None,
        rank=int(np.count_nonzero(anonymity < value)) + 1 if is_defined else None,
        people=graph.n_nodes,
        in_clique=grouped,
        tried=seeding.top or max(1, round(TOP_SHARE * graph.n_nodes)),
        border=border,
        escapes=tuple(_list_escapes(degree, grouped, max(border, 1), seeding)),
        discovery=None if chances is None else tuple(chances.tolist()),
        runs=runs or None,
        unit="loss" if stakes.loss else "probability",
        strong=_placing(game.assignment, game.loss, game.decision),
        weak=None if chances is None else _place_against_weak(chances, stakes.accepts, losses),
        unknown=_placing(safest, worst_loss(safest, loss=losses)),
        equal_loss=stakes.equal_secrets / y * float(losses.max()),
        seeding=seeding,
        stakes=stakes,
        hidden=None if k is None else hidden_identities(graph, node, k),
        k=k,
    )


def _count_identities(degree: int, identities: int | None, **options: Sequence[float]) -> int:
    """Return the number of identities on which all options agree; by default 5, at most the number of contacts."""
    counts = {name: len(values) for name, values in options.items() if values}
    y = next(iter(counts.values()), identities)
    if identities not in (None, y):
        raise UnmaskError(f"there are {identities} identities and {y} probabilities, expected one for each")
    if len({*counts.values()}) > 1:
        lengths = " and ".join(f"`{name}` has {count}" for name, count in counts.items())
        raise UnmaskError(f"{lengths} numbers, expected one for each identity in both")
    if counts.get("shares", 0) > max(degree, 1):
        raise UnmaskError(f"`shares` has {counts['shares']} shares, but the person has {degree} contacts; give fewer")
    return y if counts and y is not None else min(y or MAX_IDENTITIES, max(degree, 1))


def hidden_identities(graph: SocialGraph, node: int, k: int) -> dict[int, int]:
    """Return number of contacts -> number of new contacts of a (k, 2)-anonymous identity, for 1 to 5 contacts.

    >>> hidden_identities(SocialGraph.from_edges([0, 0, 3, 3, 4, 4], [1, 2, 1, 2, 1, 5]), 0, 2)
    {2: 0}
    """
    ties = {c: int(new_ties(graph, [node], contacts=c, k=k)[0]) for c in range(1, MAX_CONTACTS + 1)}
    return {contacts: new for contacts, new in ties.items() if new >= 0}


def _one_for_each(name: str, amounts: tuple[float, ...], y: int) -> Floats:
    """Return (y,) amounts: one for each identity, one for all, or 1."""
    if len(amounts) not in (0, 1, y):
        raise UnmaskError(f"`{name}` has {len(amounts)} numbers for {y} identities, expected one, or one for each")
    return np.broadcast_to(np.array(amounts or (1.0,), dtype=np.float64), (y,))


def _list_escapes(degree: int, grouped: bool, border: int, seeding: Seeding) -> Iterator[Escape]:
    even = (np.full(y, 1 / y) for y in range(2, min(MAX_IDENTITIES, degree) + 1))
    for shares in [np.array(seeding.shares)] if seeding.shares else even:
        missed = top_failure(degree, shares, border, model=seeding.model)
        cliques = (
            1.0
            if not grouped
            else clique_failure(degree, shares, seeding.clique, seeding.tolerance, model=seeding.model)
        )
        yield Escape(len(shares), float(cliques), float(missed))


def _place_against_weak(chances: Floats, accepts: str | tuple[float, ...], loss: Floats) -> Placing:
    """Return the best identity for a secret against an adversary who finds some identities."""

    def believe_likeliest(found: Booleans) -> Floats:
        likeliest = found & (chances == np.max(chances, where=found, initial=-1.0))
        return np.asarray(likeliest / max(int(likeliest.sum()), 1))

    if not isinstance(accepts, str) and len(accepts) != len(chances):
        raise UnmaskError(f"`accepts` has {len(accepts)} numbers for {len(chances)} identities, expected one for each")
    decision = believe_likeliest if accepts == "likeliest" else accepts
    assignment = best_assignment(chances, decision, loss=loss)
    return _placing(assignment, expected_loss(assignment, discovery=chances, decision=decision, loss=loss))


def _placing(assignment: Floats, loss: float, decision: Floats | None = None) -> Placing:
    return Placing(tuple(assignment.tolist()), loss, None if decision is None else tuple(decision.tolist()))


def in_clique(graph: SocialGraph, node: int, size: int = 4) -> bool:
    """Return True if a node is in a clique of `size` people.

    >>> in_clique(SocialGraph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]), 0)
    True
    """
    return bool(find_clique(graph, node, size, set(), np.random.default_rng(0)))


OVERLAP: Final = (0.5, 0.75)
"""Overlap of people and of edges between the network and the simulated adversary's; common in published figures."""

MAX_SPLITS: Final = 200


def simulated_discovery(
    graph: SocialGraph, node: int, attack: Attack, *, identities: int, n_seeds: int, runs: int, rng: np.random.Generator
) -> Floats:
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
    for _ in range(MAX_SPLITS):
        pair = split(numbered, *OVERLAP, rng)
        assert pair.source.labels is not None  # the nodes of `graph`
        nodes = np.flatnonzero(pair.source.labels == node)
        if len(nodes) and pair.truth[nodes[0]] >= 0 and pair.target.degree[pair.truth[nodes[0]]] > 0:
            return pair, int(nodes[0])
    raise UnmaskError(
        f"the node was in both parts of the network in none of {MAX_SPLITS} splits, expected in some; "
        "it has too few edges to be found: give its discovery chances instead"
    )
