"""Can they single somebody out? Guesses made of the release alone, tried on its people and on control people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain, pairwise

import numpy as np

from unmask.audit import Audit
from unmask.core.errors import NotRunError, UnmaskError
from unmask.measures import Quantity
from unmask.measures.base import UndefinedError, build_row
from unmask.measures.interval import Interval, wilson
from unmask.measures.names import singled_out, singled_out_of_as_many
from unmask.reports.facts.wp216 import BOX, ONE, SINGLING, SOME, WHOLE
from unmask.results import Row
from unmask.tables.attacks import SinglingOut
from unmask.tables.attacks.singling_out import Predicate
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, unlike
from unmask.tables.control.similarity import shift_by
from unmask.tables.control.singling_trials import (
    SingledOut,
    SinglingTrial,
    judge_singling_out,
    judge_singling_out_in_boxes,
)
from unmask.tables.table import Table

NEEDS_PEOPLE = "needs the original table, on whose people guesses are tried (--original)"
NEEDS_CONTROL = "needs control people, by whom it is told which guesses hold for many anyway"


def singling_out(scene: AttackedRelease, evidence: AuditorKnowledge) -> Audit:
    """Every kind of guess that the release allows.

    They are about all released columns, sensitive ones too, that the original and the control people have. Control
    people are halved at random: of one half it is told for how many people a guess holds in general, and on the other
    half guesses are tried. Where no class is of one row, guesses are made inside the boxes of classes, too.
    """
    if evidence.original is None or evidence.control is None:
        return Audit(
            (), (("Singling out", NEEDS_PEOPLE if evidence.original is None else f"{NEEDS_CONTROL} (--control)"),)
        )
    if evidence.person is not None:
        return Audit((), (("Singling out", SEVERAL_ROWS),))
    alike = _alike(scene.table, evidence.original, evidence.control)
    if why := evidence.unlike(alike[0].names):
        return Audit((), (("Singling out", why),))
    rng = np.random.default_rng(evidence.seed)
    asked = list(_by_rows(*alike, rng))
    if scene.table.classes.sizes.min() > 1:
        boxes = partial(judge_singling_out_in_boxes, scene.table, evidence.original, evidence.control, rng=rng)
        asked.append((BOX, boxes))
    rows: list[Row] = []
    not_run: list[tuple[str, str]] = []
    for kind, attack in asked:
        try:
            rows += _rows(scene.release, kind, attack())
        except UndefinedError as error:
            not_run.append((f"Singling out by {kind} in {scene.release}", str(error)))
    return Audit(tuple(rows), tuple(not_run))


SEVERAL_ROWS = "people have several rows, and a guess is right that fits one row: nobody with rows alike is singled out"

Asked = tuple[str, Callable[[], SingledOut]]


def _by_rows(release: Table, members: Table, control: Table, rng: np.random.Generator) -> Iterator[Asked]:
    people = members, *_halves(control, rng)
    kinds = dict(_guesses(release, rng))
    tried = SinglingTrial.of([*chain.from_iterable(kinds.values())], *people, rng=rng)
    ends = pairwise(accumulate(map(len, kinds.values()), initial=0))
    for kind, some in zip(kinds, ends, strict=True):
        yield kind, partial(judge_singling_out, tried.only(slice(*some)))


def _halves(control: Table, rng: np.random.Generator) -> tuple[Table, Table]:
    """Control people on whom guesses are tried, and by whom they are weighed."""
    order, half = rng.permutation(control.n_rows), control.n_rows // 2
    return control.take(order[:half]), control.take(order[half:])


def guessed(
    scene: AttackedRelease,
    adversary: str,
    attack: SinglingOut,
    people: tuple[Table, Table | None],
    *,
    rng: np.random.Generator,
) -> list[Row]:
    """The rows of one kind of guesses in a study. people : members and control people"""
    members, control = people
    if control is None:
        raise UnmaskError(f"singling out {NEEDS_CONTROL}: hold people back, or give them as control")
    if members.person is not None:
        raise NotRunError(SEVERAL_ROWS)
    release, members, control = _alike(scene.table, members, control)
    if why := unlike(release.names, shift_by(release.names, members, control)):
        raise UnmaskError(why)
    tables = members, *_halves(control, rng)
    tried = SinglingTrial.of(attack(release, rng=rng), *tables, rng=rng)
    return list(_rows(scene.release, adversary, judge_singling_out(tried)))


def _alike(release: Table, members: Table, control: Table) -> tuple[Table, Table, Table]:
    """Tables with the columns that all of them have, and that compare alike in all."""
    others = members, control
    columns = [c for c in release.columns if all(c.name in other.names for other in others)]
    names = [c.name for c in columns if all(other.column(c.name).levels.kind == c.levels.kind for other in others)]
    if not names:
        raise UnmaskError(
            "no released column is one of the original and of the control people, too, and of one type in all; give "
            "tables with the same columns, written alike"
        )
    known = (
        replace(table, quasi_identifiers=tuple(map(table.column, names)), sensitive=(), kept=(), weight=None)
        for table in (release, *others)
    )
    return next(known), next(known), next(known)


def _guesses(release: Table, rng: np.random.Generator) -> Iterator[tuple[str, list[Predicate]]]:
    every = len(release.quasi_identifiers)
    found = SinglingOut()(release, rng=rng)
    yield ONE, [each for each in found if len(each) == 1]
    yield SOME, [each for each in found if len(each) > 1]
    found = SinglingOut(conditions=(every, every), exact=True)(release, rng=rng)
    yield WHOLE, [each for each in found if len(each) > 1]


def _rows(release: str, kind: str, found: SingledOut) -> Iterator[Row]:
    """Of everybody in the table, and beside control people of as many."""

    def row(measure: Quantity, prior: float, share: float, note: str) -> Row:
        return build_row(
            measure,
            (prior, share),
            Interval(*wilson(share, found.guesses), "guesses like these (Wilson)"),
            (np.array([share]), np.ones(1)),
            n=found.guesses,
            n_observations=found.guesses,
            worst=share,
            worst_observation=0,
            names=(release, kind, SINGLING, note),
        )

    trivial = f"{found.trivial:,} more guesses hold for too many people to count" if found.trivial else ""
    yield row(singled_out, found.of_all, found.whole, trivial)
    yield replace(
        row(singled_out_of_as_many, found.baseline, found.found, f"{found.people:,} people of either"),
        control=found.control,
        excess=found.found - found.control,
        excess_low=found.low,
        excess_high=found.high,
    )
