"""What the ensemble makes of a similarity of people: an informative one, a useless one, and names."""

from __future__ import annotations

import numpy as np
from graphs_draws import SEEDS, WITHIN, error_of
from graphs_made import thinned
from graphs_names import catalogs
from graphs_runs import percent, rng_of
from numpy.typing import NDArray
from show import Section, Verdict

from unmask.graphs import Auxiliary, Ensemble, Pair, Similarity, datasets, select_seeds


def similarity(n: int = 400, n_seeds: int = 100) -> Section:
    """Two networks of the same people that share no edge but by chance, and a similarity; and a useless one."""
    rng = rng_of("similarity")
    seeds = np.arange(n_seeds)
    people, everyone = np.arange(n_seeds, n), np.indices((n, n))
    strangers = Pair(*(datasets.erdos_renyi(n, 8 / n, rng=rng) for _ in range(2)), np.arange(n))
    score, noise = rng.normal(size=(n, n)) + 3 * np.eye(n), rng.normal(size=(n, n))
    graph = datasets.chung_lu(datasets.power_law_degrees(n, exponent=2.5, mean=8), rng=rng)
    friends = thinned(graph, 0.7, rng)
    alone = float(np.mean(score.argmax(axis=1)[people] == people))
    told = [Similarity(*(side.ravel() for side in everyone), one.ravel()) for one in (score, noise)]
    found = {
        "no shared edge, informative": _right(strangers, seeds, told[0]),
        "no shared edge, none": _right(strangers, seeds, None),
        "70 % of edges shared, useless": _right(friends, seeds, told[1]),
        "70 % of edges shared, none": _right(friends, seeds, None),
    }
    best, off = found["no shared edge, informative"]
    lost = found["70 % of edges shared, none"][0] - found["70 % of edges shared, useless"][0]
    guess, promised = found["no shared edge, none"]
    return Section(
        title=f"A similarity that the adversary has, {n} people, {n_seeds} of them seeds",
        header=("networks and similarity", "Hits@1", "announced minus realized"),
        rows=tuple((name, percent(hits), percent(gap)) for name, (hits, gap) in found.items()),
        notes=(f"The most similar candidate alone is right of {percent(alone)} %.",),
        verdicts=(
            Verdict("an informative similarity is used", percent(alone), percent(best), best >= alone - 0.01),
            Verdict(
                "and is announced as it is, within its error", "-", percent(off), abs(off) <= error_of(best, n_seeds)
            ),
            Verdict("a useless one loses nothing", "-", percent(lost), lost <= 0.02),
            Verdict("without information, guesses", "-", percent(guess), guess <= 0.02),
            Verdict("and says so", "-", percent(promised + guess), promised + guess <= 0.05),
        ),
    )


def names(share: float = SEEDS) -> Section:
    """Co-authors by misspelled names in two catalogs, which have hardly an edge in common."""
    rng = rng_of("names")
    pair, alike = catalogs(rng)
    seeds = select_seeds(pair, "random", round(share * len(pair.common)), rng)
    others = rng.permutation(pair.target.n_nodes)
    useless = Similarity(alike.source, others[alike.target], alike.weight)
    found = {
        said: _right(pair, seeds.source, known)
        for said, known in {"names": alike, "names of others": useless, "none": None}.items()
    }
    people = np.setdiff1d(pair.common, seeds.source)
    alone = float(np.mean(_most_alike(alike, pair.source.n_nodes)[people] == pair.truth[people]))
    best, off = found["names"]
    lost = found["none"][0] - found["names of others"][0]
    return Section(
        title=f"Names with spelling mistakes, {percent(pair.edge_overlap)} % of the edges in both: {pair!r}",
        header=("similarity", "Hits@1", "announced minus realized"),
        rows=tuple((said, percent(hits), percent(gap)) for said, (hits, gap) in found.items()),
        notes=(f"The most similar name alone is right of {percent(alone)} %.",),
        verdicts=(
            Verdict("names: no less than the most similar name", percent(alone), percent(best), best >= alone - 0.01),
            Verdict("names: announced within 3 points", "-", percent(off), abs(off) <= WITHIN),
            Verdict("names of others lose nothing", "-", percent(lost), lost <= 0.02),
        ),
    )


def _most_alike(alike: Similarity, n: int) -> NDArray[np.int64]:
    """(n,) the most similar target node of each source node, -1 without a line."""
    order = np.lexsort((-alike.weight, alike.source))
    first = order[np.flatnonzero(np.diff(alike.source[order], prepend=-1))]
    found = np.full(n, -1, dtype=np.int64)
    found[alike.source[first]] = alike.target[first]
    return found


def _right(pair: Pair, seeds: NDArray[np.int64], known: Similarity | None) -> tuple[float, float]:
    """Hits@1, and announced minus realized."""
    belief = Ensemble()(pair.target, Auxiliary(pair.source, (seeds, pair.truth[seeds]), known))
    people = np.setdiff1d(np.arange(pair.source.n_nodes), seeds)
    hits = float(np.mean(belief.mapping[people] == pair.truth[people]))
    return hits, float(np.nan_to_num(belief.if_there[people]).mean()) - hits
