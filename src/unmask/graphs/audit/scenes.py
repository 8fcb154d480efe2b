"""Where an adversary of graphs gets a graph and the first matches from, and what is to be run on them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.catalog import sentence
from unmask.core.errors import UnmaskError
from unmask.core.truth import UNKNOWN, Truth
from unmask.graphs import Attack, Ensemble, Pair, SeedPairs, Similarity, SocialGraph, select_seeds, split
from unmask.graphs.audit.facts import GUESSED
from unmask.graphs.criteria import Variant, local_anonymities
from unmask.graphs.disclosure import SeparatedPair, seed_pair
from unmask.graphs.knowledge import NOBODY, match_cliques, match_profiles, match_top
from unmask.graphs.protections import Decoy, IdentitySeparation, protected

RANKS = ("top", "lta", "clustering", "betweenness", "closeness", "match_top", "match_profiles")
"""Ways that take the first of a ranking: from one pair of graphs the same seeds again, but for ties."""


def parse_seeds(text: str) -> tuple[str, int]:
    """METHOD:COUNT, how many leaked identities are chosen how.

    >>> parse_seeds("random.25:1000")
    ('random.25', 1000)
    """
    method, _, count = text.rpartition(":")
    if not method or not is_count(count):
        raise UnmaskError(f"expected METHOD:COUNT such as random.25:1000, at least 1 of them, given {text!r}")
    return method, int(count)


def usual_seeds(people: int) -> str:
    """Leaked identities where nothing is said: 5 % of the people, 100 at most, of the quarter with most contacts.

    >>> usual_seeds(75_879), usual_seeds(340), usual_seeds(5)
    ('random.25:100', 'random.25:17', 'random.25:1')
    """
    return f"{Plan.seeds}:{min(Plan.n_seeds, max(1, people // 20))}"


def is_count(text: str) -> bool:
    """Whether a text is a whole number of at least 1."""
    return text.isdecimal() and len(text) < 10 and int(text) > 0


# --- what is run ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """What is run on every pair of graphs.

    attacks    : name -> attack
    seeds      : how the adversary's first matches are chosen, see `select_seeds`; or "match_profiles", "match_top",
                 "match_cliques": found by looking alike, without the truth
    n_seeds    : how many of them
    runs       : each with other seeds, and with another perturbation where the pair is derived from one graph
    transition : other numbers of seeds, tried on the first pair
    seed       : of every random draw
    checkpoint : keeps the rounds of `Ensemble`
    """

    attacks: Mapping[str, Attack]
    seeds: str = "random.25"
    n_seeds: int = 100
    runs: int = 4
    transition: tuple[int, ...] = ()
    seed: int = 0
    checkpoint: Path | None = None

    def __post_init__(self) -> None:
        if not self.attacks:
            raise UnmaskError("0 attacks were given, expected at least 1; Nar09 or Rematch, for example")
        if self.runs < 1 or min((self.n_seeds, *self.transition)) < 1:
            given = f"{self.runs} runs from {min((self.n_seeds, *self.transition))} seeds"
            raise UnmaskError(f"{given} were asked for, expected at least 1 of each: an attack has to start somewhere")
        if self.checkpoint is not None and not any(isinstance(one, Ensemble) for one in self.attacks.values()):
            raise UnmaskError("a checkpoint keeps rounds of Ensemble, which is no attack here; add it, or leave it out")

    def rng(self, *names: object) -> np.random.Generator:
        """Random numbers of a role: adding an attack or a number of seeds changes those of no other role."""
        return np.random.default_rng([self.seed, zlib.crc32("/".join(map(str, names)).encode())])


Separation = Any
"""A protection of graphs; of those by which people take several identities the page says more."""

SEVERAL = "Of a person with several identities any is the right one."

OF_RELEASE = "The contacts of a person with several identities are those of all of them in the release."

CUT = ", and each is cut to its largest component: the people of all others are not judged"

SAMPLED = (
    "Ensemble takes the identities of the file for a random sample of the people in both networks. Where they are "
    "none, or some are wrong, its probabilities do not hold; Ensemble:seeds_are=chosen says so."
)

ALIKE = (
    "How similar people are is used by Rematch, Climb and Ensemble, as far as it singles out leaked identities; by no "
    "others."
)

MODELS = {
    "basic": "each contact goes to one of them",
    "realistic": "a contact goes to one, to several or to none of them",
    "realistic_minimal": "a contact goes to one, where there is room to several, and to none where there is no room",
    "best": "a contact goes to one of them or is dropped",
    "worst": "a contact goes to one or to several of them",
}

COOPERATIONS = {
    "local": "in groups of neighbors",
    "degree": "with most edges in the release",
    "lta": "whose edges are least like those of the friends of their friends (LTA_A)",
}


@dataclass(frozen=True, eq=False)
class Derived:
    """Both graphs are made out of one, see `unmask.graphs.split`.

    node_overlap, edge_overlap : as asked for, before graphs are cut to their largest component
    largest_component : cut both graphs to it, see `split`
    separation : how the target is protected before it is attacked, or by what some of the people in both graphs take
                 several identities in it; graphs and, for the same choice of them, adopters are those of other
                 protections at the same overlap
    """

    graph: SocialGraph
    node_overlap: float
    edge_overlap: float
    separation: Separation | None = None
    largest_component: bool = False
    released = None
    similarity = None
    truth_known = True
    truth_partial = False

    @property
    def people(self) -> SocialGraph:
        """The graph that the adversary's people are from, with their ids; numbers of people are its nodes."""
        return self.graph

    @property
    def overlap(self) -> tuple[float, float]:
        """Of nodes and edges, as asked for."""
        return self.node_overlap, self.edge_overlap

    def runs(self, plan: Plan, _n: int | None = None) -> int:
        """As planned: the graphs differ."""
        return plan.runs

    def seeds_name(self, plan: Plan) -> str:
        """How the first matches are chosen."""
        return plan.seeds

    def assumptions(self, plan: Plan) -> tuple[str, ...]:
        """What is taken for granted about graphs and seeds, a sentence each."""
        return (
            (
                f"Both networks are made from one, {plan.runs} times: people and edges are left out of each at random "
                f"until they share what is said{CUT * self.largest_component}. Real networks may differ."
            ),
            (
                f"Overlap {self.node_overlap:g}/{self.edge_overlap:g}: {100 * self.node_overlap:g} % of the people in "
                f"either network are in both, and {100 * self.edge_overlap:g} % of the edges among those."
            ),
            "Leaked identities are right, and are drawn with the truth at hand."
            if plan.seeds not in GUESSED
            else "Leaked identities are found by looking alike, without the truth; some may be wrong.",
            *(() if self.separation is None else (_separated(self.separation, plan),)),
            *_left_out("the network", self.graph),
        )

    def pair(self, rng: np.random.Generator) -> Pair:
        """The graphs of one run, another perturbation and choice of adopters; source labels number the people."""
        cut = self.largest_component
        pair = split(numbered(self.graph), self.node_overlap, self.edge_overlap, rng, largest_component=cut)
        if self.separation is None:
            return pair
        return SeparatedPair.of(
            pair, protected(self.separation, pair.target, rng=rng, eligible=pair.truth[pair.common])
        )

    def coverage(self, truth: Truth) -> dict[str, Any]:
        """Return the people of the file, those drawn to be in both graphs, and those who are in both, see `Row`."""
        people, judged = self.graph.n_nodes, int((truth.candidate >= 0).sum())
        return {"n_people": people, "n_drawn": round(self.node_overlap * people), "n_judged": judged}

    def seeds(self, pair: Pair, plan: Plan, n: int | None, rng: np.random.Generator) -> SeedPairs:
        """The first matches of a run, n or as planned: chosen of those who have not separated."""
        whole = seed_pair(pair.before, pair.separated) if isinstance(pair, SeparatedPair) else pair
        return _chosen_seeds(pair, whole, plan.seeds, n or plan.n_seeds, rng)

    def criteria(self, variants: Iterable[Variant]) -> dict[Variant, NDArray[np.float64]]:
        """(n_people,) each, how well a person hides, told without an attack: in the one graph, which the owner has."""
        return local_anonymities(self.graph, variants)


