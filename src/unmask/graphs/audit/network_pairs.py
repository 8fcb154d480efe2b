"""Pairs of networks in an audit, the adversary's and the release: made from one network, or given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.catalog import sentence
from unmask.core.errors import UnmaskError
from unmask.core.truth import UNKNOWN, Truth
from unmask.graphs import Attack, Ensemble, Pair, SeedPairs, Similarity, SocialGraph, select_seeds, split
from unmask.graphs.audit.attack_plan import Plan
from unmask.graphs.audit.facts import GUESSED
from unmask.graphs.criteria import Variant, local_anonymities
from unmask.graphs.disclosure import SeparatedPair, seed_pair
from unmask.graphs.knowledge import NO_NODE, match_cliques, match_profiles, match_top
from unmask.graphs.protections import Decoy, IdentitySeparation, PowerLaw, apply_protection

RANKED = ("top", "lta", "clustering", "betweenness", "closeness", "match_top", "match_profiles")
"""Seeding methods that take the first people of a ranking: all runs on one pair of networks have the same seeds."""

SEVERAL = "Any identity of a person with several identities is right."

OF_RELEASE = "The contacts of a person with several identities are those of all of them in the release."

CUT = ", and each is cut to its largest component: people of other components are not judged"

SAMPLED = (
    "Ensemble takes the identities of the file for a random sample of the people in both networks. If they are not, or "
    "if some are wrong, its probabilities do not hold; use Ensemble:seeds_are=chosen then."
)

SIMILARITY = "Rematch, Climb and Ensemble use the similarity of people, as far as it identifies leaked identities."

MODELS = {
    "basic": "each contact goes to one of them",
    "realistic": "a contact goes to one, to several or to none of them",
    "realistic_minimal": "a contact goes to one, if there is room to several, and to none without room",
    "best": "a contact goes to one of them or is dropped",
    "worst": "a contact goes to one or to several of them",
}

COOPERATIONS = {
    "local": "in groups of neighbors",
    "degree": "with most edges in the release",
    "lta": "whose edges are least like those of the friends of their friends (LTA_A)",
}


@dataclass(frozen=True, eq=False)
class DerivedPair:
    """Pair of networks made from one network, see `unmask.graphs.split`.

    Parameters
    ----------
    graph : SocialGraph
        Network of the owner; its node numbers identify people.
    node_overlap, edge_overlap : float
        Overlaps before networks are cut to their largest component.
    separation : protection, optional
        Protection of the release, such as identity separation. At the same overlap, all protections have the same
        networks and adopters.
    largest_component : bool
        Cut both networks to their largest component.
    """

    graph: SocialGraph
    node_overlap: float
    edge_overlap: float
    separation: Any = None
    largest_component: bool = False
    released = None
    similarity = None
    truth_known = True
    truth_partial = False

    @property
    def people(self) -> SocialGraph:
        """The network whose labels identify people."""
        return self.graph

    @property
    def overlap(self) -> tuple[float, float]:
        """Overlaps of nodes and edges."""
        return self.node_overlap, self.edge_overlap

    def runs(self, plan: Plan, _n_seeds: int | None = None) -> int:
        """Return the planned number of runs, because each run draws new networks."""
        return plan.runs

    def seeds_name(self, plan: Plan) -> str:
        """Return the seeding method."""
        return plan.seeds

    def assumptions(self, plan: Plan) -> tuple[str, ...]:
        """Return assumptions about networks and seeds, one sentence each."""
        nodes, edges = (100 * share for share in self.overlap)
        making = f"Both networks are made from one, {plan.runs} times: people and edges are left out of each at random"
        overlap = f"Overlap {self.node_overlap:g}/{self.edge_overlap:g}: {nodes:g} % of the people in either network"
        return (
            f"{making} until the overlap is reached{CUT * self.largest_component}. Real networks may differ.",
            f"{overlap} are in both, and {edges:g} % of the edges among those.",
            f"Leaked identities {_describe_choice(plan.seeds)}.",
            *(() if self.separation is None else (_describe_separation(self.separation, plan),)),
            *left_out("the network", self.graph),
        )

    def pair(self, rng: np.random.Generator) -> Pair:
        """Return the networks of one run with adopters; source labels are numbers of people."""
        cut = self.largest_component
        pair = split(numbered(self.graph), self.node_overlap, self.edge_overlap, rng, largest_component=cut)
        if self.separation is None:
            return pair
        separated = apply_protection(self.separation, pair.target, rng=rng, eligible=pair.truth[pair.common])
        return SeparatedPair.of(pair, separated)

    def coverage(self, truth: Truth) -> dict[str, Any]:
        """Return counts for `Row`: people of the file, people drawn for both networks, and people in both."""
        n_people, n_judged = self.graph.n_nodes, int((truth.candidate >= 0).sum())
        return {"n_people": n_people, "n_drawn": round(self.node_overlap * n_people), "n_judged": n_judged}

    def seeds(self, pair: Pair, plan: Plan, n_seeds: int | None, rng: np.random.Generator) -> SeedPairs:
        """Return the seeds of a run, chosen from people with one identity."""
        single = seed_pair(pair.before, pair.separated) if isinstance(pair, SeparatedPair) else pair
        return _choose_seeds(pair, single, plan.seeds, n_seeds or plan.n_seeds, rng)

    def criteria(self, variants: Iterable[Variant]) -> dict[Variant, NDArray[np.float64]]:
        """Return the local anonymity of each person in the network of the owner, for each variant."""
        return local_anonymities(self.graph, variants)


@dataclass(frozen=True, eq=False)
class GivenPair:
    """Pair of a release and a network that the adversary has; its methods are those of `DerivedPair`.

    Parameters
    ----------
    target, auxiliary : SocialGraph
        Release, and network of the adversary; node numbers of `auxiliary` identify people.
    truth : (auxiliary.n_nodes,) int array, optional
        Target node of each person, -1 for none; None if it is unknown.
    leaked : SeedPairs, optional
        Seeds of the adversary; None if a seeding method chooses them.
    origin : (target.n_nodes,) int array, optional
        Person of each target node, if some people have several, see `Pair`.
    truth_partial, truth_sampled : bool
        True if people without an entry in the truth may be in the release; True if people with an entry are a random
        sample.
    similarity : Similarity, optional
        Node similarity independent of edges.
    """

    target: SocialGraph
    auxiliary: SocialGraph
    truth: NDArray[np.int64] | None = None
    leaked: SeedPairs | None = None
    origin: NDArray[np.int64] | None = None
    truth_partial: bool = False
    similarity: Similarity | None = None
    truth_sampled: bool = False
    overlap = None
    separation = None

    def __post_init__(self) -> None:
        if self.truth is not None and not np.any(self.truth >= 0):
            raise UnmaskError("the truth has 0 people in both graphs, expected at least 1; check its ids")

    @property
    def people(self) -> SocialGraph:
        """The network whose labels identify people."""
        return self.auxiliary

    @property
    def released(self) -> SocialGraph:
        """The release, with its ids."""
        return self.target

    @property
    def truth_known(self) -> bool:
        """True if a truth was given."""
        return self.truth is not None

    def runs(self, plan: Plan, n_seeds: int | None = None) -> int:
        """Return 1 if networks and seeds are the same in each run; otherwise the planned number."""
        is_ranked = self.leaked is None and plan.seeds.partition(".")[0] in RANKED
        return 1 if is_ranked or (self.leaked is not None and n_seeds is None) else plan.runs

    def seeds_name(self, plan: Plan) -> str:
        """Return the seeding method, or "given"."""
        return plan.seeds if self.leaked is None else "given"

    def assumptions(self, plan: Plan) -> tuple[str, ...]:
        """Return assumptions about networks and seeds, one sentence each."""
        return (
            f"Leaked identities {self._describe_seeds(plan)}.",
            *((SAMPLED,) if self.leaked is not None and any(map(_takes_sample, plan.attacks.values())) else ()),
            *(() if self.origin is None else (SEVERAL, OF_RELEASE)),
            "Node numbers are random in each run, so the order of the files has no effect.",
            *(() if self.similarity is None else (SIMILARITY,)),
            *left_out("the release", self.target),
            *left_out("the adversary's network", self.auxiliary),
        )

    def _describe_seeds(self, plan: Plan) -> str:
        if self.leaked is not None:
            return "are those of the file, and there is one run"
        chosen = _describe_choice(plan.seeds)
        chosen += ", from people with one identity" * (self.origin is not None and plan.seeds not in GUESSED)
        if self.runs(plan) > 1:
            return f"{chosen}; each of {plan.runs} runs has others"
        ranked = "; they are the first of a ranking, the same in every run, so there is one run only"
        return chosen + ranked * (plan.runs > 1)

    def pair(self, rng: np.random.Generator) -> Pair:
        """Return the networks with random node numbers."""
        truth = np.full(self.auxiliary.n_nodes, NO_NODE, dtype=np.int64) if self.truth is None else self.truth
        pair = Pair(numbered(self.auxiliary), numbered(self.target), truth, self.origin).shuffled(rng=rng)
        return pair if pair.origin is None else SeparatedPair.of_release(pair)

    def coverage(self, truth: Truth) -> dict[str, Any]:
        """Return counts for `Row`: people of the adversary's network, and people with a known truth."""
        n_people, n_judged = len(truth), int((truth.candidate != UNKNOWN).sum())
        return {
            "n_people": n_people,
            "n_drawn": n_judged if self.truth_sampled else n_people,
            "n_judged": n_judged,
        }

    def seeds(self, pair: Pair, plan: Plan, n_seeds: int | None, rng: np.random.Generator) -> SeedPairs:
        """Return the given seeds or a random subset of them; otherwise seeds chosen from people with one identity."""
        if self.leaked is not None:
            n_given = len(self.leaked.source)
            if n_seeds is not None and n_seeds > n_given:
                raise UnmaskError(f"{n_seeds} seeds are requested, but {n_given} are given; use fewer")
            chosen = rng.permutation(n_given)[:n_seeds]
            nodes = places(pair.source)[self.leaked.source[chosen]], places(pair.target)[self.leaked.target[chosen]]
            return type(self.leaked)(*nodes)
        if self.truth is None and plan.seeds not in GUESSED:
            raise UnmaskError(
                f"seeds by {plan.seeds!r} need the truth, and none was given; give `truth`, `seeds_file`, or "
                f"`seeds` {GUESSED[0]}:{n_seeds or plan.n_seeds}"
            )
        single = replace(pair, truth=np.where(pair.identities == 1, pair.truth, NO_NODE))
        return _choose_seeds(pair, single, plan.seeds, n_seeds or plan.n_seeds, rng)

    def criteria(self, variants: Iterable[Variant]) -> dict[Variant, NDArray[np.float64]]:
        """Return the local anonymity of the first released node of each person; NaN without a truth."""
        if self.truth is None:
            return {variant: np.full(self.auxiliary.n_nodes, np.nan) for variant in variants}
        anonymity = local_anonymities(self.target, variants)
        return {variant: np.append(value, np.nan)[self.truth] for variant, value in anonymity.items()}


