"""Figures 5.1 to 5.5: what separated identities do to seeding by cliques and by top degrees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from graphs_runs import MAIN, network, percent, rng_of
from separation_runs import given, yes
from show import Section, Verdict

from unmask.graphs import IdentitySeparation, SocialGraph
from unmask.graphs.criteria import clique_failure, intact_cliques, top_border, top_failure

SAMPLES = {"full graph of 100": 100, "slashdot": 800, "epinions": 500}
"""Nodes of each sample, those of the highest degree: how the source drew its samples is not said."""

LEVELS = (0.1, 0.2, 0.4, 0.6)
RUNS = 12
PUBLISHED = {"full graph of 100": 0.5522, "slashdot": 0.5226, "epinions": 0.5127}
TOP = 1000


def cliques() -> Section:
    """Figure 5.1: share of 4-cliques that separation with two even identities leaves."""
    graphs = {name: _sample(name, n) for name, n in SAMPLES.items()}
    before = {name: four_cliques(graph) for name, graph in graphs.items()}
    left = {
        (name, level): [
            four_cliques(_separated(graph, level, rng_of(name, level, run))) / before[name] for run in range(RUNS)
        ]
        for name, graph in graphs.items()
        for level in LEVELS
    }
    rows = [
        (name, f"{before[name]:,}", *(percent(float(np.mean(left[name, level]))) for level in LEVELS))
        for name in SAMPLES
    ]
    rows.append(("expected, (5.4) with p = 1/2", "", *(percent(intact_cliques(x, 4, [0.5, 0.5])) for x in LEVELS)))
    rows.append(("theoretical limit, (5.4)", "", *(percent(intact_cliques(x)) for x in LEVELS)))
    return Section(
        title=f"Figure 5.1: 4-cliques left, per cent, by P(Y = 2); mean of {RUNS} runs",
        header=("graph", "4-cliques", *map(str, LEVELS)),
        rows=tuple(rows),
        notes=("Samples: nodes of the highest degree.",),
        verdicts=tuple(_clique_verdicts(left, before)),
    )


def _sample(name: str, n: int) -> SocialGraph:
    if name not in MAIN:
        return SocialGraph.from_edges(*np.triu_indices(n, 1))
    graph = network(name)
    return graph.take(np.argsort(-graph.degree, kind="stable")[:n])


def _separated(graph: SocialGraph, level: float, rng: np.random.Generator) -> SocialGraph:
    """Each node by itself has two identities with this chance."""
    return IdentitySeparation("basic", (1 - level, level), adopters=1.0, minimum_degree=1)(graph, rng=rng).release


def four_cliques(graph: SocialGraph) -> int:
    """How many there are: the triangles among the later neighbors of each node, in the order of the degrees."""
    graph = graph.take(np.argsort(graph.degree, kind="stable"))
    ties = graph.adjacency().toarray().astype(np.float32)
    total = 0.0
    for node in range(graph.n_nodes):
        near = graph.neighbors(node)
        near = near[near > node]
        if len(near) > 2:
            among = ties[np.ix_(near, near)]
            total += float(((among @ among) * among).sum(dtype=np.float64))
    return round(total / 6)


def _clique_verdicts(left: dict[tuple[str, float], list[float]], before: dict[str, int]) -> Iterator[Verdict]:
    expected = intact_cliques(0.2, 4, [0.5, 0.5])
    for name, published in PUBLISHED.items():
        shares = np.array(left[name, 0.2])
        mean, error = float(shares.mean()), float(shares.std(ddof=1) / np.sqrt(len(shares)))
        yield yes(
            f"4-cliques left with P(Y = 2) = 0.2, {name}",
            f"reads {percent(published)}",
            f"{percent(mean)} +- {percent(1.96 * error)} ({percent(shares.min())}-{percent(shares.max())} in a run)",
            shares.min() <= published <= shares.max() and abs(mean - expected) < 3 * error,
        )
    means = {key: float(np.mean(value)) for key, value in left.items()}
    yield yes(
        "all graphs fall alike: they lie no wider apart at 0.2 than the published three",
        'reads "almost in the same pace", 51.27 to 55.22',
        ", ".join(f"{name} {percent(means[name, 0.2])}" for name in SAMPLES),
        np.ptp([means[name, 0.2] for name in SAMPLES]) <= max(PUBLISHED.values()) - min(PUBLISHED.values()),
    )
    yield yes(
        "more are left than the limit, as one who separates may leave a clique whole",
        'reads "theoretical limit"',
        f"{percent(intact_cliques(0.2))} against {percent(expected)}",
        all(means[name, level] > intact_cliques(level) for name, level in means),
    )
    by_cliques = sorted(SAMPLES, key=lambda name: before[name])
    falls = [np.diff([means[name, level] for name in by_cliques]) for level in LEVELS]
    yield yes(
        "graphs with more cliques degrade faster: fewer are left at every level, the more there were",
        'reads "slightly faster"',
        f"so in {sum(bool(np.all(fall < 0)) for fall in falls)} of {len(LEVELS)} levels",
        all(bool(np.all(fall < 0)) for fall in falls),
        why=f"the expectation, {percent(expected)} at 0.2, is the same for every graph",
        refutes=True,
    )


def formulas() -> Section:
    """Figures 5.2 to 5.4: chance that seeding by 4-cliques fails."""
    degrees, firsts = (10, 50, 100, 250, 1000), (0.05, 0.1, 0.2, 0.3, 0.5)
    rows = [
        (f"basic, p = {p:g}, {1 - p:g}", *(f"{value:.3f}" for value in clique_failure(degrees, [p, 1 - p])))
        for p in firsts
    ]
    rows += [
        (f"realistic, p = {p:g}, {1 - p:g}", *_three(clique_failure(degrees, [p, 1 - p], model="realistic")))
        for p in firsts
    ]
    return Section(
        title="Figures 5.2 to 5.4: failure of 4-clique seeding by degree, two identities, tolerance 0.05",
        header=("model", *map(str, degrees)),
        rows=tuple(rows),
        verdicts=tuple(_formula_verdicts()),
    )


def _three(values: np.ndarray) -> list[str]:
    return [f"{value:.3f}" for value in values]


def _formula_verdicts() -> Iterator[Verdict]:
    at = clique_failure(100, [0.1, 0.9])
    yield yes("basic, Y = 2, p = 0.1, N = 100", "reads 0.949", f"{at:.4f}", abs(at - 0.949) < 1e-3)
    small = clique_failure(10, [0.5, 0.5])
    reading = 'reads "conveniently high", as 0.949 at N = 100'
    yield yes("as high even for few contacts, N = 10, p = 1/2", reading, f"{small:.3f}", small >= 0.949)
    shares = np.linspace(0.2, 0.5, 7)
    swing = max(
        abs(clique_failure(100, [p, 1 - p], 4, 0.001) - clique_failure(100, [p, 1 - p], 4, 0.1)) for p in shares
    )
    loose = clique_failure(100, [0.05, 0.95], 4, 0.001) - clique_failure(100, [0.05, 0.95], 4, 0.1)
    yield yes(
        "epsilon up to 0.1 matters less for 0.2 <= p <= 0.8 than outside, N = 100",
        'reads "beyond the control of the attacker" for 0.2 to 0.8',
        f"at most {swing:.4f}; {loose:.3f} for p = 0.05",
        swing < loose,
    )
    degrees = clique_failure([50, 250], [0.1, 0.9])
    sizes = [clique_failure(100, [0.1, 0.9], k) for k in (3, 4, 5, 6)]
    yield yes(
        "the size of the clique has less effect than the degree (k = 3 to 6; N = 50 to 250; p = 0.1)",
        'reads "no notable bias"',
        f"{min(sizes):.3f} to {max(sizes):.3f}; {degrees[0]:.3f} to {degrees[1]:.3f}",
        max(sizes) - min(sizes) < degrees[1] - degrees[0],
    )
    rng = np.random.default_rng(5)
    more = [_further(rng) for _ in range(400)]
    yield yes(
        "further identities never lower it, (5.12)",
        'reads "true for Y = 3, Y = 4 and Y = 5"',
        f"least excess {min(more):.1e}",
        min(more) > -1e-12,
    )
    realistic = [float(clique_failure(10, [p, 1 - p], model="realistic")) for p in (0.1, 0.3, 0.5)]
    wide = [
        float(np.min(clique_failure(np.arange(10, 251, 40), [p, 1 - p], model="realistic"))) for p in (0.2, 0.3, 0.5)
    ]
    yield yes(
        "realistic model: seeding fails more often than not for few contacts, N = 10, p = 0.1, 0.3, 0.5",
        'reads "satisfactory even for small N\'s"',
        ", ".join(f"{x:.2f}" for x in realistic),
        min(realistic) > 0.5,
    )
    yield yes(
        "realistic model: the more variance, the more failure",
        'reads "the higher variance we have, the larger"',
        f"p = 0.2, 0.3, 0.5: {', '.join(f'{x:.3f}' for x in wide)}",
        wide == sorted(wide),
    )


def _further(rng: np.random.Generator) -> float:
    """Failure with three to five identities, over that of two that keep the first share."""
    p = rng.dirichlet(np.ones(int(rng.integers(3, 6))))
    degree = int(rng.integers(5, 300))
    return float(clique_failure(degree, p) - clique_failure(degree, [p[0], 1 - p[0]]))


def top() -> Section:
    """Figure 5.5: chance that seeding by the 1000 highest degrees fails."""
    rows, reached = [], {}
    averages = {}
    for name in MAIN:
        degree = network(name).degree
        border = top_border(degree, TOP)
        high = np.sort(degree)[-TOP:]
        average = [float(np.mean(top_failure(high, np.full(y, 1 / y), border))) for y in (2, 3, 4, 5)]
        reached[name] = float(np.mean(high <= 311 / 165 * border))
        averages[name] = average
        rows.append((name, str(border), percent(reached[name]), *(percent(value) for value in average)))
    thousand = [top_failure(1000, np.full(y, 1 / y), 300) for y in (3, 4)]
    verdicts = [
        yes(
            "1000 contacts, all identities under 300: takes four, even shares",
            'reads "at least Y = 4"',
            f"Y = 3: {thousand[0]:.3f}, Y = 4: {thousand[1]:.3f}",
            thousand[0] == 0 < thousand[1],
        ),
        yes(
            "311 contacts, border 165: two identities escape more often than not",
            'reads "a significant failure probability"',
            f"{top_failure(311, [0.5, 0.5], 165):.3f}",
            top_failure(311, [0.5, 0.5], 165) > 0.5,
        ),
        yes(
            "the more identities, the more failure",
            'reads "increase proportionally with y"',
            "; ".join(f"{name} {given(*values)}" for name, values in averages.items()),
            all(list(values) == sorted(values) for values in averages.values()),
        ),
        yes(
            "two identities are enough for most of the top 1000 (LJ66k)",
            "reads 80.4",
            given(**reached),
            all(share >= 0.804 for share in reached.values()),
            why="the tails of these two are heavier",
        ),
    ]
    return Section(
        title="Figure 5.5: failure of top-1000 seeding, basic model, even shares; mean over the top 1000, per cent",
        header=("network", "border", "up to 1.88 border", "Y = 2", "3", "4", "5"),
        rows=tuple(rows),
        verdicts=tuple(verdicts),
    )
