"""The owner's list of who is at risk, and why: it names rows, so it is never part of a report."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unmask.measures import success_probability
from unmask.posterior import Posterior
from unmask.reports.data import LIMITS
from unmask.reports.words import MEMBERSHIP

SURER = 1e-9
"""By so much a belief must exceed what anybody could guess."""


@dataclass(frozen=True)
class AtRisk:
    """One person whom one adversary may re-identify, or whose value they may infer.

    row         : number of the row, or id of the node
    probability : that the adversary's best guess is right, by their own belief; None where they have only scores
    reason      : what makes it so: how many candidates fit, or what share of them have the value; never a cell
    """

    release: str
    row: int | str
    adversary: str
    target: str
    probability: float | None
    reason: str


@dataclass(eq=False)
class Watched:
    """Those at risk in all attacks that it is shown: with a probability above 9 % of being re-identified, or above 50 %
    of a value being inferred or of being told to be in the table, and above what guessing without the release gives.

    rows : what the rows are, the heading of their column
    """

    rows: str
    found: list[AtRisk] = field(default_factory=list)

    def see(self, belief: Posterior, rows: NDArray[np.int64], *, release: str, adversary: str, target: str) -> None:
        """Keep those at risk; rows : (n_targets,) the row of each target."""
        assert success_probability.self_assessed is not None
        success = success_probability.self_assessed(belief)
        guess = float(success_probability.self_assessed(belief.prior())[0])
        limit = LIMITS["identity" if target == "identity" else "value"]
        said = _in_the_table if target == MEMBERSHIP else _shares
        reasons = _fitting(belief) if target == "identity" else said(success, guess)
        risky = np.flatnonzero((success > max(limit, guess) + SURER)[belief.observation])
        self.found += [
            AtRisk(release, row, adversary, target, float(success[seen]), reasons[seen])
            for row, seen in zip(rows[risky].tolist(), belief.observation[risky].tolist(), strict=True)
        ]

    def text(self) -> str:
        """A table as CSV, the worst first."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("release", self.rows, "adversary", "target", "probability", "reason"))
        writer.writerows(
            (one.release, one.row, one.adversary, one.target, _shown(one.probability), one.reason)
            for one in _worst_first(self.found)
        )
        return out.getvalue()


def _worst_first(found: Iterable[AtRisk]) -> list[AtRisk]:
    return sorted(found, key=lambda one: -round(one.probability or 0.0, 9))


def _shown(probability: float | None) -> str:
    return "" if probability is None else f"{probability:.6g}"


def _fitting(belief: Posterior) -> list[str]:
    """How many candidates each observation leaves."""
    listed = belief.row_length + np.where(belief.unlisted > 0, np.maximum(belief.n_unlisted, 0), 0)
    return ["1 candidate fits" if n == 1 else f"{n:,} candidates fit" for n in listed.tolist()]


def _shares(shares: NDArray[np.float64], guess: float) -> list[str]:
    """What share of the candidates have the value that is inferred."""
    return [f"{share:.1%} of those who fit share one value; guessing gives {guess:.1%}" for share in shares]


def _in_the_table(sure: NDArray[np.float64], guess: float) -> list[str]:
    """How sure it is that somebody is in the table."""
    return [f"believed to be in the table with {one:.1%}; guessing gives {guess:.1%}" for one in sure]