NetworkPair = DerivedPair | GivenPair


def pair_name(pair: DerivedPair) -> str:
    """Return the name of the release of a pair: overlaps and protection.

    >>> pair_name(DerivedPair(SocialGraph.from_edges([0], [1]), 0.5, 0.75))
    'overlap 0.5/0.75'
    """
    overlap = f"{pair.node_overlap:g}/{pair.edge_overlap:g}"
    return f"overlap {overlap}" if pair.separation is None else f"{separation_name(pair.separation)} at {overlap}"


def separation_name(separation: Any) -> str:
    """Return model, number of identities, adopters, and the parameters that differ from their default values.

    >>> separation_name(IdentitySeparation("best", 5, cooperation="degree")), separation_name(Decoy(adopters=1.0))
    ('best/5/0.1 cooperation=degree', 'decoy/1.0')
    """
    if not isinstance(separation, IdentitySeparation | Decoy):
        return repr(separation)
    in_model = ("model", "identities", "adopters")
    model = "decoy" if isinstance(separation, Decoy) else f"{separation.model}/{separation.identities}"
    values = {item: getattr(separation, item.name) for item in fields(separation) if item.name not in in_model}
    changed = (f"{item.name}={value}" for item, value in values.items() if value != item.default)
    return " ".join((f"{model}/{separation.adopters}", *changed))


