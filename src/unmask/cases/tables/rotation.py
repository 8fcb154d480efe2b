"""Everybody of a study is held back in turn: what releases without them say of them, beside those that they are in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.cases.tables.belief import Case
from unmask.cases.tables.boxes import together
from unmask.cases.tables.case import Scene
from unmask.measures import Measure
from unmask.measures.added import Added, belief_in_truth
from unmask.results import Row
from unmask.tables.generators import Released
from unmask.tables.release import Table


class Made(NamedTuple):
    """What a protection made: the release of everybody, and the releases without each part of them, in turn."""

    whole: Released
    without: tuple[Table, ...] = ()


def in_turn(
    scene: Scene,
    attack: Any,
    without: Sequence[Table],
    fold: NDArray[np.int64],
    *,
    case: Case,
    rows: Sequence[Row],
    of: Sequence[Measure],
) -> Iterator[Row]:
    """The rows, each beside what releases without these people say of them, and what their own records add to the
    belief in the truth.

    without : the release without each part of the people; fold : (n_members,) the part that each is of
    case, rows : of the release of everybody; of : the measures that rows may be of
    """
    assert scene.known is not None
    person = scene.known.person
    link = attack.link(scene.table, scene.background) if hasattr(attack, "link") else None
    runs = [replace(Scene.of(scene.release, one, None, scene.known), foreign=scene.foreign) for one in without]
    told = [run.case(case.adversary, attack) for run in runs]
    out, cluster = fold[person] == np.arange(len(without))[:, None], None if link is None else together(link)

    def added(measure: Measure) -> Added:
        each = [measure.per_target(one.belief, one.truth) for one in told]
        return Added.of(np.array(each), out, person, cluster)

    named = {measure.name: measure for measure in of if measure.needs_truth and measure.has_interval}
    for row in rows:
        yield _beside(row, added(named[row.measure])) if row.measure in named else row
    yield added(belief_in_truth).row(release=case.release, adversary=case.adversary, target=case.target)


def _beside(row: Row, found: Added) -> Row:
    """The row with what releases without them say, and what their own records add, positive where it harms."""
    mean, (low, high, _) = found.mean()
    control = float(np.nanmean(found.outside))
    if row.direction == "low":
        mean, low, high = -mean, None if high is None else -high, None if low is None else -low
    return replace(row, control=control, excess=mean, excess_low=low, excess_high=high)