@dataclass(frozen=True, eq=False)
class Acquired:
    """A release, and a graph that the adversary has from elsewhere. The members are those of `Derived`.

    truth  : (auxiliary.n_nodes,) target node of each person, -1 for nobody; None where it is not known
    given  : the adversary's first matches, where they are not to be chosen
    origin : (target.n_nodes,) the person behind each target node, where some have several, see `Pair`
    truth_partial : whether people who are nobody by the truth may be in the target all the same
    truth_sampled : whether the people of a partial truth are drawn at random from all
    similarity : of nodes of both graphs, by anything but edges
    """

    target: SocialGraph
    auxiliary: SocialGraph
    truth: NDArray[np.int64] | None = None
    given: SeedPairs | None = None
    origin: NDArray[np.int64] | None = None
    truth_partial: bool = False
    similarity: Similarity | None = None
    truth_sampled: bool = False
    overlap = None
    separation = None

    def __post_init__(self) -> None:
        if self.truth is not None and not np.any(self.truth >= 0):
            raise UnmaskError("by the truth nobody is in both graphs, expected at least 1 person; check its ids")

    @property
    def people(self) -> SocialGraph:
        """The adversary's graph."""
        return self.auxiliary

    @property
    def released(self) -> SocialGraph:
        """The release, with its ids; None where the target is made."""
        return self.target

    @property
    def truth_known(self) -> bool:
        """Whether a truth was given."""
        return self.truth is not None

    def runs(self, plan: Plan, n: int | None = None) -> int:
        """One, where the graphs and the choice of seeds leave nothing to chance; n of given ones are drawn."""
        ranked = self.given is None and plan.seeds.partition(".")[0] in RANKS
        return 1 if ranked or (self.given is not None and n is None) else plan.runs

    def seeds_name(self, plan: Plan) -> str:
        """As planned, or given."""
        return plan.seeds if self.given is None else "given"

    def assumptions(self, plan: Plan) -> tuple[str, ...]:
        """Where graphs and seeds come from."""
        chosen = "are found by looking alike, without the truth; some may be wrong"
        if self.given is not None:
            chosen = "are those of the file, and there is one run"
        elif plan.seeds not in GUESSED:
            chosen = "are right, and are drawn with the truth at hand"
            chosen += "" if self.origin is None else ", of people with one identity"
        if self.given is None and self.runs(plan) > 1:
            chosen += f"; each of {plan.runs} runs has others"
        elif self.given is None and plan.runs > 1:
            chosen += "; they are the first of a ranking, the same in every run, so there is one run only"
        return (
            f"Leaked identities {chosen}.",
            *((SAMPLED,) if self.given is not None and any(map(_samples, plan.attacks.values())) else ()),
            *(() if self.origin is None else (SEVERAL, OF_RELEASE)),
            "Nodes are numbered anew before each run, so that the order of the files tells nothing.",
            *(() if self.similarity is None else (ALIKE,)),
            *_left_out("the release", self.target),
            *_left_out("the adversary's network", self.auxiliary),
        )

    def pair(self, rng: np.random.Generator) -> Pair:
        """The same graphs under other node numbers."""
        truth = np.full(self.auxiliary.n_nodes, NOBODY, dtype=np.int64) if self.truth is None else self.truth
        pair = Pair(numbered(self.auxiliary), numbered(self.target), truth, self.origin).shuffled(rng=rng)
        return pair if pair.origin is None else SeparatedPair.of_release(pair)

    def coverage(self, truth: Truth) -> dict[str, Any]:
        """Return the people whom the adversary knows, and those of whom the truth is known, see `Row`."""
        people, judged = len(truth), int((truth.candidate != UNKNOWN).sum())
        return {"n_people": people, "n_drawn": judged if self.truth_sampled else people, "n_judged": judged}

    def seeds(self, pair: Pair, plan: Plan, n: int | None, rng: np.random.Generator) -> SeedPairs:
        """Of the given ones n at random, or all; else chosen as planned, of those who have one identity."""
        if self.given is not None:
            if n is not None and n > len(self.given.source):
                raise UnmaskError(f"{n} seeds are asked for, but {len(self.given.source)} are given; ask for fewer")
            kept = rng.permutation(len(self.given.source))[:n]
            given, here, there = self.given, places(pair.source), places(pair.target)
            return type(given)(here[given.source[kept]], there[given.target[kept]])
        if self.truth is None and plan.seeds not in GUESSED:
            raise UnmaskError(
                f"seeds by {plan.seeds!r} need the truth, and none was given; give --truth, --seeds-file, or "
                f"--seeds {GUESSED[0]}:{n or plan.n_seeds}"
            )
        whole = replace(pair, truth=np.where(pair.identities == 1, pair.truth, NOBODY))
        return _chosen_seeds(pair, whole, plan.seeds, n or plan.n_seeds, rng)

    def criteria(self, variants: Iterable[Variant]) -> dict[Variant, NDArray[np.float64]]:
        """In the release, at the node of the person, the first of several; nan where the truth is not known."""
        if self.truth is None:
            return {variant: np.full(self.auxiliary.n_nodes, np.nan) for variant in variants}
        found = local_anonymities(self.target, variants)
        return {variant: np.append(value, np.nan)[self.truth] for variant, value in found.items()}


