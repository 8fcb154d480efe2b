"""A release as its adversaries find it, and what each of them comes to believe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import NotRunError
from unmask.core.posterior import Posterior, each_once, equal_weights
from unmask.core.truth import ABSENT, UNKNOWN, Truth
from unmask.measures import realized_success
from unmask.measures.excess import People
from unmask.reports.data import COLUMNS, INSIDER, ORDER, SEVERAL
from unmask.reports.data import PROSECUTOR as PROSECUTOR
from unmask.results.formats import percent
from unmask.tables.attacks import AttributeInference, BackOff, ClassAttack, ModelAttribute, OrderAttack, RegisterAttack
from unmask.tables.attacks.classes import from_sizes
from unmask.tables.attacks.relation import add_quasi_identifiers
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.equivalence_classes import together
from unmask.tables.audit.several_records import any_of_theirs, over_people
from unmask.tables.background import Attack, Background, hidden_values
from unmask.tables.column import Column
from unmask.tables.control.calibration import calibrate_by_control
from unmask.tables.knowledge import Known, attribute_truth, found_in
from unmask.tables.reinterpret import changed
from unmask.tables.risk import known_as_values
from unmask.tables.sensitive_bands import has_sets
from unmask.tables.table import Table

REGISTER = "register"

LEARNER = "learner"
"""The adversary who reads a release as data about people in general."""

MECHANISM = "mechanism"
"""The adversary who knows what made a release, all but its random numbers."""

NEAREST = "nearest"
"""The adversary who takes the row that is nearest to a person for theirs."""

OPTIONAL = (COLUMNS, INSIDER, LEARNER, ORDER, SEVERAL)
"""The standard adversaries that an audit may leave out; what it finds rests on the prosecutor."""

Learner = BackOff | ModelAttribute
"""Who learns from all rows."""

Learned = Callable[[Known | None], Posterior]
"""What somebody believes of the values of people known."""

OWN_PRIOR = (
    "The prior of a value is the release's own share of it: no original says what was believed before, and the gain "
    "leaves out what suppression or sampling did to the shares."
)

WEIGHTED = "Control people are unlike those attacked and count by weight; as they are, {} of them are right guesses."

LACKING = "Not set beside control people, who have no column {!r}."

LISTED_ONCE = (
    "people have several rows, and who links rows to a register takes each row for another person's, who is listed once"
)

ORDERS: Mapping[str, str] = {
    "sorted": "the rows stand in the order of what they say",
    "chance": "no order that was tried explains the rows",
    "sampled": "rows were drawn from the original, so that no order was tried",
    "unshuffled": "the rows stand in the order of the original, or of one of its columns",
    "grouped": "the rows of a class stand together, perhaps in the order of the original",
}
"""How an attack on the order says that the rows came to stand as they do -> the same in words."""


@dataclass(frozen=True, eq=False)
class AttackedRelease:
    """A release as its adversaries find it, and the people they look for.

    table  : its rows that take part
    origin : (n_rows,) the row of the original behind each, or of the release, where that is not known (traced)
    known  : what is known of whom, in which population; None: everybody of the release by their own rows
    drawn_from : as in `AttackRun`
    control : people of the same population who are not in the release, every one of them; None where nothing can be
              said beside them
    weight  : (n_control,) what each of them counts for where they are unlike those attacked, sum 1
    foreign : the rows are not people of the original, so nobody asks whose they are
    """

    release: str
    table: Table
    origin: NDArray[np.int64]
    traced: bool = False
    known: Known | None = None
    drawn_from: float | None = None
    foreign: bool = False
    control: Known | None = None
    weight: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, release: str, table: Table, origin: NDArray[np.int64] | None, known: Known | None = None) -> Self:
        """Return the rows that the table's rule for missing cells leaves; origin : the row of the original of each."""
        kept = table.complete_rows
        drawn_from = None if known is None else known.population.n_people
        return cls(
            release, table.complete, kept if origin is None else origin[kept], origin is not None, known, drawn_from
        )

    def case(self, adversary: str, attack: Attack) -> AttackRun:
        """What somebody believes who attacks the people known."""
        if isinstance(attack, AttributeInference):
            return self.value(adversary, attack, self._linked(attack.link, self.known, ()))
        if isinstance(attack, Learner):
            return self.learned(adversary, attack.sensitive, self.learning(attack))
        if self.foreign:
            raise NotRunError("no released row is anybody's, so nobody asks which record is theirs")
        if isinstance(attack, OrderAttack):
            return self.order(adversary, attack)
        if isinstance(attack, RegisterAttack):
            assert self.known is not None
            if self.known.population.person is not None:
                raise NotRunError(LISTED_ONCE)
            return self.linked(adversary, attack, self.known.people, self.known.person)
        return self.identity(adversary, self._linked(attack, self.known, ()))

    @property
    def background(self) -> Background | None:
        """What the adversary is told of the people and the population."""
        return None if self.known is None else self.known.background

    @property
    def whose(self) -> NDArray[np.int64] | None:
        """(n_targets,) as in `AttackRun`."""
        if self.known is not None:
            return self.known.whose
        return None if self.table.person is None else np.unique(self.table.person, return_inverse=True)[1]

    def identity(self, adversary: str, belief: Posterior, note: str = "") -> AttackRun:
        """Which record is theirs, or one of theirs, where the original says that people have several?"""
        truth = theirs = None
        if self.known is not None and self.traced:
            truth = theirs = self.known.person_in(self.origin, belief)
        elif self.known is None and self.table.person is not None:
            theirs = Truth(np.arange(self.table.n_rows), person=self.table.person)
        person = None if theirs is None else theirs.person
        told = belief if theirs is None or person is None else any_of_theirs(belief, theirs)
        case = self._of_people(adversary, "identity", told, truth, note)
        picked = None if person is None else replace(belief, weight=case.belief.weight)
        people = None if picked is None or person is None else over_people(picked, person)
        return replace(case, modeled=self._mistaken(belief), picked=picked, over_people=people)

    def _mistaken(self, link: Posterior) -> bool:
        """Whether a record fits somebody known who has none."""
        if self.known is None or not self.traced:
            return False
        absent = self.known.truth_in(self.origin).candidate == ABSENT
        return bool((absent & (link.row_length[link.observation] > 0)).any())

    def value(
        self,
        adversary: str,
        attack: AttributeInference,
        link: Posterior,
        more: Sequence[Column] = (),
        *,
        learned: Learned | None = None,
    ) -> AttackRun:
        """What is their sensitive value? link : the belief about their records, which compares `more` columns;
        learned : what is believed of people whom no record fits, where that is asked of everybody, too
        """
        table = self.learned_from(attack.sensitive, more) if more else self.table

        def believed(known: Known | None) -> tuple[Posterior, NDArray[np.int64] | None]:
            linked = link if known is self.known else self._linked(attack.link, known, more)
            told = self.told(attack.sensitive, known, more)
            by_all = None if learned is None else learned(known)
            boxes = together(linked, after=0 if known is self.known else link.n_observations)
            return attack.through(linked, table, told, learned=by_all), boxes

        guessed = bool(((link.row_length == 0) & (link.n_unlisted == 0)).any())
        case = self._inferred(adversary, attack.sensitive, believed, more)
        return replace(case, modeled=guessed or self._mistaken(link))

    def _linked(self, attack: Attack, known: Known | None, more: Sequence[Column]) -> Posterior:
        """Return what an attack believes of people's records, class by class if it takes a class as a whole."""
        if more:
            return self.link(more, known)
        believe = attack.of_classes if isinstance(attack, ClassAttack) else attack
        return believe(self.table, None if known is None else known.background)

    def learning(self, attack: Learner, more: Sequence[Column] = ()) -> Learned:
        """What somebody believes of people who reads the release as data about people in general, asked once of the
        same people; more : columns known besides.
        """
        table = self.learned_from(attack.sensitive, more)
        return cache(lambda known: attack(table, self.told(attack.sensitive, known, more)))

    def learned(self, adversary: str, column: str, learned: Learned, more: Sequence[Column] = ()) -> AttackRun:
        """The value of a column, by such a belief.

        Control people tell them what it is worth (`unmask.tables.control.calibration.calibrate_by_control`).
        """
        case = self._inferred(adversary, column, lambda known: (learned(known), None), more)
        if case.control is None or case.control.truth is None:
            return case
        belief, other = calibrate_by_control(case.belief, case.control.belief, case.control.truth)
        return replace(case, belief=belief, control=replace(case.control, belief=other))

    def learned_from(self, column: str, more: Sequence[Column] = ()) -> Table:
        """The release with a sensitive column and all that is compared."""
        return replace(self._compared(more), sensitive=(self.table.column(column),))

    def told(self, column: str, known: Known | None, more: Sequence[Column] = ()) -> Background | None:
        """What is known of people, and of the population that the original is: of control people the same."""
        if known is None or self.known is None:
            return None
        population = self.known.population
        return Background(_people(known, more), population if column in population.names else None)

    def _inferred(
        self,
        adversary: str,
        column: str,
        believed: Callable[[Known | None], tuple[Posterior, NDArray[np.int64] | None]],
        more: Sequence[Column] = (),
    ) -> AttackRun:
        """What somebody believes of the people known and, where the truth is known, of control people, if they have the
        columns; `believed` has who share their luck, too. more : columns known besides
        """
        (belief, boxes), truth = believed(self.known), None
        if self.whose is not None and belief.status == "exact":
            belief = replace(belief, status="model")  # of rows that are each as likely, and here people are
        if self.known is not None and column in self.known.population.names:
            truth = attribute_truth(self.known.population, self.known.person, belief, column)
            truth = truth if np.any(truth.candidate != UNKNOWN) else None
        note = OWN_PRIOR if belief.provenance["prior"] == "release" else ""
        case = self._of_people(adversary, column, belief, truth, note)
        if truth is None or self.control is None:
            return case
        names = (column, *(one.name for one in more))
        if lacking := [name for name in names if name not in self.control.population.names]:
            return replace(case, note="; ".join(filter(None, (note, LACKING.format(lacking[0])))))
        other, theirs = believed(self.control)
        of_other = attribute_truth(self.control.population, self.control.person, other, column)
        if self.weight is not None:
            note = "; ".join(filter(None, (note, WEIGHTED.format(percent(_success(other, of_other))))))
            other = replace(other, weight=self.weight)
        control = AttackRun(self.release, "control", column, other, of_other, boxes=theirs)
        return replace(case, boxes=boxes, control=control, note=note)

    def order(self, adversary: str, attack: OrderAttack) -> AttackRun:
        """Which record is theirs, by the order of the rows? The adversary has the population in its order."""
        assert self.known is not None
        named = {column.name for column in self.known.people.quasi_identifiers}
        columns = tuple(column for column in self.known.population.quasi_identifiers if column.name in named)
        source = replace(self.known.population, quasi_identifiers=columns, sensitive=(), kept=(), weight=None)
        belief, person = attack(self.table, Background(source)), self.known.person
        note = ORDERS[belief.provenance["order"]]
        belief = replace(belief, observation=belief.observation[person], weight=equal_weights(len(person)))
        return self.identity(adversary, belief, note)

    def linked(self, adversary: str, attack: Attack, register: Table, person: NDArray[np.int64] | None) -> AttackRun:
        """Which person of a register is each record? person : the row of the original that each is, below 0 for others;
        None where that is not known.
        """
        truth = found_in(self.origin, person) if self.traced and person is not None else None
        belief = attack(self.table, Background(register))
        people = None if self.table.counts is None else self.table.n_rows
        return AttackRun(
            self.release, adversary, "identity", belief, truth, self.origin, linked_to=REGISTER, people=people
        )

    def known_records(self, adversary: str) -> AttackRun:
        """Return the belief about identity of those who know every column of a counted release that is not sensitive.

        All sets of equal records that have one size are one target.
        """
        assert self.table.record_sizes is not None
        (sizes, n_sets), n = self.table.record_sizes, self.table.n_rows
        belief = from_sizes(sizes, sizes * n_sets / n, n_candidates=n)
        return AttackRun(self.release, adversary, "identity", belief, people=n, n_sets=int(n_sets.sum()))

    def _of_people(self, adversary: str, target: str, belief: Posterior, truth: Truth | None, note: str) -> AttackRun:
        rows, whose = (self.origin if self.known is None else self.known.person), self.whose
        if whose is not None:
            belief = replace(belief, weight=each_once(whose))
        people = None if self.table.counts is None else self.table.n_rows
        more: dict[str, Any] = {"note": note, "people": people, "whose": whose}
        return AttackRun(self.release, adversary, target, belief, truth, rows, self.drawn_from, **more)

    # ----- those who know released columns as they were released

    def comparable(self, columns: Sequence[Column]) -> list[Column]:
        """The columns that the original has, so that what people know of them can be compared; all without one."""
        return [column for column in columns if self.known is None or column.name in self.known.population.names]

    def as_it_was(self, columns: Sequence[Column]) -> list[Column]:
        """Those of them that an adversary compares who takes cells as true: where many cells were changed, everybody
        would be missed.
        """
        own = None if self.known is None else self.known.population
        return [one for one in self.comparable(columns) if own is None or not changed(own.column(one.name), one)]

    def link(self, more: Sequence[Column] = (), known: Known | None = None) -> Posterior:
        """Whose record is whose, for those who know quasi-identifiers and compare more columns as exact values; known :
        whom they look for, those attacked when left out.
        """
        if self.known is None or not more:
            return ClassAttack().of_classes(self._compared(more) if more else self.table, self.background)
        return ClassAttack().of_classes(self._compared(more), Background(_people(known or self.known, more)))

    def _compared(self, more: Sequence[Column]) -> Table:
        """The release where more columns are compared: a cell that hides its value may be anybody's, and one that
        stands for several is that of whoever has one of them.
        """
        population = None if self.known is None else self.known.population
        hides = [hidden_values(self.table, column, population)[0] > 0 for column in more]
        said = (
            column if has_sets(column) else known_as_values(column, hidden)
            for column, hidden in zip(more, hides, strict=True)
        )
        return add_quasi_identifiers(self.table, said)


def _success(belief: Posterior, truth: Truth) -> float:
    people = People.of(realized_success, belief, truth)
    return float(people.weight @ people.value / people.weight.sum())


def _people(known: Known, more: Sequence[Column]) -> Table:
    """What is known of people, who are known by more columns, too."""
    own = ((one, known.population.column(one.name).take(known.person)) for one in more)
    return add_quasi_identifiers(
        known.people, (theirs if has_sets(one) else known_as_values(theirs) for one, theirs in own)
    )
