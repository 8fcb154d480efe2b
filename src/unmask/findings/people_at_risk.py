"""The owner's list of people at risk, with reasons. It names rows, so it is never part of a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unmask.core.distinct_rows import take_rows
from unmask.core.posterior import Posterior
from unmask.data.writing import escape_formula, format_csv
from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.measures import success_probability
from unmask.measures.sensitive_values import likeliest_sensitive_value, rank_by_frequency, sensitive_probability
from unmask.results.formats import percent
from unmask.results.names import IDENTITY, LIMITS, MEMBERSHIP

CLASS_AT = "class_at_row_of_release_from_0"
"""Heading of the column with the row that stands for a class."""

MIN_EXCESS = 1e-9
"""Excess of a belief over guessing, below which the two are equal."""


@dataclass(frozen=True)
class AtRisk:
    """A person at risk: one adversary may re-identify them, or infer their value.

    Parameters
    ----------
    row : int or str
        Number of the row, or id of the node.
    probability : float, optional
        Probability that the adversary's best guess is right, by their own belief; None if they have only scores.
    reason : str
        Number of matching candidates, or the share of them with the value; never a cell.
    at : int, optional
        Row of the release that stands for the class of the person, see `ClassRisk`.
    why : str
        Columns that single the person out, and the one whose removal hides them best; "" if they were not searched.
    """

    release: str
    row: int | str
    adversary: str
    target: str
    probability: float | None
    reason: str
    at: int | None = None
    why: str = ""


@dataclass(eq=False)
class Watched:
    """People at risk in all attacks: above the limit of their target, and above guessing without the release.

    The limit is 9 % for re-identification, and 50 % for a value other than the most common one and for membership.

    Parameters
    ----------
    rows : str
        Heading of the column of rows.
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
        why: Callable[[int], str] = lambda _: "",
    ) -> None:
        """Add the people at risk in one attack.

        Parameters
        ----------
        belief : Posterior
            Belief about each target.
        rows : (n_targets,) array
            Row of each target.
        release, adversary, target : str
            The attack.
        at : (n_targets,) array, optional
            Row that stands for the class of each target, -1 without one.
        unreleased : (n_targets,) array, optional
            Mask of targets without a record: no adversary is right about them.
        picked : Posterior, optional
            Belief by which a record is picked, if people have several records; its candidates are counted.
        why : callable
            Target -> the columns that single them out.
        """
        measure = success_probability.self_assessed if target in (IDENTITY, MEMBERSHIP) else sensitive_probability
        assert measure is not None
        success, guess = measure(belief), float(measure(belief.prior())[0])
        limit = LIMITS["identity" if target == IDENTITY else "value"]
        is_above = (success > max(limit, guess) + MIN_EXCESS)[belief.observation]
        risky = np.flatnonzero(is_above if unreleased is None else is_above & ~unreleased)
        if not len(risky):
            return
        risky = risky[np.argsort(-success[belief.observation[risky]], kind="stable")]  # the search for columns may end
        observations = np.unique(belief.observation[risky])
        candidates = take_rows(belief, observations)
        if picked is not None:
            picked_observation = np.zeros(belief.n_observations, dtype=np.int64)
            picked_observation[belief.observation] = picked.observation
            candidates = take_rows(picked, picked_observation[observations])
        texts = _reasons(candidates, success[observations], guess, target)
        reasons = dict(zip(observations.tolist(), texts, strict=True))
        places = np.full(len(rows), -1) if at is None else at
        for person in risky.tolist():
            observation, place = int(belief.observation[person]), int(places[person])
            risk, row_of_class = float(success[observation]), None if place < 0 else place
            reason, columns = reasons[observation], why(person)
            self.found.append(
                AtRisk(release, int(rows[person]), adversary, target, risk, reason, row_of_class, columns)
            )

    def by_release(self, releases: Sequence[str]) -> None:
        """Sort the people by release; threads may have attacked these in another order."""
        place = {name: i for i, name in enumerate(releases)}
        self.found.sort(key=lambda person: place.get(person.release, -1))

    def text(self) -> str:
        """Return a table as CSV, the highest probability first."""
        has_classes = any(person.at is not None for person in self.found)
        has_columns = any(person.why for person in self.found)
        heading: tuple[str, ...] = ("release", self.rows, "adversary", "target", "probability", "reason")
        heading += ((CLASS_AT,) if has_classes else ()) + (("why",) if has_columns else ())
        lines = []
        for person in sorted(self.found, key=lambda person: -round(person.probability or 0.0, 9)):
            texts = map(escape_formula, (person.release, str(person.row), person.adversary, person.target))
            probability = "" if person.probability is None else f"{person.probability:.6g}"
            place = ("" if person.at is None else person.at,) if has_classes else ()
            why = (escape_formula(person.why),) if has_columns else ()
            lines.append((*texts, probability, escape_formula(person.reason), *place, *why))
        return format_csv(heading, lines)


def _reasons(belief: Posterior, success: NDArray[np.float64], guess: float, target: str) -> list[str]:
    """Return why the people of each observation are at risk."""
    if target == IDENTITY:
        n_candidates = belief.row_length + np.where(belief.unlisted > 0, np.maximum(belief.n_unlisted, 0), 0)
        return [_("1 candidate fits") if n == 1 else _("{n} candidates fit", n=n) for n in n_candidates.tolist()]
    if target == MEMBERSHIP:
        message = mark("believed to be in the table with {share}; guessing gives {prior}")
        return [_(message, share=percent(share), prior=percent(guess)) for share in success]
    likeliest, rank = likeliest_sensitive_value(belief), rank_by_frequency(belief)
    prior = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    message = mark("{share} of those who fit have value {value}; of all people {prior} have it")
    return [
        _(message, share=percent(share), value=rank[v], prior=percent(float(prior[v]))) if v >= 0 else ""
        for share, v in zip(success.tolist(), likeliest.tolist(), strict=True)
    ]