def _describe_separation(separation: Any, plan: Plan) -> str:
    """Describe the adopters, their identities, and the people who may be seeds."""
    if not isinstance(separation, IdentitySeparation | Decoy):
        return f"{separation!r}: {sentence(separation)}"
    is_share = isinstance(separation.adopters, float)
    people = f"{100 * separation.adopters:.4g} %" if is_share else f"{separation.adopters:,}"
    cooperation = "none" if isinstance(separation, Decoy) else separation.cooperation
    single = f"who have at least {separation.minimum_degree} edges in the release, drawn one by one"
    chosen = single if cooperation == "none" else COOPERATIONS[cooperation]
    if isinstance(separation, Decoy):
        method = f"show a decoy to {100 * separation.public:.4g} % of their contacts and hide another identity"
    else:
        refusing = f"but none of the {100 * separation.refuse_top:.4g} % with most edges, who refuse"
        chosen += f", {refusing}" if separation.refuse_top else ""
        number = separation.identities
        noun = "identity" if number == 1 else "identities"
        law = f" ({number.smallest} to {number.largest}, by a power law)" if isinstance(number, PowerLaw) else ""
        method = f"appear under {number} {noun}{law} each (no more than contacts) by the model "
        method += f"{separation.model}: {MODELS[separation.model]}"
    leaked = "" if plan.seeds in GUESSED else " Leaked identities are of other people."
    name = separation_name(separation)
    return f"{name}: {people} of the people in both networks {chosen}, {method}.{leaked} {SEVERAL}"


