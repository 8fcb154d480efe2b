"""Assumptions and cautions of a network audit, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from unmask.graphs import Attack, Bumblebee, Ensemble, Grasshopper, Nar09, SeedPairs, SocialGraph
from unmask.graphs.audit.attack_plan import Plan
from unmask.graphs.audit.network_pairs import GivenPair, NetworkPair
from unmask.graphs.seeds import Guessed, Listed
from unmask.graphs.utility import two_sided
from unmask.measures.rates import MIN_SPREAD
from unmask.results.formats import percent


def assumptions(pairs: Mapping[str, NetworkPair], plan: Plan, seeds: Mapping[str, SeedPairs]) -> tuple[str, ...]:
    """Return assumptions about networks, seeds and rates; `seeds` are those of the first run on each release."""
    pair_sentences = dict.fromkeys(sentence for pair in pairs.values() for sentence in pair.assumptions(plan))
    guessed = (
        f"{item.evidence} ({name})" for name, item in seeds.items() if isinstance(item, Guessed) and item.evidence
    )
    return (*pair_sentences, *_rate_assumptions(pairs, plan), *guessed)


def _rate_assumptions(pairs: Mapping[str, NetworkPair], plan: Plan) -> Iterator[str]:
    name, pair = next(iter(pairs.items()))
    if not pair.truth_known:
        yield "It is unknown which matches are right. Scores are not probabilities, except those of Ensemble."
        yield f"An attack has spread if it matches at least {percent(MIN_SPREAD, 0)} of the people without seeds."
        return
    spread = f"re-identifies at least {percent(MIN_SPREAD, 0)} of the people in both networks"
    yield f"An attack has spread in a run if it {spread}."
    yield "Rates are means over all runs, including those in which an attack does not spread; seeds are left out."
    if pair.truth_partial:
        yield "The truth is partial: people without an entry in it are neither right nor wrong."
    has_ensemble = any(isinstance(attack, Ensemble) for attack in plan.attacks.values())
    yield (
        "The score of a match is the probability that the model of the attack Rematch gives it, which any adversary "
        f"can compute.{' Ensemble computes its own scores.' * has_ensemble} How many matches of a score "
        "are right is counted."
    )
    yield "Predictors are compared with the share of attacks and runs that re-identify a person."
    if plan.transition and len(pairs) > 1:
        yield f"Numbers of leaked identities are tried on {name}."


def describe_variant(attack: Attack) -> str:
    """Return the form of an attack that was printed in one form and programmed in another; "" for other attacks.

    >>> describe_variant(Nar09(synchronous=False)), describe_variant(Grasshopper())
    (' (printed form: node after node)', " (weights of its authors' program)")
    """
    if isinstance(attack, Nar09 | Bumblebee):
        return f" ({'synchronous form' if attack.synchronous else 'printed form: node after node'})"
    if isinstance(attack, Grasshopper):
        return f" ({'printed weights' if attack.weighting == 'printed' else AUTHORS})"
    return ""


AUTHORS = "weights of its authors' program"


def cautions(pair: NetworkPair) -> Iterator[str]:
    """Yield cautions about wrong or unknown seeds, data that no attack uses, and nodes that may not be people."""
    if isinstance(pair, GivenPair):
        yield from _check_seeds(pair)
    if pair.similarity is None:  # a similarity is knowledge besides edges
        yield from describe_unused(pair.people) if pair.released is None else describe_unused(pair.released, "release")
    yield from describe_two_sides(*(graph for graph in (pair.people, pair.released) if graph is not None))


def describe_unused(graph: SocialGraph, name: str = "network") -> Iterator[str]:
    """Yield cautions about attributes of the file that no attack and no criterion uses."""
    if names := graph.dropped.besides_edges:
        consequence = "an adversary who knows more than edges may re-identify more people"
        yield f"Attacks use edges alone. The {name} also has {names}: {consequence}."


def describe_two_sides(*graphs: SocialGraph) -> Iterator[str]:
    """Yield a caution if the nodes of one side of a network may not be people."""
    if any(map(two_sided, graphs)):
        yield (
            "Every edge joins one side of the network to the other, as in a list of people and their groups or events: "
            "if the nodes of one side are not people, they are still counted as people."
        )


def _check_seeds(pair: GivenPair) -> Iterator[str]:
    """Yield how many given seeds are not in both networks, and how many are wrong according to the truth."""
    if isinstance(pair.leaked, Listed) and pair.leaked.evidence:
        yield f"Of the file of leaked identities, {pair.leaked.evidence}."
    if pair.leaked is None or pair.truth is None:
        return
    truth, image = pair.truth[pair.leaked.source], pair.leaked.target
    person = np.arange(pair.target.n_nodes) if pair.origin is None else pair.origin
    is_wrong = (truth >= 0) & (person[truth] != person[image])
    if not pair.truth_partial:
        is_wrong |= truth < 0
    if n_wrong := int(is_wrong.sum()):
        verb = "is" if n_wrong == 1 else "are"
        wrongly = f"{n_wrong:,} of {len(image):,} leaked identities {verb} wrong"
        yield f"By the truth, {wrongly}; the adversary takes them for right."
