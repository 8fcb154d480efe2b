"""Every number of `evaluate` against the oracle, on random cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np
import unlinkability_literal as literal
from show import Section, Verdict

from unmask.core.partition import Partition, View
from unmask.measures.clustering import Contingency, evaluate, merge_lists

SEED: Final = 20
ALPHAS: Final = tuple(Fraction(*pq) for pq in ((0, 1), (1, 10), (1, 3), (1, 2), (2, 3), (9, 10), (1, 1)))
BETAS: Final = tuple(Fraction(k, 20) for k in range(21))
GRIDS: Final = (8, 10, 3, 1, 997)
"""Denominators of weights; with 1 they are 0 or 1."""
BREACHED: Final = ("nan", "one")


@dataclass(frozen=True)
class Case:
    """One evaluation: a solution, a view, two alphas, two betas, and everything else that `evaluate` is told."""

    title: str
    solution: list[int]
    view: list[tuple[list[int], Fraction]]
    alphas: list[Fraction]
    betas: list[Fraction]
    told: dict[str, Any] = field(default_factory=dict)


def cross_check(n_cases: int = 3000) -> Section:
    """All kinds of cases in turn; the first differences are named."""
    rng = np.random.default_rng(SEED)
    kinds = ("counts", "large", "weights", "overrides", "view", "own parameters", "everything")
    checked, wrong, numbers = Counter[str](), Counter[str](), Counter[str]()
    notes = []
    for at in range(n_cases):
        case = drawn(kinds[at % len(kinds)], rng)
        checked[case.title] += 1
        numbers[case.title] += 4 * len(set(case.solution)) + 4
        names = compared(case)
        if names:
            wrong[case.title] += 1
            notes.append(f"{case.title}: {', '.join(sorted(set(names)))} at {case}")
    rows = tuple((kind, f"{checked[kind]}", f"{numbers[kind]}", f"{wrong[kind]}") for kind in kinds)
    verdict = Verdict(
        f"evaluate and merge_lists equal the oracle to 1e-9 in {n_cases} random cases",
        "equal",
        f"{sum(wrong.values())} differ",
        not wrong,
    )
    header = ("kind of case", "cases", "slopes", "cases that differ")
    return Section("Cross-check against sets and fractions", header, rows, tuple(notes[:5]), (verdict,))


def drawn(kind: str, rng: np.random.Generator) -> Case:
    """A random case of a kind; small, so that ties, pure pieces and one-block partitions are frequent."""
    n = int(rng.integers(30, 80)) if kind == "large" else int(rng.integers(1, 15))
    solution = labels(n, rng)
    parts = int(rng.integers(1, 5)) if kind in ("view", "everything") else 1
    chances = rng.integers(1, 9, parts).tolist()
    view = [(labels(n, rng), Fraction(c, sum(chances))) for c in chances]
    if parts > 2:
        view[-1] = (view[0][0], view[-1][1])  # the same partition twice
    names = sorted(set(solution))
    told: dict[str, Any] = {
        "contamination_wanted": bool(rng.integers(2)),
        "min_size": int(rng.integers(1, 1 + max(solution.count(name) for name in names))),
        "breached_slope": BREACHED[int(rng.integers(2))],
    }
    if kind in ("weights", "overrides", "everything"):
        grid = int(rng.choice(GRIDS))
        told["weights"] = [Fraction(k, grid) for k in rng.integers(0, grid + 1, n).tolist()]
        if kind != "weights":
            told["overrides"] = overrides(names, n, grid, rng)
    if kind in ("own parameters", "everything"):
        told |= {
            "subject_alpha": dict(zip(names, pick(ALPHAS, len(names), rng), strict=True)),
            "subject_contamination_wanted": {name: bool(rng.integers(2)) for name in names},
        }
        if rng.random() < 0.5:
            told["subject_beta"] = dict(zip(names, pick(BETAS, len(names), rng), strict=True))
    return Case(kind, solution, view, pick(ALPHAS, 2, rng), pick(BETAS, 2, rng), told)


def labels(n: int, rng: np.random.Generator) -> list[int]:
    """A random partition with anything from one block to all items alone."""
    values: list[int] = rng.integers(0, int(rng.integers(1, n + 1)), n).tolist()
    return values


def pick(among: Sequence[Fraction], k: int, rng: np.random.Generator) -> list[Fraction]:
    """k of them, with repetition."""
    return [among[at] for at in rng.integers(0, len(among), k)]


def overrides(names: Sequence[int], n: int, grid: int, rng: np.random.Generator) -> list[tuple[int, int, Fraction]]:
    """Up to six exceptions, each pair of subject and item at most once."""
    pairs = {(int(rng.choice(names)), int(rng.integers(n))) for _ in range(int(rng.integers(7)))}
    return [(name, item, Fraction(int(rng.integers(grid + 1)), grid)) for name, item in sorted(pairs)]


def compared(case: Case) -> list[str]:
    """What differs, in any of the four settings of a case; nothing, if all is well."""
    told, names = dict(case.told), sorted(set(case.solution))
    breached = told.pop("breached_slope")
    minds = {"subject_alpha": "alpha", "subject_beta": "beta", "subject_contamination_wanted": "wanted"}
    own = {minds[key]: [told[key][name] for name in names] for key in minds if key in told}
    weights = [float(w) for w in told["weights"]] if "weights" in told else None
    exceptions = [(name, item, float(w)) for name, item, w in told.get("overrides", ())]
    partitions = [Partition(one) for one, _ in case.view]
    adversary = View(partitions, [float(p) for _, p in case.view]) if len(partitions) > 1 else partitions[0]
    met = Contingency.of(Partition(case.solution), adversary, weights=weights, overrides=exceptions, own=own)
    policy = {"contamination_wanted": told["contamination_wanted"], "min_size": told["min_size"]}
    policy["breached_slope"] = float("nan") if breached == "nan" else 1.0
    oracle = {"breached": breached, "breached_overall": breached}
    wrong = []
    for alpha in case.alphas:
        for b, beta in enumerate(case.betas):
            found = evaluate(met, alpha=float(alpha), beta=float(beta), **policy)
            expected = literal.evaluate(case.solution, case.view, alpha=alpha, beta=beta, **told, **oracle)
            wrong += literal.differences(found, expected)
            if case.title in ("counts", "large", "weights") and not b:
                wrong += orders(met, alpha, expected)
    return wrong


def orders(met: Contingency, alpha: Fraction, expected: literal.Result) -> list[str]:
    """Whether the merge lists name the same clusters in the same order."""
    listed = merge_lists(met, [one.name for one in expected.subjects], alpha=float(alpha))
    same = [one.cluster.tolist() for one in listed] == [one.merge_order[0] for one in expected.subjects]
    return [] if same else ["merge_lists"]
