"""Table 3.1: recall of Nar09 by the overlap of the two graphs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

import numpy as np
from graphs_runs import MAIN, STAND_IN, Overlap, Run, count_spreading, format_range, mean_recall, perturb, seed_set
from show import Section, Verdict, percent

from unmask.graphs import Nar09
from unmask.measures.interval import wilson
from unmask.measures.rates import MIN_SPREAD

SEEDS, METHOD = 1000, "random.25"
PERTURBATIONS = SEED_SETS = 2

OVERLAPS: Final[tuple[Overlap, ...]] = (
    *((0.25, 0.75), (0.5, 0.25), (0.5, 0.5), (0.5, 0.75), (0.5, 1.0)),
    *((0.75, 0.25), (0.75, 0.5), (0.75, 0.75), (0.75, 1.0)),
    *((1.0, 0.25), (1.0, 0.5), (1.0, 0.75), (1.0, 1.0)),
)
COLUMNS = {
    "slashdot": (11.7, 0.4, 19.8, 36.5, 47.5, 0.3, 33.6, 50.7, 60.4, 0.3, 30.1, 58.9, 68.3),
    "epinions": (14.8, 0.9, 17.2, 25.9, 32.6, 0.6, 25.3, 36.1, 44.4, 0.4, 31.2, 43.2, 52.5),
    STAND_IN: (None, 0.6, 24.8, 35.7, 54.4, 0.7, 33.9, 57.9, 78.7, 1.5, 37.7, 75.2, 88.5),
}
PUBLISHED = {
    (name, overlap): value for name, column in COLUMNS.items() for overlap, value in zip(OVERLAPS, column, strict=True)
}
"""Published recall in percent; that of LJ66k stands next to the network that stands in."""

TOLERANCE = 1.0
"""Points by which the mean of our four runs may differ; runs differ by up to half of it."""

ODD_CELL: Final = ("slashdot", (1.0, 0.5))
"""A cell of the table whose runs are of two kinds."""


def run_cell(name: str, overlap: Overlap, number: int, seed_number: int) -> Run:
    """Run Nar09 on a perturbation with a seed set."""
    pair = perturb(name, *overlap, number)
    return Run.of(pair, Nar09(), seed_set(pair, METHOD, SEEDS, name, overlap, number, seed_number))


@cache
def runs_of(name: str, overlap: Overlap) -> tuple[Run, ...]:
    """Return the four runs of a cell."""
    numbers = ((number, seed_number) for number in range(PERTURBATIONS) for seed_number in range(SEED_SETS))
    return tuple(run_cell(name, overlap, *pair) for pair in numbers)


def verify_table() -> Section:
    """Compare all cells of both networks, and show the same settings on a third network."""
    header = ("Slashdot", "ours", "that spread", "Epinions", "ours", "that spread", "LJ66k", f"{STAND_IN}, ours")
    return Section(
        "Table 3.1: recall of Nar09 in percent, 1000 seeds random.25, theta 0.01",
        ("overlap v/e", *header, "that spread"),
        ((f"{v:g} / {e:g}", *(cell for name in COLUMNS for cell in _format_cell(name, (v, e)))) for v, e in OVERLAPS),
        (
            f"{PERTURBATIONS} perturbations x {SEED_SETS} seed sets a cell: mean (lowest-highest).",
            "Recall is hits without seeds / all people in both graphs, as published.",
            f"A run spreads if it matches {MIN_SPREAD:.0%} of the people it can find.",
            f"LJ66k was never published: the last column is another network, {STAND_IN}.",
        ),
        (*_cell_verdicts(), *_claims()),
    )


def _format_cell(name: str, overlap: Overlap) -> tuple[str, str, str]:
    published, runs = PUBLISHED[name, overlap], runs_of(name, overlap)
    recalls = [run.published_recall for run in runs]
    spreading = f"{count_spreading(runs)} of {len(runs)}"
    return "-" if published is None else f"{published:.1f}", format_range(recalls), spreading


def verify_odd_cell(more: int = 28) -> Section:
    """Test with many seed sets that the odd cell of Slashdot is a mean of two kinds of runs."""
    runs = [*runs_of(*ODD_CELL), *(run_cell(*ODD_CELL, number % 2, 2 + number // 2) for number in range(more))]
    recalls, spread = (np.array([getattr(run, name) for run in runs]) for name in ("published_recall", "spreads"))
    highest_other = max(recalls[~spread], default=0.0)
    best = float(recalls[spread].mean()) if spread.any() else 0.0
    gap = float(np.ptp(recalls[spread])) if spread.any() else 1.0
    published, n_spread, mean = PUBLISHED[ODD_CELL] or 0.0, int(spread.sum()), percent(float(recalls.mean()))
    low, high = (100 * share * best for share in wilson(float(spread.mean()), len(runs)))
    return Section(
        f"Slashdot 1.0/0.5 with {len(runs)} seed sets: a mean of runs that spread and runs that do not",
        ("runs", "that spread", "recall of those", "recall of the others", "mean of all"),
        ((len(runs), n_spread, percent(best), percent(highest_other) + " at most", mean),),
        (f"A published mean from {low:.1f} to {high:.1f} is in the 95 % interval of these runs.",),
        (
            Verdict(
                "runs are of two kinds: those that spread differ by less than 2 points, the others stay below 5 %",
                "-",
                f"{100 * gap:.1f} points; {n_spread} and {len(runs) - n_spread} runs",
                gap < 0.02 and 0 < n_spread < len(runs) and highest_other < MIN_SPREAD,
            ),
            Verdict(
                "the mean over all runs, with its share of runs that spread",
                f"{published}",
                f"{mean} [{low:.1f}, {high:.1f}]",
                low <= published <= high,
                refutes=True,
            ),
        ),
    )


def _is_torn(name: str, overlap: Overlap) -> bool:
    """Return True if some runs of a cell spread and some do not. Four such runs cannot estimate their mean."""
    return 0 < count_spreading(runs_of(name, overlap)) < len(runs_of(name, overlap))


def _cell_verdicts() -> Iterator[Verdict]:
    """Compare means over all runs with published means over all runs."""
    for name in MAIN:
        differences = {o: 100 * mean_recall(runs_of(name, o)) - (PUBLISHED[name, o] or 0.0) for o in OVERLAPS}
        torn = [overlap for overlap in OVERLAPS if _is_torn(name, overlap)]
        agreeing = [overlap for overlap in OVERLAPS if overlap not in torn]
        distant = [overlap for overlap in agreeing if abs(differences[overlap]) > TOLERANCE]
        yield Verdict(
            f"recall over all runs is within {TOLERANCE:g} point in all but one cell whose runs agree, {name}",
            "the table",
            f"{len(agreeing) - len(distant)} of {len(agreeing)} cells",
            len(distant) <= 1,
        )
        for overlap in (*distant, *sorted(torn)):
            _, recalls, spreading = _format_cell(name, overlap)
            yield Verdict(
                f"recall of {name} {overlap[0]:g}/{overlap[1]:g}",
                f"{PUBLISHED[name, overlap]}",
                f"{recalls}, {spreading} runs spread",
                abs(differences[overlap]) <= TOLERANCE,
                required=False,
                refutes=overlap in distant,
            )


def _claims() -> Iterator[Verdict]:
    """Check claims about means over all runs; cells whose runs disagree are left out of the steps."""
    names = (*MAIN, STAND_IN)
    mean = {(name, overlap): mean_recall(runs_of(name, overlap)) for name in names for overlap in OVERLAPS}
    levels = [(0.25, 0.5), (0.5, 0.75), (0.75, 1.0)]
    steps = [((n, (v, a)), (n, (v, b))) for n in names for v in (0.5, 0.75, 1.0) for a, b in levels]
    steps += [((n, (a, e)), (n, (b, e))) for n in names for e in (0.5, 0.75, 1.0) for a, b in levels[1:]]
    rises = [mean[b] - mean[a] for a, b in steps if not _is_torn(*a) and not _is_torn(*b)]
    ours = f"{sum(d > 0 for d in rises)} of {len(rises)} steps"
    claim = "recall rises with the overlap, where all runs of both cells spread or none does"
    yield Verdict(claim, "proportional", ours, min(rises) > 0)
    costs = [[mean[n, (0.75, 0.75)] - mean[n, cell] for cell in ((0.75, 0.5), (0.5, 0.75))] for n in names]
    yield Verdict(
        "missing edges cost more than missing people: 0.75/0.75 to 0.75/0.5 and to 0.5/0.75",
        "clearly",
        "; ".join(f"{percent(edges)} and {percent(people)}" for edges, people in costs),
        all(edges > people for edges, people in costs),
        refutes=True,
    )
    ranges = [np.ptp([run.published_recall for run in runs_of(n, overlap)]) for n in MAIN for overlap in OVERLAPS]
    n_small = sum(width < 0.01 for width in ranges)
    ours = f"{n_small} of {len(ranges)} settings"
    claim = "runs of one setting differ by less than a point, usually"
    yield Verdict(claim, "usually < 1", ours, n_small > len(ranges) / 2)
