"""Singling out: predicates made from a release alone, tested on its people and on the control group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain, pairwise

import numpy as np

from unmask.core.errors import NotRunError, UnmaskError
from unmask.languages import mark
from unmask.measures import Quantity
from unmask.measures.interval import Interval, wilson
from unmask.measures.measure import UndefinedError, build_number_row
from unmask.measures.registry import MEASURES
from unmask.results import Row
from unmask.results.names import SINGLING
from unmask.scoring import Audit
from unmask.tables.attacks import SinglingOut
from unmask.tables.attacks.singling_out import Predicate
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, explain_shift
from unmask.tables.audit.control_comparison import BOX, ONE, SOME, WHOLE
from unmask.tables.control.similarity import shift_by
from unmask.tables.control.singling_trials import (
    SingledOut,
    SinglingTrial,
    judge_singling_out,
    judge_singling_out_in_boxes,
)
from unmask.tables.table import Table

QUESTION = mark("Singling out")
NEEDS_CONTROL = mark("needs a control group, which shows which guesses hold for many people anyway")
SEVERAL_ROWS = "people have several rows, and a guess that fits one row would count as a person"


def audit_singling_out(scene: AttackedRelease, knowledge: AuditorKnowledge) -> Audit:
    """Return the rows of every kind of predicate that the release allows.

    Predicates are about all released columns that the original and the control group have. The control group is halved
    at random: one half shows for how many people a predicate holds in general, and predicates are tested on the other.
    If no class has one row, predicates about people within classes are tested, too.
    """
    original, control_people = knowledge.original, knowledge.control
    if original is None or control_people is None:
        needed = "the original table, on whose people guesses are tested (--original)"
        return Audit((), ((QUESTION, f"needs {needed}" if original is None else f"{NEEDS_CONTROL} (--control)"),))
    if knowledge.person is not None:
        return Audit((), ((QUESTION, SEVERAL_ROWS),))
    tables = _share_columns(scene.table, original, control_people)
    if reason := knowledge.explain_shift(tables[0].names):
        return Audit((), ((QUESTION, reason),))
    rng = np.random.default_rng(knowledge.seed)
    trials = list(_try_rows(*tables, rng))
    if scene.table.classes.sizes.min() > 1:
        trials.append((BOX, partial(judge_singling_out_in_boxes, scene.table, original, control_people, rng=rng)))
    rows: list[Row] = []
    not_run: list[tuple[str, str]] = []
    for kind, judge in trials:
        try:
            rows += _make_rows(scene.release, kind, judge())
        except UndefinedError as error:
            not_run.append((f"{QUESTION} by {kind} in {scene.release}", str(error)))
    return Audit(tuple(rows), tuple(not_run))


def _try_rows(
    release: Table, members: Table, control: Table, rng: np.random.Generator
) -> Iterator[tuple[str, Callable[[], SingledOut]]]:
    """Yield the kinds of predicates made from released rows, each with its judgment."""
    halves = _halve(control, rng)
    kinds = dict(_make_predicates(release, rng))
    trial = SinglingTrial.of([*chain.from_iterable(kinds.values())], members, *halves, rng=rng)
    ends = pairwise(accumulate(map(len, kinds.values()), initial=0))
    for kind, end in zip(kinds, ends, strict=True):
        yield kind, partial(judge_singling_out, trial.only(slice(*end)))


def _halve(control: Table, rng: np.random.Generator) -> tuple[Table, Table]:
    """Return the half of the control group that tests the predicates, and the half that measures their weight."""
    order, half = rng.permutation(control.n_rows), control.n_rows // 2
    return control.take(order[:half]), control.take(order[half:])


def _make_predicates(release: Table, rng: np.random.Generator) -> Iterator[tuple[str, list[Predicate]]]:
    n_columns = len(release.quasi_identifiers)
    predicates = SinglingOut()(release, rng=rng)
    yield ONE, [predicate for predicate in predicates if len(predicate) == 1]
    yield SOME, [predicate for predicate in predicates if len(predicate) > 1]
    predicates = SinglingOut(conditions=(n_columns, n_columns), exact=True)(release, rng=rng)
    yield WHOLE, [predicate for predicate in predicates if len(predicate) > 1]


def measure_singling_out(
    scene: AttackedRelease,
    adversary: str,
    attack: SinglingOut,
    members: Table,
    control: Table | None,
    *,
    rng: np.random.Generator,
) -> list[Row]:
    """Return the rows of one kind of predicate in a study cell."""
    if control is None:
        raise UnmaskError(f"singling out {NEEDS_CONTROL}: hold people back, or give them as control")
    if members.person is not None:
        raise NotRunError(SEVERAL_ROWS)
    release, members, control = _share_columns(scene.table, members, control)
    if reason := explain_shift(release.names, shift_by(release.names, members, control)):
        raise UnmaskError(reason)
    halves = _halve(control, rng)
    trial = SinglingTrial.of(attack(release, rng=rng), members, *halves, rng=rng)
    return list(_make_rows(scene.release, adversary, judge_singling_out(trial)))


def _share_columns(release: Table, members: Table, control: Table) -> tuple[Table, Table, Table]:
    """Return the tables with the columns that all of them have, of the same kind."""
    people_tables = members, control
    columns = [c for c in release.columns if all(c.name in people.names for people in people_tables)]
    names = [
        c.name for c in columns if all(people.column(c.name).levels.kind == c.levels.kind for people in people_tables)
    ]
    if not names:
        raise UnmaskError(
            "no released column is in the original and the control group, too, with the same type; give tables with "
            "the same columns, written alike"
        )
    release, members, control = (table.known_by(map(table.column, names)) for table in (release, members, control))
    return release, members, control


def _make_rows(release: str, kind: str, trial: SingledOut) -> Iterator[Row]:
    """Yield a row for all people of the table, and one for as many members as the control group has people."""

    def row(measure: Quantity, prior: float, share: float, note: str) -> Row:
        interval = Interval(*wilson(share, trial.guesses), "guesses like these (Wilson)")
        names = {"release": release, "adversary": kind, "target": SINGLING, "note": note}
        return build_number_row(measure, share, interval, **names, prior=prior, n=trial.guesses)

    trivial = f"{trial.trivial:,} more guesses hold for too many people to count" if trial.trivial else ""
    yield row(MEASURES["singled_out"], trial.of_all, trial.share_of_all, trivial)
    yield replace(
        row(MEASURES["singled_out_of_as_many"], trial.baseline, trial.share, f"{trial.people:,} people of either kind"),
        control=trial.control,
        excess=trial.share - trial.control,
        excess_low=trial.low,
        excess_high=trial.high,
    )
