"""What is measured of attacks on graphs, always against the truth."""

from __future__ import annotations

from typing import Literal

from unmask.measures.registry import Quantity, declare_all


def _rate(name: str, label: str, meaning: str, direction: Literal["high", "low"] = "high") -> Quantity:
    return Quantity(name, label, meaning, "share", direction, range=(0.0, 1.0))


declare_all(
    Quantity(
        "error_hops",
        "Distance to the right person",
        "edges from the match to the right person",
        "hops",
        "low",
    ),
    _rate("disclosure", "Disclosed", "share of the contacts of people with several identities that the attack tells"),
    _rate("adopter_recall", "Adopters found", "share of the people with several identities found by one of them"),
    _rate("decoyed", "Decoy found", "share of the people with a decoy who are found by it, the node that they show"),
    _rate("exposed", "Hidden node found", "share of the people with a decoy who are found by the node that they hide"),
    _rate("discovery", "Identities found", "share of runs that find an identity, mean over those sought one at a time"),
    Quantity(
        "discovery_score", "Discovery score", "runs that find an identity less runs that match another node", "runs"
    ),
    _rate("reversed", "Separation undone", "share of people all of whose identities every run finds, one at a time"),
    needs_truth=True,
)
