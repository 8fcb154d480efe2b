"""Are control people like those attacked? If not, what being in a release added is not what the two differ by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.measures.interval import Interval
from unmask.measures.membership import area
from unmask.tables.attacks.backoff import BackOff
from unmask.tables.attacks.membership import stack_people
from unmask.tables.table import Table

Floats = NDArray[np.float64]

MAX_ALIKE_DEVIATION = 0.02
"""How far from 1/2 the AUC of people who are alike may be."""

MAX_WEIGHTED_AUC = 0.9
"""The AUC above which weights do not help."""

MAX_RECORD_AUC = 0.55
"""The AUC above which a question about whole records would find how people differ, and not what a release gave."""

MIN_EFFECTIVE = 300
"""Effective control people below which weights do not help."""

MAX_COMPARED = 1000
"""Largest number of people of either kind that `shift_by` compares."""

WEIGHT_QUANTILE = 0.99
"""The quantile of the weights above which they are cut."""

SIDES = ("attacked", "control")
"""Kinds of people, and in this form the name of the column with the kind: no table has such a column."""


@dataclass(frozen=True, eq=False)
class Shift:
    """Similarity of the people attacked and control people, by what is known of them.

    auc, interval : of a classifier that took no part in its own judgment, and its 95 % interval; 1/2: alike
    weight    : (n_control,) p / (1 - p), p that a person like them is attacked, cut at the 99th percentile; sum 1
    effective : (sum w)^2 / sum w^2, the control people that the weights leave
    """

    auc: float
    interval: Interval
    weight: Floats

    @property
    def effective(self) -> float:
        """Return the effective number of control people by their weights."""
        return 1.0 / float(self.weight @ self.weight)

    @property
    def alike(self) -> bool:
        """Return whether control people may stand for those attacked as they are: nothing shows that the AUC is above
        0.52.
        """
        return (self.auc if self.interval.low is None else self.interval.low) <= 0.5 + MAX_ALIKE_DEVIATION

    @property
    def unlike(self) -> bool:
        """Return whether members differ from control people without any release: the interval is above 0.55."""
        return self.interval.low is not None and self.interval.low > MAX_RECORD_AUC

    @property
    def is_different(self) -> bool:
        """Return whether they may not, however they are weighted."""
        return not self.alike and (self.auc > MAX_WEIGHTED_AUC or self.effective < MIN_EFFECTIVE)


def measure_shift(people: Table, control: Table, *, folds: int = 5) -> Shift:
    """Return whether control people are like those attacked, by the columns that both have.

    The people of each fold are classified by `BackOff`, as it learns from the other folds who is who; the AUC compares
    the beliefs. DeLong's interval is of one classifier; those of k folds learn from much the same people, and the
    variance of what they tell together is 1 + k / (k - 1) times as large. With f of everybody attacked, weights are
    p / (1 - p) (1 - f) / f, up to a factor.

    people  : of those with several rows one is taken, drawn at random: the others would tell that it is theirs
    control : a row of each control person

    >>> people = Table.read({"q": list("aabb") * 50}, quasi_identifiers="q")
    >>> others = Table.read({"q": list("aaab") * 50}, quasi_identifiers="q")
    >>> found = measure_shift(people, others)
    >>> round(found.auc, 2), found.alike, found.weight[0] < found.weight[3]
    (0.62, False, np.True_)

    S. Bickel, M. Brueckner & T. Scheffer, "Discriminative learning for differing training and test distributions", ICML
    2007: weights; D. Lopez-Paz & M. Oquab, "Revisiting classifier two-sample tests", ICLR 2017: the test; C. Nadeau &
    Y. Bengio, "Inference for the generalization error", Machine Learning 2003: the variance.
    """
    if people.person is not None:
        people = people.take(np.sort(people.one_each(np.random.default_rng(0))))
    everybody = _stack(people, control)
    n, attacked = everybody.n_rows, np.arange(everybody.n_rows) < people.n_rows
    labels, belief = BackOff(str(SIDES)).crossed(everybody, np.random.default_rng(0).permutation(n) % folds)
    assert labels == SIDES
    p = belief[:, 0]
    odds = p / np.maximum(1 - p, 1e-9)
    auc, interval = area(odds[attacked], odds[~attacked])
    weight = np.minimum(odds[~attacked], np.quantile(odds[~attacked], WEIGHT_QUANTILE))
    return Shift(auc, _wider(interval, auc, sqrt(1 + folds / (folds - 1))), weight / weight.sum())


def _wider(interval: Interval, value: float, times: float) -> Interval:
    """Return the interval, its ends as many times as far from the value and within [0, 1]; none stays none."""
    if interval.low is None or interval.high is None:
        return interval
    low, high = (value + times * (end - value) for end in (interval.low, interval.high))
    return interval._replace(low=max(low, 0.0), high=min(high, 1.0))


def shift_by(names: Iterable[str], people: Table, control: Table) -> Shift:
    """Return the same by columns of any role that both have; of at most `MAX_COMPARED` of either, drawn at random."""
    columns, rng = tuple(names), np.random.default_rng(0)
    rows = [table.one_each(rng) for table in (people, control)]
    n = min(MAX_COMPARED, *map(len, rows))
    tables = [table.take(those[:n]) for table, those in zip((people, control), rows, strict=True)]
    return measure_shift(
        *(replace(side, quasi_identifiers=tuple(map(side.column, columns)), sensitive=(), kept=()) for side in tables)
    )


def _stack(people: Table, control: Table) -> Table:
    """Return everybody, with the columns that both have and one that says who is who."""
    names = [column.name for column in people.quasi_identifiers if column.name in control.names]
    if not names:
        raise UnmaskError("control people have none of the quasi-identifiers; give a table with the same columns")
    side = Table.read({str(SIDES): list(SIDES)}, quasi_identifiers=str(SIDES), like=people, na=()).quasi_identifiers[0]
    side = replace(side, codes=np.repeat(side.codes, [people.n_rows, control.n_rows]))
    return replace(stack_people(people, control, names), sensitive=(side,), order=())
