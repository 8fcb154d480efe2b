"""Similarity of the control group and the attacked people, which a comparison of the two needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from unmask.core.arrays import Floats
from unmask.core.errors import UnmaskError
from unmask.measures.interval import Interval
from unmask.measures.membership import area
from unmask.tables.attacks.backoff import BackOff
from unmask.tables.attacks.membership import stack_people
from unmask.tables.table import Table

MAX_ALIKE_DEVIATION = 0.02
"""Largest distance from 1/2 of the AUC of similar groups."""

MAX_WEIGHTED_AUC = 0.9
"""AUC above which weights cannot make the groups similar."""

MAX_RECORD_AUC = 0.55
"""AUC above which attacks on whole records would measure the difference of the groups, not the release."""

MIN_EFFECTIVE = 300
"""Effective size of a weighted control group below which weights do not help."""

MAX_COMPARED = 1000
"""Largest number of people of each group that `shift_by` compares."""

WEIGHT_QUANTILE = 0.99
"""Quantile at which weights are cut."""

SIDES = ("attacked", "control")
"""Labels of the two groups. Their text form names the label column, because no table has such a column."""


@dataclass(frozen=True, eq=False)
class Shift:
    """Difference between the attacked people and the control group in the columns that an adversary knows.

    Parameters
    ----------
    auc : float
        AUC of a cross-validated classifier that separates the groups; 1/2 if they are similar.
    interval : Interval
        95 % interval of the AUC.
    weight : (n_control,) array
        Weights that make the control group similar: p / (1 - p), with p the probability that such a person belongs to
            the attacked people, cut at the 99th percentile. The sum is 1.
    """

    auc: float
    interval: Interval
    weight: Floats

    @property
    def effective(self) -> float:
        """Return the effective size of the weighted control group, (sum w)^2 / sum w^2."""
        return 1.0 / float(self.weight @ self.weight)

    @property
    def is_similar(self) -> bool:
        """Return True if the control group needs no weights: the AUC is not significantly above 0.52."""
        return (self.auc if self.interval.low is None else self.interval.low) <= 0.5 + MAX_ALIKE_DEVIATION

    @property
    def differs_significantly(self) -> bool:
        """Return True if the groups differ without any release: the whole interval is above 0.55."""
        return self.interval.low is not None and self.interval.low > MAX_RECORD_AUC

    @property
    def is_different(self) -> bool:
        """Return True if no weights make the groups similar."""
        return not self.is_similar and (self.auc > MAX_WEIGHTED_AUC or self.effective < MIN_EFFECTIVE)


def measure_shift(people: Table, control: Table, *, folds: int = 5) -> Shift:
    """Measure whether the control group is similar to the attacked people, in the columns that both tables have.

    A `BackOff` classifier predicts the group of each person. It is cross-validated, and the AUC compares its
    predictions for the two groups.

    Parameters
    ----------
    people : Table
        Attacked people. If a person has several rows, one row is drawn: the other rows would identify it.
    control : Table
        Control group, one row for each person.
    folds : int
        Number k of folds. The classifiers of k folds share most of their training data. Therefore the variance of
        DeLong's interval, which is for one classifier, is multiplied by 1 + k / (k - 1).

    Returns
    -------
    Shift

    References
    ----------
    Weights: S. Bickel, M. Brueckner & T. Scheffer, "Discriminative learning for differing training and test
        distributions", ICML 2007. Test: D. Lopez-Paz & M. Oquab, "Revisiting classifier two-sample tests", ICLR 2017.
    Variance: C. Nadeau & Y. Bengio, "Inference for the generalization error", Machine Learning 2003.

    Examples
    --------
    >>> people = Table.read({"q": list("aabb") * 50}, quasi_identifiers="q")
    >>> control = Table.read({"q": list("aaab") * 50}, quasi_identifiers="q")
    >>> shift = measure_shift(people, control)
    >>> round(shift.auc, 2), shift.is_similar, shift.weight[0] < shift.weight[3]
    (0.62, False, np.True_)
    """
    if people.person is not None:
        people = people.take(np.sort(people.draw_row_of_each_person(np.random.default_rng(0))))
    everybody = _stack(people, control)
    n, attacked = everybody.n_rows, np.arange(everybody.n_rows) < people.n_rows
    labels, belief = BackOff(str(SIDES)).cross_validate(everybody, np.random.default_rng(0).permutation(n) % folds)
    assert labels == SIDES
    p = belief[:, 0]
    odds = p / np.maximum(1 - p, 1e-9)
    auc, interval = area(odds[attacked], odds[~attacked])
    weight = np.minimum(odds[~attacked], np.quantile(odds[~attacked], WEIGHT_QUANTILE))
    return Shift(auc, _wider(interval, auc, sqrt(1 + folds / (folds - 1))), weight / weight.sum())


def _wider(interval: Interval, value: float, factor: float) -> Interval:
    """Return an interval with both distances from the value multiplied, within [0, 1]; no interval stays none."""
    if interval.low is None or interval.high is None:
        return interval
    low, high = (value + factor * (end - value) for end in (interval.low, interval.high))
    return interval._replace(low=max(low, 0.0), high=min(high, 1.0))


def shift_by(names: Iterable[str], people: Table, control: Table) -> Shift:
    """Return the shift in the named columns, of any role, for at most `MAX_COMPARED` people of each group."""
    columns, rng = tuple(names), np.random.default_rng(0)
    rows = [table.draw_row_of_each_person(rng) for table in (people, control)]
    n = min(MAX_COMPARED, *map(len, rows))
    tables = [table.take(drawn[:n]) for table, drawn in zip((people, control), rows, strict=True)]
    return measure_shift(*(side.known_by(map(side.column, columns)) for side in tables))


def _stack(people: Table, control: Table) -> Table:
    """Return both groups in one table: their common columns, and a column with the group."""
    names = [column.name for column in people.quasi_identifiers if column.name in control.names]
    if not names:
        raise UnmaskError("the control group has none of the quasi-identifiers; give a table with the same columns")
    side = Table.read({str(SIDES): list(SIDES)}, quasi_identifiers=str(SIDES), like=people, na=()).quasi_identifiers[0]
    side = replace(side, codes=np.repeat(side.codes, [people.n_rows, control.n_rows]))
    return replace(stack_people(people, control, names), sensitive=(side,), order=())
