"""The owner's list of who is at risk, and why: it names rows, so it is never part of a report."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unmask.core.distinct_rows import take_rows
from unmask.core.posterior import Posterior
from unmask.data.writing import escape_formula
from unmask.measures import success_probability
from unmask.measures.sensitive_values import likeliest_sensitive_value, rank_by_frequency, sensitive_probability
from unmask.reports.data import LIMITS
from unmask.reports.words import IDENTITY, MEMBERSHIP

CLASS_AT = "class_at_row_of_release_from_0"
"""Heading of where classes stand."""

SURER = 1e-9
"""By so much a belief must exceed what anybody could guess."""


@dataclass(frozen=True)
class AtRisk:
    """One person whom one adversary may re-identify, or whose value they may infer.

    row         : number of the row, or id of the node
    probability : that the adversary's best guess is right, by their own belief; None where they have only scores
    reason      : what makes it so: how many candidates fit, or what share of them have the value; never a cell
    at          : of tables, the row of the release that stands for the class that the person is in, see `ClassRisk`
    """

    release: str
    row: int | str
    adversary: str
    target: str
    probability: float | None
    reason: str
    at: int | None = None


@dataclass(eq=False)
class Watched:
    """Those at risk in all attacks that it is shown: with a probability above 9 % of being re-identified, or above 50 %
    of having a value that is not the commonest or of being told to be in the table, and above what guessing without the
    release gives.

    rows : what the rows are, the heading of their column
    """

    rows: str
    found: list[AtRisk] = field(default_factory=list)

    def see(
        self,
        belief: Posterior,
        rows: NDArray[np.int64],
        *,
        release: str,
        adversary: str,
        target: str,
        at: NDArray[np.int64] | None = None,
        unreleased: NDArray[np.bool_] | None = None,
        picked: Posterior | None = None,
    ) -> None:
        """Keep those at risk; rows : (n_targets,) the row of each target; at : where its class stands, -1 for none;
        unreleased : who has no record, so that nobody is right about it; picked : as in `Case`, whose candidates fit.
        """
        about = success_probability.self_assessed if target in (IDENTITY, MEMBERSHIP) else sensitive_probability
        assert about is not None
        success, guess = about(belief), float(about(belief.prior())[0])
        limit = LIMITS["identity" if target == IDENTITY else "value"]
        stands = np.full(len(rows), -1) if at is None else at
        above = (success > max(limit, guess) + SURER)[belief.observation]
        risky = np.flatnonzero(above if unreleased is None else above & ~unreleased)
        if not len(risky):
            return
        few = np.unique(belief.observation[risky])
        fit = take_rows(belief, few)
        if picked is not None:
            seen_by = np.zeros(belief.n_observations, dtype=np.int64)
            seen_by[belief.observation] = picked.observation
            fit = take_rows(picked, seen_by[few])
        reasons = dict(zip(few.tolist(), _reasons(fit, success[few], guess, target), strict=True))
        self.found += [
            AtRisk(release, row, adversary, target, float(success[seen]), reasons[seen], None if place < 0 else place)
            for row, seen, place in zip(
                rows[risky].tolist(), belief.observation[risky].tolist(), stands[risky].tolist(), strict=True
            )
        ]

    def by_release(self, releases: Sequence[str]) -> None:
        """Put those of one release after those of another, in whatever order they were attacked."""
        place = {name: at for at, name in enumerate(releases)}
        self.found.sort(key=lambda one: place.get(one.release, -1))

    def text(self) -> str:
        """A table as CSV, the worst first."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        known = any(one.at is not None for one in self.found)
        more = (CLASS_AT,) if known else ()
        writer.writerow(("release", self.rows, "adversary", "target", "probability", "reason", *more))
        writer.writerows(
            tuple(map(escape_formula, (one.release, str(one.row), one.adversary, one.target)))
            + (_shown(one.probability), escape_formula(one.reason))
            + (("" if one.at is None else one.at,) if known else ())
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


def _reasons(belief: Posterior, success: NDArray[np.float64], guess: float, target: str) -> list[str]:
    """Why each observation puts people at risk."""
    if target == IDENTITY:
        return _fitting(belief)
    if target == MEMBERSHIP:
        return [f"believed to be in the table with {one:.1%}; guessing gives {guess:.1%}" for one in success]
    return _shares(belief, success)


def _shares(belief: Posterior, share: NDArray[np.float64]) -> list[str]:
    """What share of the candidates have the value that is inferred, and of all people."""
    which, place = likeliest_sensitive_value(belief), rank_by_frequency(belief)
    before = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    return [
        f"{one:.1%} of those who fit have value {place[v]}; of all people {before[v]:.1%} have it" if v >= 0 else ""
        for one, v in zip(share.tolist(), which.tolist(), strict=True)
    ]
