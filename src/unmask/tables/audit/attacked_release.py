"""A release as its adversaries have it, and the beliefs that they form about people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import NotRunError
from unmask.core.posterior import Posterior, weigh_people_equally
from unmask.core.truth import ABSENT, UNKNOWN, Truth
from unmask.measures import realized_success
from unmask.measures.excess import People
from unmask.results.formats import percent
from unmask.results.names import ACQUAINTANCE, INSIDER, MODELER, OBSERVER, ORDER_READER
from unmask.tables.attacks import AttributeInference, BackOff, ClassAttack, ModelAttribute, OrderAttack, RegisterAttack
from unmask.tables.attacks.classes import from_sizes
from unmask.tables.attacks.relation import add_quasi_identifiers, classes_intersect
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.equivalence_classes import cluster_targets
from unmask.tables.audit.several_records import count_people_as_candidates, find_any_record
from unmask.tables.background import Attack, Background, hidden_values
from unmask.tables.column import Column
from unmask.tables.control.calibration import calibrate_by_control
from unmask.tables.knowledge import Known, attribute_truth, found_in
from unmask.tables.reinterpret import share_changed
from unmask.tables.risk import mark_labels_as_values
from unmask.tables.sensitive_bands import has_sets
from unmask.tables.table import Table

OPTIONAL = (ACQUAINTANCE, INSIDER, MODELER, ORDER_READER, OBSERVER)
"""The standard adversaries that an audit may leave out; its verdict rests on the prosecutor."""

Learner = BackOff | ModelAttribute
"""Attacks that learn from all rows."""

Learned = Callable[[Known | None], Posterior]
"""Belief about the values of known people, learned from all rows."""

OWN_PRIOR = (
    "The prior of a value is its share in the release: without an original, the gain leaves out the effect of "
    "suppression or sampling on shares."
)

WEIGHTED = (
    "The control group differs from the people attacked and is weighted; without weights, {} of its guesses are right."
)

LACKING = "Not compared with the control group, which has no column {!r}."

LISTED_ONCE = "people have several rows, and a register lists each person once, so its links would count rows as people"

ORDERS: Mapping[str, str] = {
    "sorted": "the rows are sorted by their released values",
    "chance": "no order that was tried explains the rows",
    "sampled": "rows were drawn from the original, so no order was tried",
    "unshuffled": "the rows are in the order of the original, or of one of its columns",
    "grouped": "the rows of a class are next to each other, perhaps in the order of the original",
}
"""Result of an attack on the order of rows -> the same in words."""


@dataclass(frozen=True, eq=False)
class AttackedRelease:
    """A release as its adversaries have it, and the people that they look for.

    Parameters
    ----------
    release : str
        Name of the release.
    table : Table
        Rows that are attacked.
    origin : (n_rows,) array
        Row of the original behind each row; of the release if that is not known. Empty for a counted table.
    traced : bool
        Whether the row of the original is known.
    known : Known, optional
        Knowledge about people of a population; None: each row of the release is a person, known by its own cells.
    drawn_from : float, optional
        Number of people that the targets were drawn from.
    foreign : bool
        Whether the rows are not people of the original, so that no record is searched for.
    control : Known, optional
        Control group; None if nothing can be compared with them.
    weight : (n_control,) array, optional
        Weight of each control person if they differ from the people attacked, sum 1.
    lacking : str
        Column that people are known by and the control group lacks, so that it is not compared; "" if it has all.
    """

    release: str
    table: Table
    origin: Integers
    traced: bool = False
    known: Known | None = None
    drawn_from: float | None = None
    foreign: bool = False
    control: Known | None = None
    weight: Floats | None = None
    lacking: str = ""

    @property
    def background(self) -> Background | None:
        """The adversary's knowledge about people and the population."""
        return None if self.known is None else self.known.background

    @property
    def person(self) -> Integers | None:
        """The person of each target, as in `AttackRun`."""
        if self.known is not None:
            return self.known.person_number
        return None if self.table.person is None else np.unique(self.table.person, return_inverse=True)[1]

    @property
    def targets_classes(self) -> bool:
        """True if each class is a target: without known people, if each row is a person in one class only."""
        is_person = self.table.person is None and not classes_intersect(self.table)
        return self.table.counts is not None or (self.known is None and is_person)

    # ----- any attack

    def run(self, adversary: str, attack: Attack) -> AttackRun:
        """Run any attack on the people known."""
        if isinstance(attack, AttributeInference):
            return self.infer(adversary, attack, self._believe(attack.link, self.known))
        if isinstance(attack, Learner):
            return self.learn(adversary, attack.sensitive, self.prepare_learner(attack))
        if self.foreign:
            raise NotRunError("the released rows are not people of the original, so no record is searched for")
        if isinstance(attack, OrderAttack):
            return self.attack_order(adversary, attack)
        if isinstance(attack, RegisterAttack):
            assert self.known is not None
            if self.known.population.person is not None:
                raise NotRunError(LISTED_ONCE)
            return self.attack_register(adversary, attack, self.known.people, self.known.person)
        return self.identify(adversary, self._believe(attack, self.known))

    def _believe(self, attack: Attack, people: Known | None) -> Posterior:
        """Return the belief about people's records, class by class if the attack takes a class as a whole."""
        if isinstance(attack, ClassAttack) and self.targets_classes:
            return attack.target_classes(self.table)
        believe = attack.of_classes if isinstance(attack, ClassAttack) else attack
        return believe(self.table, None if people is None else people.background)

    def _judge(self, adversary: str, target: str, belief: Posterior, truth: Truth | None, note: str) -> AttackRun:
        person = self.person
        if person is not None:
            belief = replace(belief, weight=weigh_people_equally(person))
        return AttackRun(
            self.release,
            adversary,
            target,
            belief,
            truth,
            self.origin if self.known is None else self.known.person,
            self.drawn_from,
            note=note,
            people=self.table.n_rows if self.targets_classes else None,
            person=person,
            class_of_row=self.table.classes.of_row if self.targets_classes and self.table.counts is None else None,
        )

    # ----- re-identification

    def link(self) -> Posterior:
        """Return the belief about people's records by quasi-identifiers."""
        return self._believe(ClassAttack(), self.known)

    def identify(self, adversary: str, belief: Posterior, note: str = "") -> AttackRun:
        """Judge a belief about each person's record, or about any of their records if people have several."""
        truth = records = None
        if self.known is not None and self.traced:
            truth = records = self.known.person_in(self.origin, belief)
        elif self.known is None and self.table.person is not None:
            records = Truth(np.arange(self.table.n_rows), person=self.table.person)
        modeled = self._misses_people(belief)
        if records is None or records.person is None:
            return replace(self._judge(adversary, "identity", belief, truth, note), modeled=modeled)
        run = self._judge(adversary, "identity", find_any_record(belief, records), truth, note)
        picked = replace(belief, weight=run.belief.weight)
        over_people = count_people_as_candidates(picked, records.person)
        return replace(run, modeled=modeled, picked=picked, over_people=over_people)

    def _misses_people(self, link: Posterior) -> bool:
        """Return whether a record fits a target who has none."""
        if self.known is None or not self.traced:
            return False
        is_absent = self.known.truth_in(self.origin).candidate == ABSENT
        return bool((is_absent & (link.row_length[link.observation] > 0)).any())

    def attack_order(self, adversary: str, attack: OrderAttack) -> AttackRun:
        """Find people's records by the order of the rows; the adversary has the population in its order."""
        assert self.known is not None
        names = {column.name for column in self.known.people.quasi_identifiers}
        population = self.known.population
        source = population.known_by(column for column in population.quasi_identifiers if column.name in names)
        belief = attack(self.table, Background(source))
        return self.identify(adversary, belief.take(self.known.person), ORDERS[belief.provenance["order"]])

    def attack_register(self, adversary: str, attack: Attack, register: Table, person: Integers | None) -> AttackRun:
        """Find the person of a register behind each record.

        `person` has the row of the original of each person of the register, below 0 for others; None if not known.
        """
        truth = found_in(self.origin, person) if self.traced and person is not None else None
        belief = attack(self.table, Background(register))
        people = None if self.table.counts is None else self.table.n_rows
        return AttackRun(
            self.release, adversary, "identity", belief, truth, self.origin, linked_to="register", people=people
        )

    def attack_equal_records(self, adversary: str) -> AttackRun:
        """Find records of a counted release by every column that is not sensitive.

        All sets of equal records that have the same size are one target.
        """
        assert self.table.record_sizes is not None
        (sizes, n_sets), n = self.table.record_sizes, self.table.n_rows
        belief = from_sizes(sizes, sizes * n_sets / n, n_candidates=n)
        return AttackRun(self.release, adversary, "identity", belief, people=n, n_sets=int(n_sets.sum()))

    # ----- attribute inference

    def infer(
        self,
        adversary: str,
        attack: AttributeInference,
        link: Posterior,
        *,
        learned: Learned | None = None,
    ) -> AttackRun:
        """Infer a sensitive value from the records that may be a person's.

        Parameters
        ----------
        adversary : str
            Name of the adversary.
        attack : AttributeInference
            Attack on the value.
        link : Posterior
            Belief about the records of the people known.
        learned : callable, optional
            Belief about people without a matching record.
        """

        def believe(people: Known | None) -> tuple[Posterior, Integers | None]:
            is_target = people is self.known
            linked = link if is_target else self._believe(attack.link, people)
            background = self.background_of(attack.sensitive, people)
            by_all = None if learned is None else learned(people)
            offset = 0 if is_target else link.n_observations
            clusters = None if self.control is None else cluster_targets(linked, offset=offset)
            return attack.infer_from_link(linked, self.table, background, learned=by_all), clusters

        is_guessed = bool(((np.diff(link.indptr) == 0) & (link.n_unlisted == 0)).any())
        run = self._compare(adversary, attack.sensitive, believe)
        return replace(run, modeled=is_guessed or self._misses_people(link))

    def learn(self, adversary: str, column: str, learned: Learned) -> AttackRun:
        """Infer a sensitive value from all rows; the control group calibrates the belief (`calibrate_by_control`)."""
        run = self._compare(adversary, column, lambda people: (learned(people), None))
        if run.control is None or run.control.truth is None:
            return run
        belief, control = calibrate_by_control(run.belief, run.control.belief, run.control.truth)
        return replace(run, belief=belief, control=replace(run.control, belief=control))

    def prepare_learner(self, attack: Learner) -> Learned:
        """Return a function that learns the values of people from all rows, once for the same people."""
        return cache(lambda people: attack(self.table, self.background_of(attack.sensitive, people)))

    def background_of(self, column: str, people: Known | None) -> Background | None:
        """Return the knowledge about people, and about the population attacked, if it has the sensitive column."""
        if people is None or self.known is None:
            return None
        population = self.known.population
        return Background(people.people, population if column in population.names else None)

    def _compare(
        self,
        adversary: str,
        column: str,
        believe: Callable[[Known | None], tuple[Posterior, Integers | None]],
    ) -> AttackRun:
        """Score beliefs about a value of targets and, with a known truth, of the control group with the same columns.

        `believe` returns a belief and the clusters of people whose guesses are right or wrong together.
        """
        (belief, clusters), truth = believe(self.known), None
        if self.person is not None and belief.status == "exact":
            belief = replace(belief, status="model")  # exact if rows are equally likely, but people are
        if self.known is not None and column in self.known.population.names:
            truth = attribute_truth(self.known.population, self.known.person, belief, column)
            truth = truth if np.any(truth.candidate != UNKNOWN) else None
        note = OWN_PRIOR if belief.provenance["prior"] == "release" else ""
        run = self._judge(adversary, column, belief, truth, note)
        if truth is None or self.control is None:
            return run
        if lacking := self.lacking if column in self.control.population.names else column:
            return replace(run, note=" ".join(filter(None, (note, LACKING.format(lacking)))))
        control_belief, control_clusters = believe(self.control)
        control_truth = attribute_truth(self.control.population, self.control.person, control_belief, column)
        if self.weight is not None:
            note = " ".join(
                filter(None, (note, WEIGHTED.format(percent(_mean_success(control_belief, control_truth)))))
            )
            control_belief = replace(control_belief, weight=self.weight)
        control = AttackRun(self.release, "control", column, control_belief, control_truth, clusters=control_clusters)
        return replace(run, clusters=clusters, control=control, note=note)

    # ----- columns that are known besides the quasi-identifiers

    def comparable_columns(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns that the original has, so that they can be compared; all without an original."""
        return [column for column in columns if self.known is None or column.name in self.known.population.names]

    def unchanged_columns(self, columns: Sequence[Column]) -> list[Column]:
        """Return the comparable columns with original cells; an exact comparison of perturbed ones matches no one."""
        comparable = self.comparable_columns(columns)
        if self.known is None:
            return comparable
        original = self.known.population
        return [column for column in comparable if not share_changed(original.column(column.name), column)]

    def know(self, columns: Sequence[Column]) -> Self:
        """Return the release attacked by an adversary who knows more released columns of people, by their exact values.

        A hidden cell matches any value, and a cell that stands for several values matches each of them.
        """
        population = None if self.known is None else self.known.population
        is_hidden = [hidden_values(column, column.counts, population)[0] > 0 for column in columns]
        compared = (
            column if has_sets(column) else mark_labels_as_values(column, hidden)
            for column, hidden in zip(columns, is_hidden, strict=True)
        )
        wider = replace(self, table=add_quasi_identifiers(self.table, compared))
        wider = wider if self.known is None else replace(wider, known=_know_columns(self.known, columns))
        if self.control is None:
            return wider
        available = self.control.population.names
        if lacking := next((column.name for column in columns if column.name not in available), ""):
            return replace(wider, lacking=lacking)
        return replace(wider, control=_know_columns(self.control, columns))


def _mean_success(belief: Posterior, truth: Truth) -> float:
    people = People.of(realized_success, belief, truth)
    return float(people.weight @ people.value / people.weight.sum())


def _know_columns(people: Known, columns: Sequence[Column]) -> Known:
    """Return people with more known columns."""
    originals = ((released, people.population.column(released.name).take(people.person)) for released in columns)
    added = (column if has_sets(released) else mark_labels_as_values(column) for released, column in originals)
    return replace(people, people=add_quasi_identifiers(people.people, added))