Scene = Derived | Acquired
"""Where a pair of graphs comes from. People are numbered alike in all its runs: by the nodes of `people`."""


def scene_name(scene: Derived) -> str:
    """What the release of a scene is called: its overlaps, and by what people separated.

    >>> scene_name(Derived(SocialGraph.from_edges([0], [1]), 0.5, 0.75))
    'overlap 0.5/0.75'
    """
    at = f"{scene.node_overlap:g}/{scene.edge_overlap:g}"
    return f"overlap {at}" if scene.separation is None else f"{separation_name(scene.separation)} at {at}"


def separation_name(by: Separation) -> str:
    """Of several identities model, number, adopters, and what else is not as it is by default; no two are called alike.

    >>> separation_name(IdentitySeparation("best", 5, cooperation="degree")), separation_name(Decoy(adopters=1.0))
    ('best/5/0.1 cooperation=degree', 'decoy/1.0')
    """
    if not isinstance(by, IdentitySeparation | Decoy):
        return repr(by)
    named = ("model", "identities", "adopters")
    start = f"decoy/{by.adopters}" if isinstance(by, Decoy) else f"{by.model}/{by.identities}/{by.adopters}"
    rest = [(item.name, getattr(by, item.name), item.default) for item in fields(by) if item.name not in named]
    others = [f"{name}={value}" for name, value, default in rest if value != default]
    return " ".join((start, *others))


