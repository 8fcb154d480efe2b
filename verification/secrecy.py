"""Order and labels of a release do not identify people: Adult, a network, items, and planted leaks.

    UNMASK_DATA=... python verification/secrecy.py

The claim is ours: whoever guesses is right about 1 of n people, and an adversary who knows how the source was ordered,
or tries seeds, does no better on what unmask writes. Three adversaries try it: one who takes the order of the file for
granted, one with the best of 100,000 seeds, and `OrderAttack`, which says how sure it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, poisson
from show import Section, Verdict, run

from unmask import Truth, audit
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections import IdentitySeparation
from unmask.linkage import Items, PerItem
from unmask.tables import Background, Mondrian, Table, datasets
from unmask.tables.attacks import OrderAttack

RELEASES = 20
SEEDS = 100_000
FALSE_ALARM = 1e-3
"""Probability that the six counts of a run fail by luck; a release in the order of its file is right about all."""

PEOPLE = 1000
"""People of the table on which every seed is tried in full."""


def verify_row_order() -> Section:
    """Compare releases of the whole table with its order, and attack them with `OrderAttack`.

    The table lies in another order each time: in one order the rows that equal no other always stand at one place, and
    an accidental match then repeats every time.
    """
    adult = datasets.adult(rows="all")
    n, rows, verdicts = adult.n_rows, [], []
    low, high = binom.interval(1 - FALSE_ALARM / 6, RELEASES * n, 1 / n)
    for k in (2, 10, 50):
        n_correct = n_reversed = 0
        success = []
        for seed in range(RELEASES):
            people = adult.take(np.random.default_rng(seed).permutation(n))
            release, origin = Mondrian(k=k)(people)
            n_correct += int(np.count_nonzero(origin == np.arange(n)))
            n_reversed += int(np.count_nonzero(origin == np.arange(n)[::-1]))
            success.append(_measure_success(OrderAttack(), release, people, origin))
        announced, realized = (float(np.mean(values)) * n for values in zip(*success, strict=True))
        rows.append((str(k), str(n_correct), str(n_reversed), f"{announced:.2f}", f"{realized:.2f}"))
        verdicts += [
            Verdict(
                f"k = {k}: the order of the file", f"{low:.0f} to {high:.0f}", str(n_correct), low <= n_correct <= high
            ),
            Verdict(f"k = {k}: its reverse", f"{low:.0f} to {high:.0f}", str(n_reversed), low <= n_reversed <= high),
            Verdict(f"k = {k}: OrderAttack", "1.00, 1.00", ", ".join(rows[-1][3:]), max(announced, realized) < 1.01),
        ]
    return Section(
        f"Right about how many of {RELEASES} x {n:,} people, the order taken for granted; of {n:,}, by OrderAttack",
        ("k", "order of the file", "reverse", "announced", "realized"),
        tuple(rows),
        (f"Guessing is right about {RELEASES} of {RELEASES} x {n:,}, and about 1 of {n:,}.",),
        tuple(verdicts),
    )


def verify_seeds() -> Section:
    """Try all seeds on releases of a part of the table."""
    people = datasets.adult(rows="all").take(np.arange(PEOPLE))
    origins = {f"k = {k}": Mondrian(k=k)(people)[1] for k in (2, 10, 50)}
    origins["planted: seed 7391"] = np.random.default_rng(7391).permutation(PEOPLE)
    highest = dict.fromkeys(origins, 0)
    for seed in range(SEEDS):
        guess = np.random.default_rng(seed).permutation(PEOPLE)
        for name, origin in origins.items():
            highest[name] = max(highest[name], int(np.count_nonzero(guess == origin)))
    limit = int(poisson.ppf(0.999 ** (1 / SEEDS), 1))
    verdicts = [
        Verdict(name, f"at most {limit}" if name[0] == "k" else "all", str(count), (count <= limit) == (name[0] == "k"))
        for name, count in highest.items()
    ]
    rows = tuple((name, str(count)) for name, count in highest.items())
    note = f"A random permutation agrees with {SEEDS:,} others in at most {limit} places, 999 times in 1,000."
    return Section(
        f"Right about how many of {PEOPLE:,} people, the best of {SEEDS:,} seeds",
        ("release", "best"),
        rows,
        (note,),
        tuple(verdicts),
    )


def verify_labels() -> Section:
    """Try all seeds on the labels of a graph and of items, each replayed through the protection."""
    n = 100
    ends = np.random.default_rng(1).integers(0, n, (2, 4 * n))
    graph = SocialGraph.from_edges(*ends[:, ends[0] != ends[1]])
    items = Items.read({"user": np.arange(n)}, pseudonym="user")
    separation = IdentitySeparation(adopters=0.1)

    def of_graph(rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        return separation(graph, rng=rng).origin[:n]

    def of_items(rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        release, solution = PerItem()(items, rng=rng)
        assert release.pseudonym is not None
        return np.asarray(release.pseudonym)[np.argsort(solution.code)]

    limit = int(poisson.ppf(0.999 ** (1 / SEEDS), 1))
    verdicts = []
    for name, labels in (("graph", of_graph), ("items", of_items)):
        secret, planted = labels(), labels(np.random.default_rng(7391))
        highest = np.zeros(2, dtype=np.int64)
        for seed in range(SEEDS):
            guess = labels(np.random.default_rng(seed))
            highest = np.maximum(highest, [np.count_nonzero(guess == secret), np.count_nonzero(guess == planted)])
        verdicts.append(Verdict(name, f"at most {limit}", str(highest[0]), bool(highest[0] <= limit)))
        verdicts.append(Verdict(f"{name}, planted: seed 7391", "all", str(highest[1]), bool(highest[1] == n)))
    rows = tuple((verdict.claim, verdict.ours) for verdict in verdicts)
    title = f"Right about how many of {n} labels, the best of {SEEDS:,} seeds"
    return Section(title, ("release", "best"), rows, (), tuple(verdicts))


def verify_planted_leaks() -> Section:
    """Attack releases in an order that an adversary can know."""
    people = datasets.adult(rows="all")
    release, origin = Mondrian(k=10)(people)
    verdicts, rows = [], []
    for name, order in _make_leaks(release, origin, people):
        announced, realized = _measure_success(OrderAttack(), release.take(order), people, origin[order])
        rows.append((name, f"{announced:.3f}", f"{realized:.3f}"))
        verdicts.append(Verdict(name, "above 0.4", rows[-1][2], announced > 0.4 < realized))
    note = "Within classes in the order of the source looks like chance to the adversary: one half."
    return Section(
        "Adult at k = 10, in orders that leak",
        ("order", "announced", "realized"),
        tuple(rows),
        (note,),
        tuple(verdicts),
    )


def _make_leaks(release: Table, origin: NDArray[np.int64], people: Table) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield names and rows of the release in orders that leak."""
    record = np.argsort(origin)  # of each person
    age = np.argsort(people.column("age").codes, kind="stable")
    yield "as the source", record
    yield "the source's reverse", record[::-1]
    yield "sorted by age, like any sort that keeps what is equal", record[age]
    yield "by class, inside as the source", record[np.argsort(release.classes.of_row[record], kind="stable")]


def _measure_success(
    attack: OrderAttack, release: Table, people: Table, origin: NDArray[np.int64]
) -> tuple[float, float]:
    result = audit(attack(release, Background(people)), Truth(np.argsort(origin)))
    return result.row("success_probability").posterior, result.row("realized_success").posterior


if __name__ == "__main__":
    sys.exit(run([verify_row_order, verify_seeds, verify_labels, verify_planted_leaks]))