def _describe_choice(method: str) -> str:
    if method in GUESSED:
        return "are guessed from their surroundings, without the truth; some may be wrong"
    return "are right, and are drawn with the truth at hand"


def left_out(name: str, graph: SocialGraph) -> tuple[str, ...]:
    """Describe the parts of the file that no attack uses."""
    return (f"Of {name}, {graph.dropped}: attacks use edges only.",) if str(graph.dropped) else ()


def numbered(graph: SocialGraph) -> SocialGraph:
    """Return the graph with node numbers as labels."""
    return replace(graph, labels=np.arange(graph.n_nodes))


def list_ids(graph: SocialGraph) -> list[str]:
    """Return the ids of the nodes, as texts."""
    return [str(name) for name in (range(graph.n_nodes) if graph.labels is None else graph.labels)]


def _takes_sample(attack: Attack) -> bool:
    return isinstance(attack, Ensemble) and attack.seeds_are == "sample"


def places(graph: SocialGraph) -> NDArray[np.int64]:
    """Return the current node of each number."""
    assert graph.labels is not None
    return np.argsort(graph.labels)


def _choose_seeds(pair: Pair, single: Pair, method: str, n_seeds: int, rng: np.random.Generator) -> SeedPairs:
    """Return seeds by a method; `single` is the pair restricted to people with one identity."""
    if method == "match_profiles":
        return match_profiles(pair.source, pair.target, n_seeds, rng=rng)
    if method == "match_top":
        return match_top(pair.source, pair.target, n_seeds)
    if method == "match_cliques":
        return match_cliques(pair.source, pair.target, n=n_seeds, rng=rng)
    if len(pair.common) and not len(single.common):
        raise UnmaskError(
            f"seeds by {method!r} are chosen from people with one identity, and all {len(pair.common)} people in both "
            f"graphs have several; use fewer adopters, or seeds without the truth (`seeds` {GUESSED[0]}:{n_seeds})"
        )
    return select_seeds(single, method, n_seeds, rng)
