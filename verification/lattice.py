"""The lattice of Adult, and ARX's payout model over it: `UNMASK_DATA=... python verification/lattice.py`.

The search against enumeration of all 12,960 nodes; the publisher's game of every node against ARX's payout formula.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import cache

import numpy as np
from populations import read_complete_rows, read_hierarchies
from show import Section, Verdict, main

from unmask.economics import Attacker, AttackerKind, ProtectedRelease, Publisher, PublisherGame, Terms
from unmask.tables import Lattice, Table
from unmask.tables.protections.lattice_levels import LevelLattice, Node, NodeClasses
from unmask.tables.protections.lattice_search import SearchProblem

Group = tuple[np.ndarray, np.ndarray]
"""Sizes of classes, and the people in all classes of each size."""

PROTECTIONS = (
    Lattice(k=5),
    Lattice(k=5, suppression=0.05),
    Lattice(k=20, suppression=0.01),
    Lattice(k=1, average_risk=0.02),
    Lattice(k=2, average_risk=0.02, suppression=0.02),
    Lattice(k=10, loss="discernibility"),
)


@cache
def read_table() -> Table:
    """Return Adult with all nine columns of its hierarchies as quasi-identifiers."""
    trees = read_hierarchies()
    return read_complete_rows(quasi_identifiers=tuple(trees), hierarchies=trees)


def walk(nodes: LevelLattice) -> Iterator[tuple[Node, NodeClasses]]:
    """Yield every node, counted from the node before it in one column."""
    finest = (0,) * len(nodes.shape)
    yield from _walk(nodes, finest, 0, nodes.count_classes(finest))


def _walk(nodes: LevelLattice, node: Node, j: int, counted: NodeClasses) -> Iterator[tuple[Node, NodeClasses]]:
    if j == len(node):
        yield node, counted
        return
    yield from _walk(nodes, node, j + 1, counted)
    for level in range(1, nodes.shape[j]):
        node = (*node[:j], level, *node[j + 1 :])
        counted = nodes.count_classes(node, counted)
        yield from _walk(nodes, node, j + 1, counted)


@cache
def count_nodes() -> tuple[np.ndarray, list[Group]]:
    """Return utility and classes of all nodes, no row dropped."""
    problem = SearchProblem.of(Lattice(k=1), read_table())
    penalty = problem.lattice.minimum_penalty(problem.weights)
    utility, groups = [], []
    for node, counted in walk(problem.lattice):
        size, count = np.unique(counted.sizes, return_counts=True)
        utility.append(max(1.0 - float(penalty[node]), 0.0))
        groups.append((size, size * count))
    return np.array(utility), groups


def verify_search() -> Section:
    """Compare the choice of the pruned search with the least loss of all nodes."""
    rows, verdicts = [], []
    for protection in PROTECTIONS:
        start = time.process_time()
        choice = protection.choose(read_table())
        seconds, least = time.process_time() - start, _enumerate_least(protection)
        rows.append((repr(protection), f"{choice.loss:.6g}", choice.n_counted, f"{seconds:.2f}"))
        is_least = abs(choice.loss - least) <= 1e-9 * least
        verdicts.append(Verdict(f"{protection!r}: least loss", f"{least:.6g}", f"{choice.loss:.6g}", is_least))
    header = ("protection", "loss", f"counted of {len(count_nodes()[0]):,}", "CPU s")
    return Section("Search: the least loss of all nodes of Adult", header, rows, (), verdicts)


def _enumerate_least(protection: Lattice) -> float:
    """Return the least loss of the nodes that satisfy a protection, all of them counted."""
    problem = SearchProblem.of(protection, read_table())
    minimum, best, n = problem.lattice.minimum_penalty(problem.weights), np.inf, read_table().n_rows
    for node, counted in walk(problem.lattice):
        bad = problem.violating(counted)
        if problem.is_allowed(counted, bad):
            squares = float(counted.sizes[~bad] @ counted.sizes[~bad]) + n * float(counted.sizes[bad].sum())
            penalty = float(minimum[node]) + problem.suppression_penalty(node, counted, bad)
            best = min(best, penalty if protection.loss == "gcp" else squares)
    return best


def verify_arx() -> Section:
    """Compare with ARX's payout: benefit (1 - loss of information) - [gain / n > cost] loss / n for each record."""
    benefit, loss, gain, cost = 1200.0, 300.0, 300.0, 4.0
    utility, groups = count_nodes()
    n = read_table().n_rows
    payments = [float(people @ ((gain / size > cost) * loss / size)) for size, people in groups]
    formula = n * benefit * utility - payments
    attacker = Attacker(gain=gain, exploit_cost=cost, max_fines=0, max_tries=1)
    nodes = enumerate(zip(groups, utility.tolist(), strict=True))
    releases = {str(i): ProtectedRelease(size, value, people) for i, ((size, people), value) in nodes}
    game = PublisherGame(Publisher(benefit=n * benefit, loss=loss), releases, {"once": AttackerKind(attacker)})
    payoffs = np.array([game.move(name, Terms()).payoff.low for name in releases])
    error = float(np.abs(payoffs - formula).max() / np.abs(formula).max())
    best, expected = f"{payoffs.max():,.2f}", f"{formula.max():,.2f}"
    return Section(
        "ARX's payout model over the lattice",
        ("nodes", "best by formula", "best of the game", "relative error"),
        ((len(payoffs), expected, best, f"{error:.1e}"),),
        (),
        (
            Verdict("payoff of every node", "ARX's formula", f"relative error {error:.1e}", error <= 1e-9),
            Verdict("the best node", expected, best, bool(np.isclose(formula.max(), payoffs.max(), rtol=1e-9))),
        ),
    )


if __name__ == "__main__":
    sys.exit(main(__doc__, {"search": verify_search, "arx": verify_arx}))
