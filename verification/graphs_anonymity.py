"""Figures 4.3a, 4.5 and 4.6: do criteria of a graph alone foretell whom an attack finds?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from graphs_runs import MAIN, STAND_IN, Overlap, Run, percent, perturb, seeded
from graphs_table import Cells
from show import Section, Verdict

from unmask.graphs import Grasshopper
from unmask.graphs.criteria import local_anonymity, spearman

VARIANTS = ("A", "B", "C", "degree")

FAIR = 0.05
"""Recall from which on the published correlations are steady."""

GRASSHOPPER: tuple[Overlap, ...] = ((0.5, 0.5), (0.5, 0.75), (0.75, 0.75))

Links = dict[tuple[str, Overlap], tuple[float, dict[str, float]]]
"""Network and overlap -> recall, and rank correlation of the score with each variant."""


def _link(name: str, overlap: Overlap, runs: list[Run], number: int) -> tuple[float, dict[str, float]]:
    """Score (3.6) of the people who could be found in some run, against the criteria in the source."""
    source = perturb(name, *overlap, number).source
    findable = np.any([run.free & run.common for run in runs], axis=0)
    score = np.sum([run.hit.astype(np.int64) - (run.wrong & run.common) for run in runs], axis=0)
    found = {v: spearman(score[findable], local_anonymity(source, v)[findable]) for v in VARIANTS}
    recall = float(np.mean([run.recall for run in runs]))
    return recall, {v: value for v, value in found.items() if value is not None}


def nar09(cells: Cells) -> Section:
    """Figure 4.3a on the settings of the table, the first perturbation of each."""
    links: Links = {key: _link(*key, runs[:2], 0) for key, runs in cells.items()}
    return Section(
        title="Figure 4.3a: rank correlation of the score of Nar09 with local anonymity in the source",
        header=("network", "overlap v/e", "recall", *(f"LTA {v}" for v in VARIANTS)),
        rows=tuple(_rows(links)),
        notes=("Two seed sets a setting, where the published scores are over ten runs.",),
        verdicts=tuple(_nar09_verdicts(links)),
    )


def _rows(links: Links) -> Iterator[tuple[str, ...]]:
    for (name, overlap), (recall, by) in links.items():
        cells = (f"{by[v]:+.2f}" if v in by else "" for v in VARIANTS)
        yield (name, f"{overlap[0]:g} / {overlap[1]:g}", percent(recall), *cells)


def _of(links: Links, variant: str, *names: str) -> list[float]:
    return [by[variant] for (name, _), (recall, by) in links.items() if recall >= FAIR and name in names]


def _span(values: list[float]) -> str:
    return f"{np.mean(values):+.2f} ({min(values):+.2f} to {max(values):+.2f})"


def _nar09_verdicts(links: Links) -> Iterator[Verdict]:
    a, b, c, degree = (_of(links, v, *MAIN) for v in VARIANTS)
    yield Verdict("LTA A, recall of 5 % and more", "-0.3 to -0.8", _span(a), min(a) >= -0.8 and max(a) <= -0.3)
    yield Verdict("degree", "0.3 to 0.8", _span(degree), min(degree) >= 0.3 and max(degree) <= 0.8)
    yield Verdict("LTA C is of the sign of A, and weaker", "weaker", _span(c), max(c) < 0 and np.mean(c) > np.mean(a))
    yield Verdict("LTA B is scattered around zero", "about 0", _span(b), abs(np.mean(b)) < 0.2)
    wins = [d > -x for x, d in zip(a, degree, strict=True)]
    yield Verdict(
        "degree is slightly better on both networks (figure 4.5a)", "better", f"in {sum(wins)} of {len(wins)} settings",
        sum(wins) > len(wins) / 2,
    )  # fmt: skip
    a, degree = (_of(links, v, STAND_IN) for v in ("A", "degree"))
    wins = [-x > d for x, d in zip(a, degree, strict=True)]
    yield Verdict(
        f"LTA A is better where degrees are balanced (figure 4.5b): {STAND_IN}", "better",
        f"in {sum(wins)} of {len(wins)} settings", sum(wins) > len(wins) / 2, required=False,
    )  # fmt: skip


def grasshopper() -> Section:
    """Figure 4.6, on some of the settings."""
    links: Links = {}
    for name in MAIN:
        for overlap in GRASSHOPPER:
            pair = perturb(name, *overlap, 0)
            runs = [
                Run.of(pair, Grasshopper(), seeded(pair, "random.25", 100, name, overlap, "grasshopper", i))
                for i in range(2)
            ]
            links[name, overlap] = _link(name, overlap, runs, 0)
    a, degree = (_of(links, v, *MAIN) for v in ("A", "degree"))
    wins = [d > -x for x, d in zip(a, degree, strict=True)]
    return Section(
        title="Figure 4.6: rank correlation of the score of Grasshopper (100 seeds) with local anonymity in the source",
        header=("network", "overlap v/e", "recall", *(f"LTA {v}" for v in VARIANTS)),
        rows=tuple(_rows(links)),
        verdicts=(
            Verdict("LTA A foretells whom Grasshopper finds", "acceptable", _span(a), max(a) < -0.2),
            Verdict("degree does", "acceptable", _span(degree), min(degree) > 0.2),
            Verdict("degree does better in general", "in general", f"in {sum(wins)} of {len(wins)} settings",
                    sum(wins) > len(wins) / 2),
        ),
    )  # fmt: skip
