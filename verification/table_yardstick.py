"""What k buys: identity and attribute risk of k-anonymous Adult on one scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from show import Section, Verdict

from unmask.measures import success_probability
from unmask.scoring import score
from unmask.tables import criteria, datasets
from unmask.tables.attacks import AttributeInference, ClassAttack
from unmask.tables.protections.mondrian import Mondrian

SEED = 3
SENSITIVE = "occupation"


@dataclass(frozen=True)
class Line:
    """One value of k: identity and occupation success, mean and worst class; t as total variation; I(X;Y) in bits;
    least effective l (the exponential of the entropy).
    """

    k: int
    classes: int
    identity: float
    identity_worst: float
    occupation: float
    occupation_worst: float
    t: float
    information: float
    l_entropy: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The numbers as text."""
        return (
            str(self.classes),
            f"{self.identity:.4f} / {self.identity_worst:.3f}",
            f"{self.occupation:.3f} / {self.occupation_worst:.2f}",
            f"{self.t:.3f}",
            f"{self.information:.3f}",
            f"{self.l_entropy:.2f}",
        )


OTHER = (
    Line(3, 846, 0.0281, 0.333, 0.293, 1.00, 0.935, 0.568, 1.00),
    Line(10, 489, 0.0162, 0.100, 0.286, 1.00, 0.866, 0.518, 1.00),
    Line(20, 351, 0.0116, 0.050, 0.283, 0.93, 0.803, 0.488, 1.34),
    Line(50, 218, 0.0072, 0.020, 0.279, 0.90, 0.769, 0.450, 1.56),
    Line(100, 155, 0.0051, 0.010, 0.276, 0.85, 0.712, 0.426, 1.71),
)
"""Strict Mondrian of qiyuangong (49d49cf), categories sorted: a cut that refuses a median in the last value."""


def yardstick() -> Section:
    """Identity and occupation success, five values of k, beside those of another cut."""
    found = [_line(other.k) for other in OTHER]
    rows = [
        row
        for other, (line, _) in zip(OTHER, found, strict=True)
        for row in ((str(other.k), "qiyuangong", *other.cells), (str(line.k), "ours", *line.cells))
    ]
    lines = [line for line, _ in found]
    return Section(
        "What k buys: Adult, 30,162 rows, age, education-num, marital-status, race, sex",
        (
            "k",
            "cut",
            "classes",
            "identity avg / worst",
            "occupation avg / worst",
            "t (TV)",
            "I(X;Y) bits",
            "min entropy l",
        ),
        tuple(rows),
        ("Prior: identity 1 / 30,162, occupation 0.1339. Our cut takes the allowable position nearest the median.",),
        (*_verdicts(lines), _same_by_attack(found)),
    )


def _line(k: int) -> tuple[Line, tuple[float, float, float, float]]:
    """The criteria of a release; and mean and worst success of the two attacks that were run on it."""
    release, _ = Mondrian(k=k)(datasets.adult(), rng=np.random.default_rng(SEED))
    found = criteria.evaluate(release)
    column = found.columns[SENSITIVE]
    line = Line(
        k,
        found.classes,
        found.prosecutor_average,
        found.prosecutor_max,
        column.average_privacy_risk,
        column.alpha,
        column.t_equal,
        column.information_bits,
        column.l_entropy,
    )
    identity, occupation = (
        score(attack(release), measures=(success_probability,)).rows[0]
        for attack in (ClassAttack(), AttributeInference(SENSITIVE))
    )
    return line, (identity.posterior, identity.worst, occupation.posterior, occupation.worst)


def _verdicts(lines: list[Line]) -> Iterator[Verdict]:
    """The same reading: identity falls several-fold, the attribute barely moves."""
    first, last = lines[0], lines[-1]
    fold, fold_other = first.identity / last.identity, OTHER[0].identity / OTHER[-1].identity
    kept, other = last.occupation / first.occupation, OTHER[-1].occupation / OTHER[0].occupation
    yield Verdict(
        "k=3 to k=100: identity success falls several-fold", f"{fold_other:.1f}-fold", f"{fold:.1f}-fold", fold > 4
    )
    kept, other = last.occupation / first.occupation, OTHER[-1].occupation / OTHER[0].occupation
    yield Verdict(
        "identity falls three times as much as occupation",
        f"{fold_other * other:.1f} x",
        f"{fold * kept:.1f} x",
        fold * kept > 3,
    )
    # A coarse cut has little to lose: at k=3 it leaves 846 classes, ours 3,082, some of one value by chance.
    yield Verdict(
        "occupation success barely moves: 90 % is left", f"{other:.0%}", f"{kept:.0%}", kept > 0.9, required=False
    )
    twice = all(line.occupation > 2 * 0.1339 for line in lines)
    yield Verdict(
        "occupation stays twice its prior at every k", "0.276 of 0.134", f"{last.occupation:.3f} of 0.134", twice
    )
    worst = all(line.identity_worst <= 1 / line.k for line in lines)
    yield Verdict(
        "the worst-off person is no worse than 1/k",
        "1/k",
        " ".join(f"{line.identity_worst:.3f}" for line in lines),
        worst,
    )
    falling = all(a.identity > b.identity and a.information > b.information for a, b in pairwise(lines))
    yield Verdict(
        "identity and I(X;Y) fall with k",
        "0.568 to 0.426",
        f"{first.information:.3f} to {last.information:.3f}",
        falling,
    )


def _same_by_attack(found: list[tuple[Line, tuple[float, float, float, float]]]) -> Verdict:
    """Two ways to one number: the criteria of the class histogram, and the attacks' beliefs."""
    gap = max(
        abs(one - two)
        for line, attacks in found
        for one, two in zip(
            (line.identity, line.identity_worst, line.occupation, line.occupation_worst), attacks, strict=True
        )
    )
    return Verdict("criteria and attacks give the same numbers", "equal", f"largest gap {gap:.1e}", gap < 1e-6)
