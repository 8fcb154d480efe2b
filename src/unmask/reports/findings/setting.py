"""What a reader must know before the rates of attacks on a network: who holds what, and what was not checked."""

from __future__ import annotations

from unmask.reports.facts.graph import GraphRisk
from unmask.reports.findings.graph import GUESSED
from unmask.results.words import listed


def setting(graph: GraphRisk) -> str:
    """What the adversary holds, what they see, and who is in both."""
    own = f"{graph.source_nodes:,} people and {graph.source_edges:,} edges"
    seen = f"{graph.target_nodes:,} people and {graph.target_edges:,} edges"
    least = "At least " if graph.truth_partial else ""
    both = "" if graph.common is None else f" {least}{graph.common:,} people are in both."
    start = "leaked identities, the seeds: people of whom they know who they are in the release"
    if all(attack.seeds in GUESSED for attack in graph.attacks):
        start = "seeds: people of whom they guess by their looks who they are in the release"
    how = f"edges, and by how similar they are ({graph.similar:,} pairs)" if graph.similar else "edges alone"
    return (
        f"The adversary holds a network of their own, with names: {own}. They see the released network, without names: "
        f"{seen}.{both} They start from {start}, and find the others by their {how}."
    )


def cautions(graph: GraphRisk) -> list[str]:
    """What a reader must know to trust the rates."""
    said = []
    if not graph.truth_known:
        said.append(
            "Nothing was checked against the truth, so that it is not known how many matches are right; the scores of "
            "attacks but Ensemble are no probabilities."
        )
    if graph.truth_partial:
        said.append(
            "The truth is partial: people without an entry in it are neither right nor wrong. Shares of right matches "
            "are over people with an entry."
        )
    torn = [attack for attack in graph.attacks if 0 < attack.spread_in < attack.runs]
    if torn:
        names = listed(list(dict.fromkeys(attack.attack for attack in torn)))
        said.append(
            f"In some runs {names} spread{'s' if len({a.attack for a in torn}) == 1 else ''} through the network, in "
            "others not. Rates are means over both kinds of runs: read in how many runs it spread beside them."
        )
    return said
