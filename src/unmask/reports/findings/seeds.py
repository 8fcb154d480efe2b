"""How a report speaks of the people whom an adversary of a network has found, or guessed, before they start."""

from __future__ import annotations

SEEDS = {
    "random": "drawn",
    "top": "those with most edges",
    "clique": "cliques of {size}",
    "neighborhood": "groups of {size} around one person",
    "betweenness": "highest betweenness",
    "closeness": "highest closeness",
    "lta": "lowest local anonymity",
    "clustering": "highest clustering",
    "match_top": "those with most edges in either network, taken for each other without the truth; some may be wrong",
    "match_cliques": "cliques that look alike, taken for each other without the truth; some may be wrong",
}
"""Way of choosing seeds -> words; others show the name they were filed under."""

GUESSED = ("match_top", "match_cliques")
"""Ways of choosing seeds that need no truth: the adversary believes, and does not know, who they are."""


def seed_words(seeds: str) -> str:
    """How seeds were chosen, in words; digits behind the dot are decimals, but for the size of a group.

    >>> seed_words("random.5"), seed_words("clique.4.05"), seed_words("leaked.csv")
    ('drawn among the 50 % with most edges', 'cliques of 4 among the 5 % with most edges', 'leaked.csv')
    """
    name, *parts = seeds.split(".")
    words = SEEDS.get(name, "")
    grouped = "{size}" in words
    if not words or len(parts) not in ((1, 2) if grouped else (0, 1)) or not all(part.isdecimal() for part in parts):
        return seeds
    said = words.format(size=parts.pop(0)) if grouped else words
    if parts:
        return f"{said} among the {100 * float(f'0.{parts[0]}'):g} % with most edges"
    return "drawn at random" if name == "random" else said


def leaked(n: int, *, guessed: bool = False) -> str:
    """So many leaked identities, or guessed ones.

    >>> leaked(1), leaked(1000, guessed=True)
    ('1 leaked identity', '1,000 guessed identities')
    """
    return f"{n:,} {'guessed' if guessed else 'leaked'} identit{'y' if n == 1 else 'ies'}"
