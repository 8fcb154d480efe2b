"""The lattice of Adult, and ARX's payout model over it: `UNMASK_DATA=... python verification/lattice.py`.

The search against enumeration of all 12,960 nodes; the publisher's game of every node against ARX's payout formula.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np
from adult_files import complete_rows, hierarchies
from show import Section, Verdict, run

from unmask.economics import Attacker, AttackerKind, ProtectedRelease, Publisher, PublisherGame, Terms
from unmask.tables import Lattice, Table
from unmask.tables.protections.lattice_levels import Counted, Node, Nodes
from unmask.tables.protections.lattice_search import Asked

Group = tuple[np.ndarray, np.ndarray]
"""Sizes of classes, and the people in all classes of each size."""


@cache
def adult() -> Table:
    """All nine columns with hierarchies are quasi-identifiers."""
    trees = hierarchies()
    return complete_rows(quasi_identifiers=tuple(trees), hierarchies=trees)


def walk(nodes: Nodes) -> Iterator[tuple[Node, Counted]]:
    """Every node, counted from the one before it in one column."""
    finest = (0,) * len(nodes.shape)
    yield from _walk(nodes, finest, 0, nodes.counted(finest))


def _walk(nodes: Nodes, node: Node, j: int, counted: Counted) -> Iterator[tuple[Node, Counted]]:
    if j == len(node):
        yield node, counted
        return
    yield from _walk(nodes, node, j + 1, counted)
    for level in range(1, nodes.shape[j]):
        node = (*node[:j], level, *node[j + 1 :])
        counted = nodes.counted(node, counted)
        yield from _walk(nodes, node, j + 1, counted)


@cache
def every_node() -> tuple[np.ndarray, list[Group]]:
    """Utility and classes of all nodes, no row dropped."""
    asked = Asked.of(Lattice(k=1), adult())
    lost = asked.nodes.least_lost(asked.weights)
    utility, groups = [], []
    for node, found in walk(asked.nodes):
        size, count = np.unique(found.sizes, return_counts=True)
        utility.append(max(1.0 - float(lost[node]), 0.0))
        groups.append((size, size * count))
    return np.array(utility), groups


# --- the protection ---------------------------------------------------------------------------------------------------


def search() -> Section:
    """The choice of the pruned search, and the least loss of all nodes."""
    rows, verdicts = [], []
    for protection in (
        Lattice(k=5), Lattice(k=5, suppression=0.05), Lattice(k=20, suppression=0.01),
        Lattice(k=1, average_risk=0.02), Lattice(k=2, average_risk=0.02, suppression=0.02),
        Lattice(k=10, loss="discernibility"),
    ):  # fmt: skip
        start = time.process_time()
        found = protection.choose(adult())
        seconds, least = time.process_time() - start, _least(protection)
        rows.append((repr(protection), f"{found.loss:.6g}", f"{found.seen:,}", f"{seconds:.2f}"))
        same = abs(found.loss - least) <= 1e-9 * least
        verdicts.append(Verdict(f"{protection!r}: least loss", f"{least:.6g}", f"{found.loss:.6g}", same))
    head = ("protection", "loss", f"counted of {len(every_node()[0]):,}", "CPU s")
    return Section("Search: the least loss of all nodes of Adult", head, tuple(rows), (), tuple(verdicts))


def _least(protection: Lattice) -> float:
    """The least loss of the nodes that satisfy a protection, all of them counted."""
    asked = Asked.of(protection, adult())
    lost, best, n = asked.nodes.least_lost(asked.weights), np.inf, adult().n_rows
    for node, found in walk(asked.nodes):
        bad = asked.violating(found)
        if asked.allowed(found, bad):
            squares = float(found.sizes[~bad] @ found.sizes[~bad]) + n * float(found.sizes[bad].sum())
            penalty = float(lost[node]) + asked.added(node, found, bad)
            best = min(best, penalty if protection.loss == "gcp" else squares)
    return best


# --- ARX --------------------------------------------------------------------------------------------------------------


def arx() -> Section:
    """ARX's payout over every node: benefit (1 - loss of information) - [gain / n > cost] loss / n for each record."""
    benefit, loss, gain, cost = 1200.0, 300.0, 300.0, 4.0
    utility, groups = every_node()
    n = adult().n_rows
    paid = [float(people @ ((gain / size > cost) * loss / size)) for size, people in groups]
    direct = n * benefit * utility - paid
    once = Attacker(gain=gain, exploit_cost=cost, max_fines=0, max_tries=1)
    each = zip(groups, utility.tolist(), strict=True)
    releases = {str(i): ProtectedRelease(size, kept, people) for i, ((size, people), kept) in enumerate(each)}
    game = PublisherGame(Publisher(benefit=n * benefit, loss=loss), releases, {"once": AttackerKind(once)})
    found = np.array([game.move(name, Terms()).payoff.low for name in releases])
    off = float(np.abs(found - direct).max() / np.abs(direct).max())
    best = found.max()
    rows = ((str(len(found)), f"{direct.max():,.2f}", f"{best:,.2f}", f"{off:.1e}"),)
    verdicts = (
        Verdict("payoff of every node", "ARX's formula", f"off by {off:.1e}", off <= 1e-9),
        Verdict(
            "the best node",
            f"{direct.max():,.2f}",
            f"{best:,.2f}",
            np.isclose(direct.max(), best, rtol=1e-9),
        ),
    )
    return Section(
        "ARX's payout model over the lattice", ("nodes", "best by formula", "best found", "off"), rows, (), verdicts
    )


PARTS: Mapping[str, Callable[[], Section]] = {
    "search": search,
    "arx": arx,
}


def main() -> int:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS)
    given = parser.parse_args()
    return run([PARTS[given.part]] if given.part else list(PARTS.values()))


if __name__ == "__main__":
    sys.exit(main())
