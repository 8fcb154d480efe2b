"""The ensemble with a similarity of people: an informative one, a useless one, and names."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from generated_pairs import chung_lu, drop_edges
from graphs_draws import SEED_SHARE, TOLERANCE, allowed_error, measure_ensemble
from graphs_runs import rng_of
from scipy import sparse
from show import Section, Verdict, percent

from unmask.graphs import Pair, SeedPairs, Similarity, datasets, select_seeds

MIN_COSINE = 0.3
"""Cosine of names from which on two people are a line of the similarity."""


def verify_similarity(n: int = 400, n_seeds: int = 100) -> Section:
    """Test two networks of the same people that share no edge but by chance, and a similarity; and a useless one."""
    rng = rng_of("similarity")
    strangers = Pair(*(datasets.erdos_renyi(n, 8 / n, rng=rng) for _ in range(2)), np.arange(n))
    score, noise = rng.normal(size=(n, n)) + 3 * np.eye(n), rng.normal(size=(n, n))
    friends = drop_edges(chung_lu(rng, n, 8), 0.7, rng)
    people, seeds = np.arange(n_seeds, n), SeedPairs(np.arange(n_seeds), np.arange(n_seeds))
    nearest = float(np.mean(score.argmax(axis=1)[people] == people))
    informative, useless = (Similarity(*np.indices((n, n)).reshape(2, -1), each.ravel()) for each in (score, noise))
    results = {
        "no shared edge, informative": measure_ensemble(strangers, seeds, informative),
        "no shared edge, none": measure_ensemble(strangers, seeds),
        "70 % of edges shared, useless": measure_ensemble(friends, seeds, useless),
        "70 % of edges shared, none": measure_ensemble(friends, seeds),
    }
    (hits, difference), (guess, guess_difference), with_useless, without = results.values()
    loss, announced = without[0] - with_useless[0], guess_difference + guess
    return Section(
        f"A similarity that the adversary has, {n} people, {n_seeds} of them seeds",
        ("networks and similarity", "Hits@1", "announced minus realized"),
        ((name, *map(percent, rates)) for name, rates in results.items()),
        (f"The most similar candidate is right for {percent(nearest)} %.",),
        (
            Verdict("an informative similarity is used", percent(nearest), percent(hits), hits >= nearest - 0.01),
            Verdict(
                "and announced is realized, within its error",
                "-",
                percent(difference),
                abs(difference) <= allowed_error(hits, n_seeds),
            ),
            Verdict("a useless one loses nothing", "-", percent(loss), loss <= 0.02),
            Verdict("without information, guesses", "-", percent(guess), guess <= 0.02),
            Verdict("and announces little", "-", percent(announced), announced <= 0.05),
        ),
    )


def verify_names() -> Section:
    """Test co-authors by misspelled names in two catalogs, which have hardly an edge in common."""
    rng = rng_of("names")
    pair, names = make_catalogs(rng)
    seeds = select_seeds(pair, "random", round(SEED_SHARE * len(pair.common)), rng)
    useless = Similarity(names.source, rng.permutation(pair.target.n_nodes)[names.target], names.weight)
    similarities = {"names": names, "names of others": useless, "none": None}
    results = {text: measure_ensemble(pair, seeds, similarity) for text, similarity in similarities.items()}
    people = np.setdiff1d(pair.common, seeds.source)
    nearest = float(np.mean(_match_most_similar(names, pair.source.n_nodes)[people] == pair.truth[people]))
    (hits, difference), loss = results["names"], results["none"][0] - results["names of others"][0]
    return Section(
        f"Names with spelling mistakes, {percent(pair.edge_overlap)} % of the edges in both: {pair!r}",
        ("similarity", "Hits@1", "announced minus realized"),
        ((text, *map(percent, rates)) for text, rates in results.items()),
        (f"The most similar name is right for {percent(nearest)} %.",),
        (
            Verdict(
                "names: no less than the most similar name", percent(nearest), percent(hits), hits >= nearest - 0.01
            ),
            Verdict("names: announced within 3 points", "-", percent(difference), abs(difference) <= TOLERANCE),
            Verdict("names of others lose nothing", "-", percent(loss), loss <= 0.02),
        ),
    )


def _match_most_similar(similarity: Similarity, n: int) -> np.ndarray:
    """Return (n,) the most similar target node of each source node, -1 without a line."""
    order = np.lexsort((-similarity.weight, similarity.source))
    first = order[np.flatnonzero(np.diff(similarity.source[order], prepend=-1))]
    matches = np.full(n, -1, dtype=np.int64)
    matches[similarity.source[first]] = similarity.target[first]
    return matches


# --- names -----------------------------------------------------------------------------------------------------------


def make_catalogs(rng: np.random.Generator) -> tuple[Pair, Similarity]:
    """Return co-authors of CA-GrQc as two catalogs list them, and the similarity of their names.

    Each edge is in one catalog, and one in twenty in both. One catalog has names of the originals of FEBRL 4, the other
    those of the duplicates, with their spelling mistakes; first names are initials. Similarity is the cosine of the
    trigrams of the names, weighted by rarity.
    """
    graph = datasets.network("ca-grqc")
    graph = graph.take(graph.largest_component())
    first, both = rng.random(graph.n_edges) < 0.5, rng.random(graph.n_edges) < 0.05
    source, target = (graph.with_edges(np.flatnonzero(side | both)) for side in (first, ~first))
    order = rng.permutation(graph.n_nodes)
    pair = Pair(source, target.take(order), np.argsort(order))
    catalogs = [_read_names(f"febrl_dataset4{side}.csv.gz") for side in "ab"]
    people = rng.permutation(sorted(catalogs[0].keys() & catalogs[1].keys()))[: graph.n_nodes]
    similarity = _compare_names(*([catalog[person] for person in people] for catalog in catalogs))
    return pair, similarity.renumbered(np.arange(graph.n_nodes), pair.truth)


def _read_names(file: str) -> dict[str, str]:
    """Return number of the person -> initial and last name."""
    path = Path(os.environ["UNMASK_DATA"]) / "tables" / "linkage" / file
    with gzip.open(path, "rt", newline="") as lines:
        rows = list(csv.DictReader(lines, skipinitialspace=True))
    return {row["rec_id"].split("-")[1]: f"{row['given_name'][:1]} {row['surname']}" for row in rows}


def _compare_names(names: Sequence[str], others: Sequence[str]) -> Similarity:
    number: dict[str, int] = {}
    cells = [
        (row, number.setdefault(trigram, len(number)))
        for row, name in enumerate([*names, *others])
        for trigram in {f"  {name} "[i : i + 3] for i in range(len(name) + 1)}
    ]
    rows, columns = zip(*cells, strict=True)
    counts = sparse.csr_array((np.ones(len(cells)), (rows, columns)))
    weighted = counts @ sparse.diags_array(np.log(counts.shape[0] / counts.sum(axis=0)))
    unit = sparse.diags_array(1 / np.sqrt(np.asarray((weighted**2).sum(axis=1)))) @ weighted
    cosine = sparse.coo_array(unit[: len(names)] @ unit[len(names) :].T)
    selected = cosine.data > MIN_COSINE
    source, target = (side[selected].astype(np.int64) for side in (cosine.row, cosine.col))
    return Similarity(source, target, cosine.data[selected])
