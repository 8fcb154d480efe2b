"""Table 3.1: recall of Nar09 by what the two graphs share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from graphs_runs import MAIN, STAND_IN, Overlap, Run, percent, perturb, seeded, span
from show import Section, Verdict

from unmask.graphs import Nar09
from unmask.measures.interval import wilson
from unmask.measures.rates import MIN_SPREAD

SEEDS, METHOD = 1000, "random.25"

PUBLISHED = {
    "slashdot": {
        (0.25, 0.75): 11.7, (0.5, 0.25): 0.4, (0.5, 0.5): 19.8, (0.5, 0.75): 36.5, (0.5, 1.0): 47.5,
        (0.75, 0.25): 0.3, (0.75, 0.5): 33.6, (0.75, 0.75): 50.7, (0.75, 1.0): 60.4,
        (1.0, 0.25): 0.3, (1.0, 0.5): 30.1, (1.0, 0.75): 58.9, (1.0, 1.0): 68.3,
    },
    "epinions": {
        (0.25, 0.75): 14.8, (0.5, 0.25): 0.9, (0.5, 0.5): 17.2, (0.5, 0.75): 25.9, (0.5, 1.0): 32.6,
        (0.75, 0.25): 0.6, (0.75, 0.5): 25.3, (0.75, 0.75): 36.1, (0.75, 1.0): 44.4,
        (1.0, 0.25): 0.4, (1.0, 0.5): 31.2, (1.0, 0.75): 43.2, (1.0, 1.0): 52.5,
    },
    "LJ66k": {
        (0.25, 0.75): None, (0.5, 0.25): 0.6, (0.5, 0.5): 24.8, (0.5, 0.75): 35.7, (0.5, 1.0): 54.4,
        (0.75, 0.25): 0.7, (0.75, 0.5): 33.9, (0.75, 0.75): 57.9, (0.75, 1.0): 78.7,
        (1.0, 0.25): 1.5, (1.0, 0.5): 37.7, (1.0, 0.75): 75.2, (1.0, 1.0): 88.5,
    },
}  # fmt: skip

NEAR = 1.0
"""Points by which the mean of our four runs may be off; runs differ by up to half of it."""

Cells = dict[tuple[str, Overlap], list[Run]]


def table(cells: Cells, *, perturbations: int = 2, seed_sets: int = 2) -> Section:
    """All cells of both networks, and the same settings on a third one that is at hand. Fills `cells` with its runs."""
    for name, overlaps in [*((name, PUBLISHED[name]) for name in MAIN), (STAND_IN, PUBLISHED["LJ66k"])]:
        for overlap in overlaps:
            cells[name, overlap] = [
                _run(name, overlap, number, seed_set)
                for number in range(perturbations)
                for seed_set in range(seed_sets)
            ]
    return Section(
        title="Table 3.1: recall of Nar09 in per cent, 1000 seeds random.25, theta 0.01",
        header=("overlap v/e", "Slashdot", "ours", "runs that spread", "Epinions", "ours", "runs that spread",
                "LJ66k", f"{STAND_IN}, ours", "runs that spread"),
        rows=tuple(_row(cells, overlap) for overlap in PUBLISHED["slashdot"]),
        notes=(
            f"{perturbations} perturbations x {seed_sets} seed sets a cell: mean (lowest-highest).",
            "Recall is hits without seeds / all people in both graphs, as published.",
            f"A run has spread when it names {MIN_SPREAD:.0%} of those it can find.",
            f"LJ66k was never published: the last column is another network, {STAND_IN}.",
        ),
        verdicts=tuple(_verdicts(cells)),
    )  # fmt: skip


def bistable(cells: Cells, *, more: int = 28) -> Section:
    """The odd cell of Slashdot, once more, with many seed sets: is its mean that of two kinds of runs?"""
    name, overlap = "slashdot", (1.0, 0.5)
    runs = cells[name, overlap] + [_run(name, overlap, number % 2, 2 + number // 2) for number in range(more)]
    recalls = np.array([run.published_recall for run in runs])
    spread = np.array([run.recall >= MIN_SPREAD for run in runs])
    best = float(recalls[spread].mean()) if spread.any() else 0.0
    theirs = PUBLISHED[name][overlap] or 0.0
    low, high = (100 * share * best for share in wilson(float(spread.mean()), len(runs)))
    apart = float(np.ptp(recalls[spread])) if spread.any() else 1.0
    return Section(
        title=f"Slashdot 1.0/0.5 with {len(runs)} seed sets: a mean of runs that spread and runs that do not",
        header=("runs", "that spread", "recall of those", "recall of the others", "mean of all"),
        rows=(
            (
                str(len(runs)), str(spread.sum()), percent(best),
                percent(max(recalls[~spread], default=0.0)) + " at most", percent(float(recalls.mean())),
            ),
        ),
        notes=(f"A published mean from {low:.1f} to {high:.1f} is in the 95 % interval of so many runs.",),
        verdicts=(
            Verdict(
                "runs are of two kinds: those that spread differ by less than 2 points, the others stay below 5 %", "-",
                f"{100 * apart:.1f} points; {spread.sum()} and {(~spread).sum()} runs",
                apart < 0.02 and 0 < spread.sum() < len(runs) and max(recalls[~spread], default=0.0) < MIN_SPREAD,
            ),
            Verdict(
                "the mean over all runs, with its share of runs that spread", f"{theirs}",
                f"{percent(float(recalls.mean()))} [{low:.1f}, {high:.1f}]", low <= theirs <= high, refutes=True,
            ),
        ),
    )  # fmt: skip


def _run(name: str, overlap: Overlap, number: int, seed_set: int) -> Run:
    pair = perturb(name, *overlap, number)
    seeds = seeded(pair, METHOD, SEEDS, name, overlap, number, seed_set)
    return Run.of(pair, Nar09(), seeds)


def _row(cells: Cells, overlap: Overlap) -> tuple[str, ...]:
    shown = [f"{overlap[0]:g} / {overlap[1]:g}"]
    for name, ours in (("slashdot", "slashdot"), ("epinions", "epinions"), ("LJ66k", STAND_IN)):
        theirs, runs = PUBLISHED[name][overlap], cells[ours, overlap]
        recalls = [run.published_recall for run in runs]
        shown += ["-" if theirs is None else f"{theirs:.1f}", span(recalls), f"{_spread(runs)} of {len(runs)}"]
    return tuple(shown)


def _verdicts(cells: Cells) -> Iterator[Verdict]:
    """Means over all runs beside published means over all runs."""
    for name in MAIN:
        off = {
            overlap: 100 * mean_of(cells[name, overlap]) - theirs
            for overlap, theirs in PUBLISHED[name].items()
            if theirs is not None
        }
        torn = {overlap for overlap in off if 0 < _spread(cells[name, overlap]) < len(cells[name, overlap])}
        whole = {overlap: value for overlap, value in off.items() if overlap not in torn}
        near = sum(abs(value) <= NEAR for value in whole.values())
        yield Verdict(
            f"recall over all runs is within {NEAR:g} point in all but one cell whose runs agree, {name}", "the table",
            f"{near} of {len(whole)} cells", near >= len(whole) - 1,
        )  # fmt: skip
        for overlap, value in whole.items():
            if abs(value) > NEAR:
                yield _cell(cells, name, overlap, refutes=True)
        for overlap in sorted(torn):  # four runs of two kinds say nothing of their mean: see `bistable`
            yield _cell(cells, name, overlap, refutes=False)
    yield from _claims(cells)


def _cell(cells: Cells, name: str, overlap: Overlap, *, refutes: bool) -> Verdict:
    theirs, runs = PUBLISHED[name][overlap] or 0.0, cells[name, overlap]
    return Verdict(
        f"recall of {name} {overlap[0]:g}/{overlap[1]:g}", f"{theirs}",
        f"{span([run.published_recall for run in runs])}, {_spread(runs)} of {len(runs)} runs spread",
        abs(100 * mean_of(runs) - theirs) <= NEAR, required=False, refutes=refutes,
    )  # fmt: skip


def mean_of(runs: Sequence[Run]) -> float:
    """Mean recall, as published, of all runs."""
    return float(np.mean([run.published_recall for run in runs]))


def _spread(runs: Sequence[Run]) -> int:
    return sum(run.recall >= MIN_SPREAD for run in runs)


def _claims(cells: Cells) -> Iterator[Verdict]:
    """Claims about means over all runs; those of cells whose runs disagree are left out of the steps."""
    mean = {key: mean_of(runs) for key, runs in cells.items() if _spread(runs) in (0, len(runs))}
    names = (*MAIN, STAND_IN)
    levels = [(0.25, 0.5), (0.5, 0.75), (0.75, 1.0)]
    steps = [((n, (v, a)), (n, (v, b))) for n in names for v in (0.5, 0.75, 1.0) for a, b in levels]
    steps += [((n, (a, e)), (n, (b, e))) for n in names for e in (0.5, 0.75, 1.0) for a, b in levels[1:]]
    rises = [mean[b] - mean[a] for a, b in steps if a in mean and b in mean]
    yield Verdict(
        "recall rises with the overlap, where all runs of both cells spread or none does",
        "proportional",
        f"{sum(d > 0 for d in rises)} of {len(rises)} steps",
        min(rises) > 0,
    )
    edges = [mean[n, (0.75, 0.75)] - mean[n, (0.75, 0.5)] for n in names]
    nodes = [mean[n, (0.75, 0.75)] - mean[n, (0.5, 0.75)] for n in names]
    yield Verdict(
        "missing edges cost more than missing people: 0.75/0.75 to 0.75/0.5 and to 0.5/0.75",
        "clearly",
        "; ".join(f"{percent(a)} and {percent(b)}" for a, b in zip(edges, nodes, strict=True)),
        min(a - b for a, b in zip(edges, nodes, strict=True)) > 0,
        refutes=True,
    )
    spread = [
        max(r) - min(r)
        for name in MAIN
        for overlap in PUBLISHED[name]
        if len(r := [run.published_recall for run in cells[name, overlap]]) > 1
    ]
    yield Verdict(
        "runs of one setting differ by less than a point, usually", "usually < 1",
        f"{sum(s < 0.01 for s in spread)} of {len(spread)} settings", np.mean(np.array(spread) < 0.01) > 0.5,
    )  # fmt: skip