def _separated(by: Separation, plan: Plan) -> str:
    """Who takes which identities, and whom that leaves to be known from the start."""
    if not isinstance(by, IdentitySeparation | Decoy):
        return f"{by!r}: {sentence(by)}"
    share = isinstance(by.adopters, float)
    who = f"{100 * by.adopters:.4g} % of the people" if share else f"{by.adopters:,} of the people"
    cooperation = "none" if isinstance(by, Decoy) else by.cooperation
    least = f"who have at least {by.minimum_degree} edges in the release, drawn singly"
    chosen = least if cooperation == "none" else COOPERATIONS[cooperation]
    if isinstance(by, Decoy):
        how = f"show a decoy to {100 * by.public:.4g} % of their contacts and hide another identity"
    else:
        chosen += f", but none of the {100 * by.refuse_top:.4g} % with most edges, who refuse" if by.refuse_top else ""
        noun = "identity" if by.identities == 1 else "identities"
        how = f"appear under {by.identities} {noun} each (no more than contacts) by the model {by.model}: "
        how += MODELS[by.model]
    leaked = "" if plan.seeds in GUESSED else " Leaked identities are of others."
    return f"{separation_name(by)}: {who} in both networks {chosen}, {how}.{leaked} {SEVERAL}"


def _left_out(whose: str, graph: SocialGraph) -> tuple[str, ...]:
    """What the file says and no attack uses."""
    return (f"Of {whose}, {graph.dropped}: attacks see edges alone.",) if str(graph.dropped) else ()


def numbered(graph: SocialGraph) -> SocialGraph:
    """The graph with the number of each node for its name: people are told apart by number."""
    return replace(graph, labels=np.arange(graph.n_nodes))


def _samples(attack: Attack) -> bool:
    return isinstance(attack, Ensemble) and attack.seeds_are == "sample"


def places(graph: SocialGraph) -> NDArray[np.int64]:
    """Where the node of each number stands now."""
    assert graph.labels is not None
    return np.argsort(graph.labels)


def _chosen_seeds(pair: Pair, whole: Pair, method: str, n: int, rng: np.random.Generator) -> SeedPairs:
    """whole : the pair in which people with several identities are nobody."""
    if method == "match_profiles":
        return match_profiles(pair.source, pair.target, n, rng=rng)
    if method == "match_top":
        return match_top(pair.source, pair.target, n)
    if method == "match_cliques":
        return match_cliques(pair.source, pair.target, n=n, rng=rng)
    if len(pair.common) and not len(whole.common):
        raise UnmaskError(
            f"seeds by {method!r} are chosen of people with one identity, and all {len(pair.common)} people in both "
            f"graphs have several; let fewer separate theirs, or choose without the truth (--seeds {GUESSED[0]}:{n})"
        )
    return select_seeds(whole, method, n, rng)
