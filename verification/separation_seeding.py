"""Figures 5.1 to 5.5: effect of separated identities on seeding by cliques and by top degrees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from graphs_runs import MAIN, network, rng_of
from separation_runs import compare
from show import Section, Verdict, percent, percents

from unmask.graphs import IdentitySeparation, SocialGraph
from unmask.graphs.criteria import clique_failure, intact_cliques, top_border, top_failure

SAMPLES = {"full graph of 100": 100, "slashdot": 800, "epinions": 500}
"""Nodes of each sample, those of the highest degree. The source does not state how it drew its samples."""

LEVELS = (0.1, 0.2, 0.4, 0.6)
RUNS = 12
PUBLISHED = {"full graph of 100": 0.5522, "slashdot": 0.5226, "epinions": 0.5127}
TOP = 1000


def verify_cliques() -> Section:
    """Figure 5.1: compare the share of 4-cliques that survive separation into two even identities."""
    graphs = {name: _sample(name, n) for name, n in SAMPLES.items()}
    counts = {name: count_four_cliques(graph) for name, graph in graphs.items()}
    shares = {
        (name, level): [
            count_four_cliques(_separate(graph, level, rng_of(name, level, run))) / counts[name] for run in range(RUNS)
        ]
        for name, graph in graphs.items()
        for level in LEVELS
    }
    means = {key: float(np.mean(values)) for key, values in shares.items()}
    rows = [(name, counts[name], *(percent(means[name, level]) for level in LEVELS)) for name in SAMPLES]
    rows.append(("expected, (5.4) with p = 1/2", "", *(percent(intact_cliques(x, 4, [0.5, 0.5])) for x in LEVELS)))
    rows.append(("theoretical limit, (5.4)", "", *(percent(intact_cliques(x)) for x in LEVELS)))
    return Section(
        f"Figure 5.1: 4-cliques left, percent, by P(Y = 2); mean of {RUNS} runs",
        ("graph", "4-cliques", *map(str, LEVELS)),
        rows,
        ("Samples: nodes of the highest degree.",),
        (*_clique_shares(shares), *_clique_orders(means, counts)),
    )


def _sample(name: str, n: int) -> SocialGraph:
    if name not in MAIN:
        return SocialGraph.from_edges(*np.triu_indices(n, 1))
    graph = network(name)
    return graph.take(np.argsort(-graph.degree, kind="stable")[:n])


def _separate(graph: SocialGraph, level: float, rng: np.random.Generator) -> SocialGraph:
    """Give each node, independently, two identities with this probability."""
    return IdentitySeparation("basic", (1 - level, level), adopters=1.0, minimum_degree=1)(graph, rng=rng).release


def count_four_cliques(graph: SocialGraph) -> int:
    """Count triangles among the later neighbors of each node, in the order of the degrees."""
    graph = graph.take(np.argsort(graph.degree, kind="stable"))
    matrix = graph.adjacency().toarray().astype(np.float32)
    total = 0.0
    for node in range(graph.n_nodes):
        later = graph.neighbors(node)
        later = later[later > node]
        if len(later) > 2:
            block = matrix[np.ix_(later, later)]
            total += float(((block @ block) * block).sum(dtype=np.float64))
    return round(total / 6)


def _clique_shares(shares: dict[tuple[str, float], list[float]]) -> Iterator[Verdict]:
    expected = intact_cliques(0.2, 4, [0.5, 0.5])
    for name, published in PUBLISHED.items():
        values = np.array(shares[name, 0.2])
        mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
        yield compare(
            f"4-cliques left with P(Y = 2) = 0.2, {name}",
            f"reads {percent(published)}",
            f"{percent(mean)} +- {percent(1.96 * error)} ({percent(values.min())}-{percent(values.max())} in a run)",
            values.min() <= published <= values.max() and abs(mean - expected) < 3 * error,
        )


def _clique_orders(means: dict[tuple[str, float], float], counts: dict[str, int]) -> Iterator[Verdict]:
    expected = intact_cliques(0.2, 4, [0.5, 0.5])
    at_02 = {name: means[name, 0.2] for name in SAMPLES}
    yield compare(
        "all graphs fall alike: at 0.2 they differ no more than the published three",
        'reads "almost in the same pace", 51.27 to 55.22',
        percents(**at_02),
        np.ptp(list(at_02.values())) <= np.ptp(list(PUBLISHED.values())),
    )
    yield compare(
        "more are left than the limit, as a person who separates may leave a clique whole",
        'reads "theoretical limit"',
        f"{percent(intact_cliques(0.2))} against {percent(expected)}",
        all(means[name, level] > intact_cliques(level) for name, level in means),
    )
    by_cliques = sorted(SAMPLES, key=lambda name: counts[name])
    falls = [bool(np.all(np.diff([means[name, level] for name in by_cliques]) < 0)) for level in LEVELS]
    yield compare(
        "graphs with more cliques degrade faster, at every level",
        'reads "slightly faster"',
        f"in {sum(falls)} of {len(LEVELS)} levels",
        all(falls),
        why=f"the expectation, {percent(expected)} at 0.2, is the same for every graph",
        refutes=True,
    )


def verify_formulas() -> Section:
    """Figures 5.2 to 5.4: compute the probability that seeding by 4-cliques fails."""
    degrees, firsts = (10, 50, 100, 250, 1000), (0.05, 0.1, 0.2, 0.3, 0.5)
    rows = (
        (
            f"{model}, p = {p:g}, {1 - p:g}",
            *(f"{value:.3f}" for value in clique_failure(degrees, [p, 1 - p], model=model)),
        )
        for model in ("basic", "realistic")
        for p in firsts
    )
    title = "Figures 5.2 to 5.4: failure of 4-clique seeding by degree, two identities, tolerance 0.05"
    return Section(title, ("model", *map(str, degrees)), rows, (), (*_basic_formulas(), *_realistic_formulas()))


def _basic_formulas() -> Iterator[Verdict]:
    failure = clique_failure(100, [0.1, 0.9])
    yield compare("basic, Y = 2, p = 0.1, N = 100", "reads 0.949", f"{failure:.4f}", abs(failure - 0.949) < 1e-3)
    failure = clique_failure(10, [0.5, 0.5])
    claim = "as high even for few contacts, N = 10, p = 1/2"
    yield compare(claim, 'reads "conveniently high", as 0.949 at N = 100', f"{failure:.3f}", failure >= 0.949)
    loss = {
        p: clique_failure(100, [p, 1 - p], 4, 0.001) - clique_failure(100, [p, 1 - p], 4, 0.1)
        for p in (0.05, *np.linspace(0.2, 0.5, 7))
    }
    outside, inside = loss.pop(0.05), max(map(abs, loss.values()))
    yield compare(
        "epsilon up to 0.1 matters less for 0.2 <= p <= 0.8 than outside, N = 100",
        'reads "beyond the control of the attacker" for 0.2 to 0.8',
        f"at most {inside:.4f}; {outside:.3f} for p = 0.05",
        inside < outside,
    )
    degrees = clique_failure([50, 250], [0.1, 0.9])
    sizes = [clique_failure(100, [0.1, 0.9], k) for k in (3, 4, 5, 6)]
    yield compare(
        "the size of the clique has less effect than the degree (k = 3 to 6; N = 50 to 250; p = 0.1)",
        'reads "no notable bias"',
        f"{min(sizes):.3f} to {max(sizes):.3f}; {degrees[0]:.3f} to {degrees[1]:.3f}",
        max(sizes) - min(sizes) < degrees[1] - degrees[0],
    )
    rng = np.random.default_rng(5)
    excess = min(_excess_of_further_identities(rng) for _ in range(400))
    reading = 'reads "true for Y = 3, Y = 4 and Y = 5"'
    yield compare("further identities never lower it, (5.12)", reading, f"least excess {excess:.1e}", excess > -1e-12)


def _excess_of_further_identities(rng: np.random.Generator) -> float:
    """Return the failure with three to five identities, minus that of two with the same first share."""
    p = rng.dirichlet(np.ones(int(rng.integers(3, 6))))
    degree = int(rng.integers(5, 300))
    return float(clique_failure(degree, p) - clique_failure(degree, [p[0], 1 - p[0]]))


def _realistic_formulas() -> Iterator[Verdict]:
    small = [float(clique_failure(10, [p, 1 - p], model="realistic")) for p in (0.1, 0.3, 0.5)]
    yield compare(
        "realistic model: seeding fails more often than not for few contacts, N = 10, p = 0.1, 0.3, 0.5",
        'reads "satisfactory even for small N\'s"',
        ", ".join(f"{x:.2f}" for x in small),
        min(small) > 0.5,
    )
    degrees = np.arange(10, 251, 40)
    least = [float(np.min(clique_failure(degrees, [p, 1 - p], model="realistic"))) for p in (0.2, 0.3, 0.5)]
    yield compare(
        "realistic model: the more variance, the more failure",
        'reads "the higher variance we have, the larger"',
        f"p = 0.2, 0.3, 0.5: {', '.join(f'{x:.3f}' for x in least)}",
        least == sorted(least),
    )


def verify_top() -> Section:
    """Figure 5.5: compute the probability that seeding by the 1000 highest degrees fails."""
    borders = {name: top_border(network(name).degree, TOP) for name in MAIN}
    top_degrees = {name: np.sort(network(name).degree)[-TOP:] for name in MAIN}
    reached = {name: float(np.mean(top_degrees[name] <= 311 / 165 * borders[name])) for name in MAIN}
    failures = {
        name: [float(np.mean(top_failure(top_degrees[name], np.full(y, 1 / y), borders[name]))) for y in (2, 3, 4, 5)]
        for name in MAIN
    }
    return Section(
        "Figure 5.5: failure of top-1000 seeding, basic model, even shares; mean over the top 1000, percent",
        ("network", "border", "up to 1.88 border", "Y = 2", "3", "4", "5"),
        ((name, borders[name], percent(reached[name]), *map(percent, failures[name])) for name in MAIN),
        (),
        _top_verdicts(failures, reached),
    )


def _top_verdicts(failures: dict[str, list[float]], reached: dict[str, float]) -> Iterator[Verdict]:
    three, four = (top_failure(1000, np.full(y, 1 / y), 300) for y in (3, 4))
    claim = "1000 contacts, all identities under 300: takes four, even shares"
    yield compare(claim, 'reads "at least Y = 4"', f"Y = 3: {three:.3f}, Y = 4: {four:.3f}", three == 0 < four)
    failure = top_failure(311, [0.5, 0.5], 165)
    claim = "311 contacts, border 165: two identities escape more often than not"
    yield compare(claim, 'reads "a significant failure probability"', f"{failure:.3f}", failure > 0.5)
    yield compare(
        "the more identities, the more failure",
        'reads "increase proportionally with y"',
        "; ".join(f"{name} {percents(*values)}" for name, values in failures.items()),
        all(values == sorted(values) for values in failures.values()),
    )
    yield compare(
        "two identities are enough for most of the top 1000 (LJ66k)",
        "reads 80.4",
        percents(**reached),
        all(share >= 0.804 for share in reached.values()),
        why="the tails of these two are heavier",
    )
