"""Figures 3.2 to 3.4: what theta, the number of seeds, chance and degree do to Nar09."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from graphs_runs import MAIN, STAND_IN, Run, percent, perturb, seeded
from graphs_table import SEEDS, Cells
from show import Section, Verdict

from unmask.graphs import Nar09
from unmask.measures.rates import MIN_SPREAD

OVERLAP = (0.5, 0.75)

THETAS = (0.01, 0.1, 0.25, 0.5, 1.0, 2.0)

COUNTS = {
    "slashdot": (100, 200, 300, 400, 600, 1000),
    "epinions": (100, 200, 300, 400, 600, 1000),
    "wiki-vote": (10, 25, 50, 100, 200),
}
"""Numbers of seeds by network."""

NOISE = 0.002
"""By so much a recall may rise from one theta to the next: a different order of the same matches."""

MANY = 10
"""Seed sets of one perturbation, as many as the published scores are over."""


def _nar09(name: str, n: int, seed_set: int, *, theta: float = 0.01, perturbation: int = 0) -> Run:
    pair = perturb(name, *OVERLAP, perturbation)
    return Run.of(pair, Nar09(theta), seeded(pair, "random.25", n, name, OVERLAP, perturbation, seed_set))


def theta() -> Section:
    """Figure 3.2a: recall, error and precision by theta."""
    runs = {(name, t): _nar09(name, SEEDS if name in MAIN else 200, 0, theta=t) for name in COUNTS for t in THETAS}
    verdicts = []
    for name in COUNTS:
        of = [runs[name, t] for t in THETAS]
        recall, wrong = ([getattr(run, what) for run in of] for what in ("recall", "all_errors"))
        verdicts.append(
            Verdict(
                f"a lower theta names more people, and more of them wrongly, at every step, {name}", "yes",
                f"{_list(recall)}; errors {_list(wrong)}",
                max(np.diff(recall)) < NOISE and max(np.diff(wrong)) < NOISE
                and recall[0] > recall[-1] + NOISE and wrong[0] > wrong[-1],
            )
        )  # fmt: skip
    errors = [runs[name, 0.01].error for name in MAIN]
    every = [runs[name, 0.01].all_errors for name in MAIN]
    return Section(
        title="Figure 3.2a: recall / error / error with people not in the target / precision by theta, 0.5/0.75",
        header=("theta", *COUNTS),
        rows=tuple((f"{t:g}", *(_four(runs[name, t]) for name in COUNTS)) for t in THETAS),
        notes=("Sigma runs over the candidates that score; over all nodes, theta would be on another scale.",),
        verdicts=(
            *verdicts,
            Verdict("the error is a few per cent", "1 to 3", _list(errors), max(errors) < 0.03),
            Verdict("the overall error is around 5 %", "5", _list(every), all(0.02 < value < 0.08 for value in every)),
        ),
    )


def _four(run: Run) -> str:
    return " / ".join(map(percent, (run.recall, run.error, run.all_errors, run.precision)))


def _list(shares: Sequence[float]) -> str:
    return ", ".join(map(percent, shares))


def transition() -> Section:
    """Figure 3.2b: recall by the number of seeds."""
    runs = {
        (name, n): [_nar09(name, n, seed_set, perturbation=seed_set) for seed_set in range(2)]
        for name, counts in COUNTS.items()
        for n in counts
    }
    return Section(
        title="Figure 3.2b: recall of Nar09 by the number of random.25 seeds, 0.5/0.75, two perturbations",
        header=("network", "seeds", "recall", "runs that spread"),
        rows=tuple(
            (
                name,
                str(n),
                _list([run.recall for run in of]),
                f"{sum(r.recall >= MIN_SPREAD for r in of)} of {len(of)}",
            )
            for (name, n), of in runs.items()
        ),
        verdicts=tuple(_jumps({key: [run.recall for run in of] for key, of in runs.items()})),
    )


def _jumps(recalls: dict[tuple[str, int], list[float]]) -> Iterator[Verdict]:
    """A run either stays at its seeds or comes near the most that any run reaches."""
    for name, counts in COUNTS.items():
        every = [recall for n in counts for recall in recalls[name, n]]
        between = [recall for recall in every if MIN_SPREAD <= recall < 0.8 * max(every)]
        low, high = (np.mean(recalls[name, n]) for n in (counts[0], counts[-1]))
        yield Verdict(
            f"a phase transition: at most one run in ten ends between 5 % and 80 % of the best, {name}", "a sharp rise",
            f"{len(between)} of {len(every)} runs; {percent(float(low))} to {percent(float(high))}",
            len(between) <= len(every) / 10 and low < MIN_SPREAD and high > 0.8 * max(every),
        )  # fmt: skip


def scores(cells: Cells) -> Section:
    """Figure 3.3: how often chance decides whether a person is found."""
    rows, verdicts = [], []
    for name in MAIN:
        runs = [_nar09(name, SEEDS, seed_set) for seed_set in range(MANY)]
        hits = np.sum([run.hit for run in runs], axis=0)
        chances = np.sum([run.free & run.common for run in runs], axis=0)
        shares = np.histogram(hits[chances == MANY], bins=np.arange(MANY + 2))[0] / (chances == MANY).sum()
        rows.append((f"{name}, {MANY} seed sets", *map(percent, shares)))
        verdicts.append(
            Verdict(
                f"people who are found always or never, {name} 0.5/0.75", "84.6 (all settings) to 93.8 (high recall)",
                percent(shares[0] + shares[-1]), shares[0] + shares[-1] > 0.846,
            )
        )  # fmt: skip
    settled = [_settled(runs[at : at + 2]) for (name, _), runs in cells.items() for at in (0, 2) if name in MAIN]
    verdicts.append(
        Verdict(
            "people found by both or by neither of two seed sets, all settings of the table", "at least 84.6",
            percent(float(np.mean(settled))), float(np.mean(settled)) > 0.846,
        )
    )  # fmt: skip
    return Section(
        title="Figure 3.3: share of people in both graphs, never a seed, by the runs that name them rightly",
        header=("runs", *map(str, range(MANY + 1))),
        rows=tuple(rows),
        verdicts=tuple(verdicts),
    )


def _settled(runs: Sequence[Run]) -> float:
    """Share of people whose fate two seed sets agree on."""
    findable = runs[0].free & runs[1].free & runs[0].common
    return float((runs[0].hit == runs[1].hit)[findable].mean())


def degrees(cells: Cells) -> Section:
    """Figure 3.4: who is found, by degree, and how many in each pass."""
    names = (*MAIN, STAND_IN)
    runs = {name: cells[name, OVERLAP][0] for name in names}
    lows = (1, 2, 3, 4, 8, 16)
    rows = []
    for low, high in zip(lows, (*lows[1:], 10**9), strict=True):
        words = (
            f"degree {low}" if high == low + 1 else f"degree {low} to {high - 1}" if high < 10**9 else f"degree {low}+"
        )
        rows.append((words, *(percent(_recall(runs[name], low, high)) for name in names)))
    rows += [
        (f"found in the first {passes} passes", *(percent(_made(runs[name], passes)) for name in names))
        for passes in (1, 2, 3, 5)
    ]
    few = [_recall(runs[name], 1, 4) for name in names]
    many = [_recall(runs[name], 16, 10**9) for name in names]
    return Section(
        title="Figure 3.4: recall of Nar09 by degree in the source, and share of its matches by pass, 0.5/0.75",
        header=("", *names),
        rows=tuple(rows),
        verdicts=(
            Verdict("people of degree 3 or less are found in less than 20 %", "< 20", _list(few), max(few) < 0.2),
            Verdict("people of high degree are almost all found (16 and more)", "almost all", _list(many[:2]),
                    min(many[:2]) > 0.8),
            Verdict("most matches are made in the first two passes", "almost all",
                    _list([_made(runs[name], 2) for name in names]),
                    min(_made(runs[name], 2) for name in names) > 0.9, required=False),
            Verdict("a slow convergence follows: most passes come after the fifth, and make few matches",
                    "12 of 17 passes",
                    "; ".join(f"{len(runs[n].sweeps) - 5} of {len(runs[n].sweeps)}: {percent(1 - _made(runs[n], 5))}"
                              for n in names),
                    all(len(runs[n].sweeps) > 10 and 1 - _made(runs[n], 5) < 0.1 for n in names), required=False),
        ),
    )  # fmt: skip


def _recall(run: Run, low: int, high: int) -> float:
    asked = run.free & run.common & (run.degree >= low) & (run.degree < high)
    return float(run.hit[asked].mean()) if asked.any() else 0.0


def _made(run: Run, passes: int) -> float:
    return sum(run.sweeps[:passes]) / max(sum(run.sweeps), 1)
