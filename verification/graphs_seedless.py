"""Attacks without seeds: first matches by surroundings, and what an attack makes of them."""

from __future__ import annotations

import numpy as np
from graphs_draws import PAIRS, likeliest
from graphs_runs import percent, rng_of
from show import Section, Verdict

from unmask.core.errors import UnmaskError
from unmask.graphs import Auxiliary, Pair, Rematch, datasets, match_profiles


def seedless(n: int = 200) -> Section:
    """Without a leak: first matches by surroundings, and what an attack makes of them; and networks of other people."""
    pairs = {name: datasets.pair(name) for name in PAIRS}
    others = datasets.network("ca-grqc"), datasets.network("ca-hepth")
    pairs["nobody in both"] = Pair(*others, np.full(others[0].n_nodes, -1))
    found = {name: _guessed(pair.shuffled(rng=rng_of("seedless", name)), n) for name, pair in pairs.items()}
    return Section(
        title=f"Without seeds: {n} guesses, and forced Rematch from them",
        header=("pair", "guesses right", "Hits@1", "what speaks for them"),
        rows=tuple((name, percent(right), percent(hits), said) for name, (said, right, hits) in found.items()),
        notes=("0.0: nothing is guessed.",),
        verdicts=tuple(
            Verdict(
                f"{name}: nine of ten guesses right, or refused", "-", said[:35], right >= 0.9 or "expected" in said
            )
            for name, (said, right, _) in found.items()
        ),
    )


def _guessed(pair: Pair, n: int) -> tuple[str, float, float]:
    """What speaks for the guesses, the share right, and Hits@1; or why there are none, and zeros."""
    try:
        seeds = match_profiles(pair.source, pair.target, n, rng=rng_of("guesses"))
    except UnmaskError as error:
        return str(error), 0.0, 0.0
    found = likeliest(Rematch(forced=True)(pair.target, Auxiliary(pair.source, seeds)))
    there = np.setdiff1d(pair.common, seeds.source)
    right = float(np.mean(pair.truth[seeds.source] == seeds.target))
    return seeds.said, right, float(np.mean(found[there] == pair.truth[there])) if len(there) else 0.0
