"""Sentences about seeds: how they are chosen, and from how few of them an attack spreads."""

from __future__ import annotations

from unmask.graphs.audit.facts import GUESSED, MIN_STABLE, AttackFacts, GraphFacts, find_stable_by
from unmask.languages import gettext as _
from unmask.results.formats import percent
from unmask.results.words import join_names

SEEDS = {
    "random": "drawn",
    "top": "those with most edges",
    "clique": "cliques of {size}",
    "neighborhood": "groups of {size} around one person",
    "betweenness": "highest betweenness",
    "closeness": "highest closeness",
    "lta": "lowest local anonymity",
    "clustering": "highest clustering",
    "match_profiles": "people with similar surroundings, matched without the truth; some may be wrong",
    "match_top": "people with most edges in either network, matched without the truth; some may be wrong",
    "match_cliques": "cliques that look alike, matched without the truth; some may be wrong",
}
"""Method of choosing seeds -> words."""


def describe_seeds(seeds: str) -> str:
    """Write a method of choosing seeds in words; digits after the dot are decimals, except for the size of a group.

    >>> describe_seeds("random.5"), describe_seeds("clique.4.05"), describe_seeds("leaked.csv")
    ('drawn among the 50 % with most edges', 'cliques of 4 among the 5 % with most edges', 'leaked.csv')
    """
    name, *parts = seeds.split(".")
    words = SEEDS.get(name, "")
    is_group = "{size}" in words
    if not words or len(parts) not in ((1, 2) if is_group else (0, 1)) or not all(part.isdecimal() for part in parts):
        return seeds
    method = words.format(size=parts.pop(0)) if is_group else words
    if parts:
        return f"{method} among the {100 * float(f'0.{parts[0]}'):g} % with most edges"
    return "drawn at random" if name == "random" else method


def count_seeds(n: int, seeds: str) -> str:
    """Write a number of leaked or guessed identities.

    >>> count_seeds(1, "random"), count_seeds(1000, "match_top")
    ('1 leaked identity', '1,000 guessed identities')
    """
    if seeds in GUESSED:
        return _("1 guessed identity") if n == 1 else _("{n} guessed identities", n=n)
    return _("1 leaked identity") if n == 1 else _("{n} leaked identities", n=n)


def needed_seeds(facts: GraphFacts) -> str:
    """Return from how few seeds each attack spreads through the network, the one that needs fewest first.

    With several methods of choosing seeds, return from how few by each method the strongest attack spreads.
    """
    if not facts.transition:
        return ""
    if len(facts.seed_methods) > 1:
        return _compare_methods(facts)
    stable = find_stable_by(facts.transition, "attack")
    enough = [point for point in stable.values() if point is not None]
    enough.sort(key=lambda point: (point.n_seeds, -(point.recall or point.coverage)))
    never = [name for name, point in stable.items() if point is None]
    max_seeds, seeds = max(point.n_seeds for point in facts.transition), facts.transition[0].seeds
    if not enough:
        return (
            f"With up to {count_seeds(max_seeds, seeds)} no attack spreads through the network in "
            f"{percent(MIN_STABLE, 0)} of the runs."
        )
    clauses = [_describe_enough(enough[0])]
    clauses += [f"{point.attack} needs {point.n_seeds:,}" for point in enough[1:]]
    clauses += [f"{max_seeds:,} are too few for {join_names(never)}"] if never else []
    return "; ".join(clauses) + "."


def _compare_methods(facts: GraphFacts) -> str:
    attack = facts.first.attack
    points = [point for point in facts.transition if point.attack == attack]
    stable = find_stable_by(points, "seeds")
    enough = sorted((point for point in stable.values() if point is not None), key=lambda point: point.n_seeds)
    never = [method for method, point in stable.items() if point is None]
    sentences = []
    if enough:
        numbers = join_names([f"{point.n_seeds:,} by {point.seeds}" for point in enough])
        sentences.append(
            f"Seeds from which {attack} spreads in at least {percent(MIN_STABLE, 0)} of the runs: {numbers}."
        )
    if never:
        sentences.append(f"{max(point.n_seeds for point in points):,} seeds are too few by {join_names(never)}.")
    return " ".join(sentences)


def _describe_enough(point: AttackFacts) -> str:
    runs = {1: "its only run", 2: "both runs"}.get(point.runs, f"all {point.runs:,} runs")
    if point.spread_in < point.runs:
        runs = f"{point.spread_in:,} of {point.runs:,} runs"
    verb = "is" if point.n_seeds == 1 else "are"
    reach = f"matches {percent(point.coverage)}"
    if point.recall is not None:
        reach = f"re-identifies {percent(point.recall)}"
    seeds = count_seeds(point.n_seeds, point.seeds)
    return f"{seeds} {verb} enough for {point.attack} to spread through the network in {runs}, where it {reach}"
