"""Scores of beliefs: the only place where a belief is compared with the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.calibration_check import Check
from unmask.core.distinct_rows import distinct_rows
from unmask.core.errors import UnmaskError
from unmask.core.notebook import html_table
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.data.frames import frame_of_rows
from unmask.languages import mark
from unmask.measures import (
    MEASURES,
    Measure,
    Quantity,
    calibration_error,
    delta_down,
    delta_up,
    effective_set_size,
    estimation_error,
    evaluate,
    hartley_entropy_bits,
    information_gain_bits,
    log_loss_bits,
    min_entropy_bits,
    rank,
    realized_error,
    realized_success,
    realized_success_at,
    shannon_entropy_bits,
    success_probability,
    total_variation,
)
from unmask.measures.measure import UndefinedError, average_by_person
from unmask.measures.posterior_rows import map_functions
from unmask.measures.rates import RATES, coverage
from unmask.measures.success import rank_truth
from unmask.measures.truth_positions import locate_truth
from unmask.results import Row

if TYPE_CHECKING:
    from unmask.economics import Attacker, Prices

SELF_ASSESSED: tuple[Measure, ...] = (
    success_probability,
    estimation_error(),
    hartley_entropy_bits,
    shannon_entropy_bits,
    min_entropy_bits,
    effective_set_size,
    information_gain_bits,
    total_variation,
    delta_up,
    delta_down,
)
"""Measures that need no truth."""

REALIZED: tuple[Measure, ...] = (
    realized_success,
    realized_error(),
    realized_success_at(3),
    rank,
    log_loss_bits,
    calibration_error,
)
"""Measures that need the truth."""


STANDARD = SELF_ASSESSED + REALIZED
"""Measures of every audit."""

OF_PICKED = (calibration_error.name, "realized_rational_success")
"""Measures that would compare the belief by which a record is picked with the truth about people."""

OF_PEOPLE = tuple(
    measure.name for measure in (hartley_entropy_bits, shannon_entropy_bits, effective_set_size, information_gain_bits)
)
"""Measures that count people if these have several records."""

SCORES = "the attack gives scores, not probabilities"
"""Reason why a measure that needs probabilities is not run."""

MAX_DEVIATION = {"exact": 0.0, "model": 0.03, "calibrated": 0.03}
"""Allowed difference between announced and realized success of a belief by its status, apart from chance."""


def price_measures(attacker: Attacker) -> tuple[Measure, ...]:
    """Return the measures of a rational attacker who prices the whole belief.

    `rational_success` is the success that the attacker expects of their plans; `realized_rational_success` is the
    success of the same plans under the truth.
    """
    from unmask.economics import play_out, price_posterior  # here: most audits price nothing

    priced = lru_cache(maxsize=2)(lambda belief: price_posterior(attacker, belief))  # once for all measures

    def price(quantity: Quantity, value: Callable[[Prices], NDArray[np.float64]]) -> Measure:
        return _measure(quantity, self_assessed=lambda belief: value(priced(belief)))

    def play(belief: Posterior, truth: Truth) -> NDArray[np.float64]:
        ranks = rank_truth(belief, truth)
        return play_out(attacker, belief, ranks.n_better, ranks.n_tied)

    return (
        price(MEASURES["rational_access"], lambda prices: prices.access.astype(np.float64)),
        price(MEASURES["rational_success"], lambda prices: prices.success_probability),
        _measure(MEASURES["realized_rational_success"], realized=play),
        price(MEASURES["rational_payoff"], lambda prices: prices.payoff),
        price(MEASURES["rational_tries"], lambda prices: prices.expected_tries),
    )


def _measure(quantity: Quantity, **value: Any) -> Measure:
    return Measure(**vars(quantity), **value, shares_entries=True, needs_probabilities=True)


def campaign_measures(attacker: Attacker, people: float | None = None) -> tuple[Measure, ...]:
    """Return the measure of one rational attacker who attacks all people at once, see `unmask.economics.campaign`.

    If a campaign is too large to compute, the probability that the target is a candidate replaces it as a bound.

    Parameters
    ----------
    attacker : Attacker
        Access is paid once for all people, and the limit of fines is for all of them.
    people : float, optional
        Number of people that the targets were drawn from; None if they are everybody.
    """
    from unmask.economics import campaign, count_people_per_target

    def success(belief: Posterior) -> NDArray[np.float64]:
        counts = count_people_per_target(belief, people)
        try:
            most_success = campaign(replace(attacker, discount=1.0), belief, people=counts).most_success
        except UnmaskError:
            return np.where(belief.row_length > 0, 1.0 - belief.unlisted, belief.unlisted)
        success_of_row = np.zeros(belief.n_observations)
        success_of_row[belief.observation] = most_success
        return success_of_row

    return (_measure(MEASURES["campaign_success"], self_assessed=success),)


@dataclass(frozen=True)
class Audit:
    """Rows of one belief, and the measures that were not run, each with its reason."""

    rows: tuple[Row, ...]
    not_run: tuple[tuple[str, str], ...] = ()

    def row(self, measure: str) -> Row:
        """Return the row of a measure, by name."""
        return next(row for row in self.rows if row.measure == measure)

    def __repr__(self) -> str:
        lines = (f"{row.measure:24} {row.posterior:10.4g}  before {row.prior:.4g} {row.unit}" for row in self.rows)
        return "\n".join([f"Audit of {len(self.rows)} measures, {len(self.not_run)} not run", *lines])

    def _repr_html_(self) -> str:
        rows = ((row.measure, row.posterior, row.prior, row.worst, row.unit) for row in self.rows)
        title = f"Audit: {len(self.rows)} measures, {len(self.not_run)} not run"
        return html_table(title, ("measure", "value", "before", "most exposed", "unit"), rows)

    def to_frame(self, *, library: str | None = None) -> Any:
        """Return the rows as a data frame of pandas, polars or Arrow, see `unmask.data.frames`."""
        return frame_of_rows([row.as_dict() for row in self.rows], library=library)


def score(
    belief: Posterior,
    truth: Truth | None = None,
    *,
    release: str = "release",
    adversary: str = "adversary",
    target: str = "identity",
    measures: Sequence[Measure] | None = None,
    note: str = "",
    drawn_from: float | None = None,
    person: NDArray[np.int64] | None = None,
    picked: Posterior | None = None,
    over_people: Posterior | None = None,
    people: int | None = None,
) -> Audit:
    """Evaluate every measure that a belief allows; the others are in `not_run`, which never means zero.

    A status that the truth refutes becomes `refuted`, with the announced and realized success in the note, see
    `check_status`. Targets that the adversary knew before (`Truth.leaked`) are left out.

    Parameters
    ----------
    belief : Posterior
        Belief about each target.
    truth : Truth, optional
        Without it, only self-assessed measures are evaluated.
    release, adversary, target, note : str
        Texts of the rows.
    measures : sequence of Measure, optional
        By default `STANDARD`, and the rates of an attack that names people.
    drawn_from : float, optional
        Number of people that the targets were drawn from; None if they are everybody. See `measures.evaluate`.
    person : (n_targets,) array, optional
        Person of each target, if people are several targets.
    picked : Posterior, optional
        Belief by which a candidate is picked, if `belief` is only the probability that the pick is right. It is
        compared with the truth.
    over_people : Posterior, optional
        Belief with people for candidates, if they have several records, for `OF_PEOPLE`.
    people : int, optional
        Number of people that the targets stand for, if each is an equivalence class.

    Examples
    --------
    >>> from unmask import Posterior, Truth, audit
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]))
    >>> scored = audit(belief, Truth([0, 2]))
    >>> scored.row("success_probability").posterior, scored.row("realized_success").posterior
    (0.75, 0.75)
    """
    unknown, person_of_unknown = belief, person
    if truth is not None and truth.leaked.any():
        unknown, person_of_unknown = _drop_leaked(belief, truth), None if person is None else person[~truth.leaked]
    default = STANDARD if belief.named is None else (*RATES, coverage, *STANDARD)
    chosen, rows, not_run = default if measures is None else measures, [], []
    row_values, prior_values = _evaluate_rows(chosen, unknown)
    for measure in chosen:
        if reason := _refuse(measure, belief, truth, is_picked=picked is not None):
            not_run.append((measure.name, reason))
            continue
        scored, owner = (picked or belief, person) if measure.needs_truth else (unknown, person_of_unknown)
        values, prior_value = row_values.get(measure.name), prior_values.get(measure.name)
        if over_people is not None and measure.name in OF_PEOPLE:
            scored, values, prior_value = over_people, None, None
        texts = {"release": release, "adversary": adversary, "target": target}
        options: dict[str, Any] = {**texts, "drawn_from": drawn_from, "person": owner, "people": people}
        try:
            rows.append(evaluate(measure, scored, truth, row_values=values, prior_value=prior_value, **options))
        except UndefinedError as error:
            not_run.append((measure.name, str(error)))
    status, reason = check_status(belief, truth, person=person, picked=picked)
    for posterior in {belief, unknown, picked or belief, over_people or belief}:
        posterior.discard_results()
    note = "; ".join(text for text in (note, reason) if text)
    rows = [row if (row.status, row.note) == (status, note) else replace(row, status=status, note=note) for row in rows]
    return Audit(tuple(rows), tuple(not_run))


def _refuse(measure: Measure, belief: Posterior, truth: Truth | None, *, is_picked: bool) -> str:
    """Return why a measure is not run; "" if it is."""
    if is_picked and measure.name in OF_PICKED:
        return "a record is picked, and the truth is about people"
    if measure.needs_truth and (truth is None or not truth.judged.any()):
        return mark("the truth is not known")
    return SCORES if measure.needs_probabilities and belief.status == "scores" else ""


def _evaluate_rows(
    measures: Sequence[Measure], belief: Posterior
) -> tuple[dict[str, NDArray[np.float64]], dict[str, float]]:
    """Return the values of measures of rows, by name, at each distinct row and at the prior; none of mere scores.

    All measures share one pass over the rows, and what several of them compute.
    """
    functions = {measure.name: measure.of_rows for measure in measures if measure.of_rows is not None}
    if not functions or belief.status == "scores":
        return {}, {}
    values, priors = (
        map_functions(posterior, tuple(functions.values()))
        for posterior in (distinct_rows(belief).posterior, belief.prior())
    )
    prior_values = (float(value[0]) for value in priors)
    return dict(zip(functions, values, strict=True)), dict(zip(functions, prior_values, strict=True))


def _drop_leaked(belief: Posterior, truth: Truth) -> Posterior:
    """Return the belief about the targets that the adversary did not know before."""
    not_leaked = np.flatnonzero(~truth.leaked)
    if not len(not_leaked):
        raise UnmaskError(f"all {len(truth)} targets were known before, expected some that are not")
    weight = belief.weight[not_leaked] / belief.weight[not_leaked].sum()
    return replace(belief, observation=belief.observation[not_leaked], weight=weight)


def check_status(
    belief: Posterior,
    truth: Truth | None = None,
    *,
    person: NDArray[np.int64] | None = None,
    picked: Posterior | None = None,
) -> tuple[str, str]:
    """Return the status that a belief deserves, and the reason if it differs from the announced one.

    A belief is `refuted` if announced and realized success differ by more than chance explains in 999 of 1,000 cases
    (`Check`), and by more than `MAX_DEVIATION`. An `exact` belief that gives a true record probability 0 is `refuted`,
    too: cells were changed, or the origin is wrong. `calibrated` needs a check on held-out people in the provenance;
    without one it is a `model`. Scores announce nothing.

    Parameters
    ----------
    belief : Posterior
        Belief about each target.
    truth : Truth, optional
        Without it, only the provenance is checked.
    person, picked
        See `score`.

    Examples
    --------
    >>> from unmask import Posterior, Truth
    >>> sure = Posterior.from_dense(np.tile([0.9, 0.1], (100, 1)))
    >>> check_status(sure, Truth(np.arange(100) % 2))
    ('refuted', 'not exact: announced 90.0 %, realized 50.0 % of 100 people')
    """
    status, reason = str(belief.status), ""
    if status == "calibrated":
        held_out = belief.provenance.get("check")
        status, reason = (
            ("model", "never checked on held-out people") if held_out is None else (status, f"held out: {held_out}")
        )
    if status == "scores" or truth is None or not truth.judged.any():
        return status, reason
    check = Check.of(*_announced_and_realized(belief, truth, person, picked), within=MAX_DEVIATION[status])
    if check.refuted:
        return "refuted", f"not {status}: {check}"
    n_excluded = 0 if status != "exact" or truth.person is not None else _count_excluded(belief, truth)
    if n_excluded:
        return "refuted", f"not exact: the record of {n_excluded:,} of {len(truth):,} people was ruled out"
    return status, reason


def _count_excluded(belief: Posterior, truth: Truth) -> int:
    """Return the number of targets whose record is released and has probability 0; 0 for beliefs about values."""
    assert log_loss_bits.realized is not None
    if belief.candidate_label is not None:
        return 0
    place = locate_truth(belief, truth)
    impossible = (
        np.isinf(log_loss_bits.realized(place.posterior, place.truth))
        & (place.truth.candidate >= 0)
        & place.truth.judged
    )
    return int(place.n_targets[impossible].sum())


def _announced_and_realized(
    belief: Posterior, truth: Truth, person: NDArray[np.int64] | None, picked: Posterior | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return announced success, realized success, weight and number of people with a known truth.

    People at one place of the truth are together, or the targets of one person.
    """
    assert realized_success.of_positions is not None
    if person is None and picked is None:
        place = locate_truth(belief, truth)
        rows = place.truth.judged
        announced, realized = success_probability.per_target(place.posterior), realized_success.of_positions(place)
        return announced[rows], realized[rows], place.posterior.weight[rows], place.n_targets[rows]
    rows, person = truth.judged, np.arange(len(truth)) if person is None else person
    values = success_probability.per_target(belief), realized_success.per_target(picked or belief, truth)
    (announced, weight), (realized, _) = (
        average_by_person(value[rows], belief.weight[rows], person[rows]) for value in values
    )
    return announced, realized, weight, np.ones(len(weight), dtype=np.int64)
