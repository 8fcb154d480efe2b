"""Disclosure of people with several identities: success of an attack on a release with identity separation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import distinct
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.graphs.attacks import Attack
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge import NO_NODE, Pair, SeedPairs, select_seeds
from unmask.graphs.knowledge.seeding import with_errors
from unmask.graphs.protections.identities import Role, Separated, spans
from unmask.graphs.similarity import Auxiliary
from unmask.measures import Measure
from unmask.ranges import check_type

Who = Literal["whole", "adopters", "anybody"]
Seeded = Literal["whole", "adopters", "mixed", "anybody"]

# --- the truth ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class SeparatedPair(Pair):
    """The truth for an attack on a release with identity separation; each identity of a person is a correct match.

    before    : the pair before identity separation
    separated : the release after identity separation, with the person behind each released node

    >>> from unmask.graphs import SocialGraph
    >>> star = SocialGraph.from_edges([0, 0], [1, 2])
    >>> hidden = Separated(star, np.array([0, 1, 1]), np.array([0, 1, 1], np.int8), np.array([1]))
    >>> tie = SocialGraph.from_edges([0], [1])
    >>> SeparatedPair.of(Pair(tie, tie, np.arange(2)), hidden).truth_for(np.array([0, 2]))
    array([0, 2])
    """

    before: Pair
    separated: Separated

    @classmethod
    def of(cls, before: Pair, separated: Separated) -> SeparatedPair:
        """Return the pair with the separated release as target; `truth` holds the first node of each person."""
        release, origin = separated
        first = np.full(before.target.n_nodes + 1, NO_NODE, dtype=np.int64)  # the last entry serves truth = -1
        first[origin[::-1]] = np.arange(len(origin))[::-1]  # reversed: the first node of a person wins
        return cls(before.source, release, first[before.truth], origin, before=before, separated=separated)

    @classmethod
    def of_release(cls, pair: Pair) -> SeparatedPair:
        """Return the pair if only `origin` is known, and estimate the contacts of each person before separation.

        A person gets the contacts of all their released nodes. This estimate omits contacts that the protection dropped
        and includes false contacts that it added.

        >>> path = SocialGraph.from_edges([0, 1, 2], [1, 2, 3])
        >>> SeparatedPair.of_release(Pair(path, path, np.array([0, 1, 2, -1]), np.array([0, 1, 2, 0]))).before.target
        SocialGraph(3 nodes, 3 edges)
        """
        assert pair.origin is not None
        origin, (u, v) = pair.origin, pair.target.edges()
        count = np.bincount(origin)
        people = SocialGraph.from_edges(origin[u], origin[v], n_nodes=len(count))
        role = np.where(count[origin] > 1, Role.IDENTITY, Role.WHOLE).astype(np.int8)
        separated = Separated(pair.target, origin, role, np.flatnonzero(count > 1))
        unseparated = Pair(pair.source, people, np.where(pair.truth >= 0, origin[pair.truth], NO_NODE))
        return cls(pair.source, pair.target, pair.truth, origin, before=unseparated, separated=separated)


def seed_pair(pair: Pair, separated: Separated, who: Who = "whole") -> Pair:
    """Return the pair from which seeds are chosen: the target is the release, with at most one node for each person.

    Use the result to choose seeds only. Its truth omits people, so it cannot evaluate an attack.

    who : people who may become seeds. "whole": people without identity separation, as in most published figures.
          "adopters": adopters, each with one random identity. "anybody": all people.
    """
    adopts = np.isin(pair.truth, separated.adopters)
    open_to_them = {"whole": ~adopts, "adopters": adopts, "anybody": np.ones_like(adopts)}[who]
    truth = np.where(open_to_them, SeparatedPair.of(pair, separated).truth, NO_NODE)
    return Pair(pair.source, separated.release, truth)


def separated_seeds(
    pair: Pair,
    separated: Separated,
    method: str,
    n: int,
    rng: np.random.Generator,
    *,
    who: Seeded = "whole",
    error: float = 0.0,
) -> SeedPairs:
    """Return n seeds for an attack on a release with identity separation.

    method, error : see `select_seeds`
    who           : "whole", "adopters" or "anybody": see `seed_pair`. "mixed": n // 2 adopters; the other seeds are
                    people without identity separation.

    >>> from unmask.graphs import SocialGraph
    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> halves = SocialGraph.from_edges([0, 0, 4], [1, 2, 3])
    >>> hidden = Separated(halves, np.array([0, 1, 2, 3, 0]), np.array([1, 0, 0, 0, 1], np.int8), np.array([0]))
    >>> pair = Pair(star, star, np.arange(4))
    >>> separated_seeds(pair, hidden, "top", 2, np.random.default_rng(1), who="mixed").source[1]
    np.int64(0)

    G. Gulyas, 2015, section 5.3.1.
    """
    check_type("who", who, Seeded)
    if who != "mixed":
        open_pair = seed_pair(pair, separated, who)
        if who == "whole" and len(open_pair.common) < n <= len(pair.common):
            raise UnmaskError(
                f"{n} seeds are too many: only {len(open_pair.common)} of {len(pair.common)} people have one identity; "
                'reduce the adopters, or choose who = "anybody": a seed is then one identity of a person'
            )
        return select_seeds(open_pair, method, n, rng, error=error)
    whole_pair, adopters = (seed_pair(pair, separated, half) for half in ("whole", "adopters"))
    chosen = [select_seeds(half, method, m, rng).source for half, m in ((whole_pair, n - n // 2), (adopters, n // 2))]
    joint = Pair(
        pair.source, separated.release, np.maximum(whole_pair.truth, adopters.truth)
    )  # a person has a node in at most one of the two pairs, and -1 in the other
    return with_errors(joint, np.concatenate(chosen), round(error * n), rng)


# --- disclosure ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Disclosure:
    """Outcomes of an attack on a release with identity separation. Seeds are excluded.

    person    : (n_people,) int64, source nodes of the adopters, ascending
    share     : (n_people,) d(v) of equation (3.4): share of the adopter's contacts that the attack discloses
    role      : (n_people,) int8, `Role` of the node by which the attack found the adopter, -1 if not found
    decoys    : True if adopters publish a decoy and hide another node
    """

    person: Integers
    share: Floats
    role: NDArray[np.int8]
    decoys: bool

    @property
    def rate(self) -> float | None:
        """Return D of equation (3.5), the mean of d(v) over the adopters; None without adopters."""
        return float(self.share.mean()) if len(self.share) else None

    @property
    def decoyed(self) -> float | None:
        """Return the share of adopters whose decoy (public node) is found; None without decoys."""
        return self._share_found_by(Role.PUBLIC)

    @property
    def exposed(self) -> float | None:
        """Return the share of adopters whose hidden node is found; None without decoys."""
        return self._share_found_by(Role.HIDDEN)

    def _share_found_by(self, role: Role) -> float | None:
        return float(np.mean(self.role == role)) if self.decoys and len(self.role) else None


def disclosure(pair: Pair, separated: Separated, mapping: NDArray[np.integer], seed_source: ArrayLike) -> Disclosure:
    """Measure how many people and contacts a mapping of source nodes to released nodes discloses.

    pair        : the pair before separation
    mapping     : (n_source,) the released node matched to each source node, -1 for none. An attack with several rounds
                  gives (n_rounds, n_source). All correct nodes disclose contacts. A hidden node is found if any round
                  names it.
    seed_source : source nodes that the adversary knew before the attack; they are excluded

    d(v) = disclosed contacts / deg(v), with deg before separation, and 0 if no identity is found (3.4). D is the mean
    over the adopters in both graphs (3.5). A contact counts as disclosed if one of its identities is adjacent to the
    identity found. The printed equation counts adjacent identities, deg of the identity found. Both agree unless two
    identities of one contact are adjacent to it. Counting contacts keeps d(v) at most 1.

    >>> from unmask.graphs import SocialGraph
    >>> path = SocialGraph.from_edges([0, 1, 2], [1, 2, 3])
    >>> hidden = Separated(
    ...     SocialGraph.from_edges([0, 2, 3], [1, 3, 4]),
    ...     np.array([0, 1, 1, 2, 3]),
    ...     np.array([0, 1, 1, 0, 0], np.int8),
    ...     np.array([1]),
    ... )
    >>> found = disclosure(Pair(path, path, np.arange(4)), hidden, np.array([-1, 2, -1, 4]), seed_source=[])
    >>> found.role.tolist(), found.rate
    ([1], 0.5)

    G. Gulyas, 2015, section 3.2.
    """
    rounds = np.atleast_2d(mapping)
    if rounds.shape[-1:] != pair.truth.shape or rounds.ndim != 2:
        raise UnmaskError(f"the mapping has shape {np.shape(mapping)}, expected {pair.source.n_nodes} source nodes")
    is_right = SeparatedPair.of(pair, separated).to_truth().accepts(rounds)
    is_seed = np.isin(np.arange(pair.source.n_nodes), np.asarray(seed_source, dtype=np.int64))
    person = np.flatnonzero(np.isin(pair.truth, separated.adopters) & ~is_seed)
    roles = np.where(is_right[:, person], np.append(separated.role, np.int8(-1))[rounds[:, person]], -1).astype(np.int8)
    return Disclosure(
        person,
        _shares(pair, separated, rounds, is_right, person),
        roles.max(axis=0, initial=-1),
        bool(np.any(separated.role == Role.HIDDEN)),
    )


def disclosure_measures(disclosed: Disclosure, pair: Pair) -> Iterator[Measure]:
    """Yield measures over the adopters in `disclosed`; all other people are nan. `pair` has the release as target.

    adopter_recall : 1 if the attack maps the adopter to one of their identities
    disclosure     : share of the adopter's contacts that the attack discloses. The baseline assumes that a random match
                     discloses all contacts if it is right.
    decoyed        : with decoys only: 1 if the public identity is found
    exposed        : with decoys only: 1 if the hidden identity is found
    """
    chance = 1 / max(pair.target.n_nodes, 1)
    yield _of_adopters("adopter_recall", disclosed, disclosed.role >= 0, chance * pair.identities)
    for name, value in (("disclosure", disclosed.share), ("decoyed", disclosed.role == Role.PUBLIC),
                        ("exposed", disclosed.role == Role.HIDDEN)):  # fmt: skip
        if name == "disclosure" or disclosed.decoys:
            yield _of_adopters(name, disclosed, value, np.full(pair.source.n_nodes, chance))


def _of_adopters(name: str, disclosed: Disclosure, value: NDArray[np.generic], guess: NDArray[np.floating]) -> Measure:
    def realized(belief: Posterior, _truth: Truth) -> Floats:
        values = np.full(len(guess), np.nan)
        values[disclosed.person] = guess[disclosed.person] if belief.named is None else value
        return values

    return Measure(
        name=name,
        unit="share",
        direction="high",
        range=(0.0, 1.0),
        source="G. Gulyas, 2015, section 3.2, equations (3.4) and (3.5)",
        realized=realized,
    )


def _shares(
    pair: Pair, separated: Separated, rounds: NDArray[np.integer], is_right: Booleans, person: Integers
) -> Floats:
    """Return (n_people,) the number of distinct contacts of correct nodes, divided by the degree before separation."""
    release, origin = separated
    _, position = np.nonzero(is_right[:, person])
    node = rounds[:, person][is_right[:, person]].astype(np.int64)
    block, place = spans(release.degree[node])
    contact = origin[release.neighbor[release.indptr[node[block]] + place]]
    n = pair.target.n_nodes
    n_contacts = np.bincount(distinct(position[block] * n + contact) // n, minlength=len(person))
    share: Floats = n_contacts / np.maximum(pair.target.degree[pair.truth[person]], 1)
    return share


# --- discovery of each identity -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Discovery:
    """Success of an attack on each identity if the release contains no other identity of the person.

    person : (n,) int64, source node of the person
    node   : (n,) int64, released node of the identity
    hits   : (n,) number of runs that map the person to this identity
    misses : (n,) number of runs that map the person to another person's node
    runs   : number of runs
    """

    person: Integers
    node: Integers
    hits: Integers
    misses: Integers
    runs: int

    @property
    def score(self) -> Integers:
        """Return (n,) S = hits - misses of each identity: G. Gulyas, 2015, equation (3.6)."""
        return self.hits - self.misses

    @property
    def probability(self) -> Floats:
        """Return (n,) hits / runs: the discovery probability of each identity, the input of `graphs.identity_game`."""
        return self.hits / self.runs

    @property
    def reversed(self) -> float | None:
        """Return the share of people whose identities are all found in every run; None without people."""
        people, person_number = np.unique(self.person, return_inverse=True)
        missed = np.bincount(person_number, weights=self.hits < self.runs, minlength=len(people))
        return float(np.mean(missed == 0)) if len(people) else None


def discovery(
    pair: Pair,
    separated: Separated,
    people: ArrayLike,
    attack: Attack,
    seeds: Callable[[Pair, np.random.Generator], SeedPairs],
    *,
    runs: int = 10,
    rng: np.random.Generator,
) -> Discovery:
    """Count how often an attack finds each identity if the release contains no other identity of the person.

    Round i keeps identity i of each person and removes their other identities from the release. The number of rounds is
    the largest number of identities of a person. Each round runs the attack `runs` times. All rounds use the same
    seeds. The result is a lower bound for an attack that is designed for several identities.

    people : source nodes of people who are in the target. All of them lose identities in the same round. The published
             figures treat one person at a time: call the function once for each person to reproduce them.
    seeds  : `seeds(pair, rng)` draws seeds among people without identity separation, for example
             `lambda pair, rng: select_seeds(pair, "random.25", 1000, rng)`

    G. Gulyas, 2015, section 6.3.
    """
    sources = np.unique(np.asarray(people, dtype=np.int64))
    first = SeparatedPair.of(pair, separated).truth[sources]
    if runs < 1 or not (len(sources) and bool(np.all(first >= 0))):
        raise UnmaskError(
            f"{runs} runs for {len(sources)} people, expected at least one of each and all in the release"
        )
    block, node = Truth(first, person=separated.origin).list_pairs()
    person, place = sources[block], np.arange(len(block)) - np.searchsorted(block, block)
    whole_pair = seed_pair(pair, separated)
    drawn = [seeds(whole_pair, rng) for _ in range(runs)]
    hits, misses = np.zeros((2, len(node)), dtype=np.int64)
    for i in range(int(place.max()) + 1):
        chosen = np.flatnonzero(place == i)
        remaining = np.setdiff1d(np.arange(separated.release.n_nodes), node[place != i])
        number = np.full(separated.release.n_nodes, NO_NODE, dtype=np.int64)
        number[remaining] = np.arange(len(remaining))
        release = separated.release.take(remaining)
        for seed_pairs in drawn:
            is_present = number[seed_pairs.target] >= 0  # a wrong seed may name a removed identity
            known_seeds = SeedPairs(seed_pairs.source[is_present], number[seed_pairs.target[is_present]])
            mapping = attack(release, Auxiliary(pair.source, known_seeds)).mapping[person[chosen]]
            hits[chosen] += mapping == number[node[chosen]]
            misses[chosen] += (mapping >= 0) & (mapping != number[node[chosen]])
    return Discovery(person, node, hits, misses, runs)
