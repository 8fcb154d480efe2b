"""One release, one adversary, one answer: the only place where a belief meets the truth."""

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
from unmask.measures import (
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
from unmask.measures import names as measure_names
from unmask.measures.base import UndefinedError, average_by_person
from unmask.measures.rates import RATES, coverage
from unmask.measures.rows import map_functions
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
"""What can be said without knowing the truth."""

REALIZED: tuple[Measure, ...] = (
    realized_success,
    realized_error(),
    realized_success_at(3),
    rank,
    log_loss_bits,
    calibration_error,
)
"""What needs the truth."""


STANDARD = SELF_ASSESSED + REALIZED
"""What an audit takes unless it is told otherwise."""


OF_ONE = (calibration_error.name, measure_names.realized_rational_success.name)
"""What holds the belief by which a candidate is picked against what it tells of people."""

OF_PEOPLE = tuple(
    one.name for one in (hartley_entropy_bits, shannon_entropy_bits, effective_set_size, information_gain_bits)
)
"""What counts people where they have several records."""

SCORES = "the attack gives scores, not probabilities"
"""Why a measure that needs probabilities is not run."""


def price_measures(attacker: Attacker) -> tuple[Measure, ...]:
    """What a rational attacker would do with a belief, as measures like any other: each prices the whole belief.

    `rational_success` is what the attacker expects of the plans; `realized_rational_success` is what the same plans
    reach when they are played out against the truth.
    """
    from unmask.economics import play_out, price_posterior  # here: most audits price nothing

    priced = lru_cache(maxsize=2)(lambda belief: price_posterior(attacker, belief))  # once for all measures

    def of(declared: Quantity, value: Callable[[Prices], NDArray[np.float64]]) -> Measure:
        return _measure(declared, self_assessed=lambda belief: value(priced(belief)))

    def played(belief: Posterior, truth: Truth) -> NDArray[np.float64]:
        ranks = rank_truth(belief, truth)
        return play_out(attacker, belief, ranks.n_better, ranks.n_tied)

    return (
        of(measure_names.rational_access, lambda prices: prices.access.astype(np.float64)),
        of(measure_names.rational_success, lambda prices: prices.success_probability),
        _measure(measure_names.realized_rational_success, realized=played),
        of(measure_names.rational_payoff, lambda prices: prices.payoff),
        of(measure_names.rational_tries, lambda prices: prices.expected_tries),
    )


def _measure(declared: Quantity, **value: Any) -> Measure:
    return Measure(**vars(declared), **value, shares_entries=True, needs_probabilities=True)


def campaign_measures(attacker: Attacker, people: float | None = None) -> tuple[Measure, ...]:
    """What one rational attacker does who faces all people at once: see `unmask.economics.campaign`.

    people : how many the targets were drawn from, for whom they stand; None where they are everybody. Access is paid,
             and fines run out, once for all of them.

    Where a campaign is too large to be reckoned, the probability that the target is a candidate at all stands for it:
    no campaign exceeds that.
    """
    from unmask.economics import campaign, count_people_per_target

    def success(belief: Posterior) -> NDArray[np.float64]:
        try:
            most = campaign(
                replace(attacker, discount=1.0), belief, people=count_people_per_target(belief, people)
            ).most_success
        except UnmaskError:
            return np.where(belief.row_length > 0, 1.0 - belief.unlisted, belief.unlisted)
        of_row = np.zeros(belief.n_observations)
        of_row[belief.observation] = most
        return of_row

    return (_measure(measure_names.campaign_success, self_assessed=success),)


@dataclass(frozen=True)
class Audit:
    """The rows of one belief, and the measures that could not be taken, each with its reason."""

    rows: tuple[Row, ...]
    not_run: tuple[tuple[str, str], ...] = ()

    def row(self, measure: str) -> Row:
        """The row of a measure, by name."""
        return next(row for row in self.rows if row.measure == measure)

    def __repr__(self) -> str:
        lines = (f"{row.measure:24} {row.posterior:10.4g}  before {row.prior:.4g} {row.unit}" for row in self.rows)
        return "\n".join([f"Audit of {len(self.rows)} measures, {len(self.not_run)} not run", *lines])

    def _repr_html_(self) -> str:
        rows = ((row.measure, row.posterior, row.prior, row.worst, row.unit) for row in self.rows)
        title = f"Audit: {len(self.rows)} measures, {len(self.not_run)} not run"
        return html_table(title, ("measure", "value", "before", "worst-off", "unit"), rows)

    def to_frame(self, *, library: str | None = None) -> Any:
        """The rows as a data frame of pandas, polars or Arrow, see `unmask.data.frames`."""
        return frame_of_rows([row.as_dict() for row in self.rows], library=library)


def audit(
    belief: Posterior,
    truth: Truth | None = None,
    *,
    release: str = "release",
    adversary: str = "adversary",
    target: str = "identity",
    measures: Sequence[Measure] | None = None,
    note: str = "",
    drawn_from: float | None = None,
    whose: NDArray[np.int64] | None = None,
    picked: Posterior | None = None,
    over_people: Posterior | None = None,
    people: int | None = None,
) -> Audit:
    """Take every measure that the belief allows: without a truth the self-assessed ones, for mere scores none that
    needs probabilities.

    Measures that are left out are in `not_run`, with the reason; *not run* is never a zero. Targets that the adversary
    knew before (`Truth.leaked`) take no part.
    measures   : `STANDARD` when left out, and the rates of an attack that names people, or nobody, besides
    drawn_from : how many people the targets were drawn from, None where they are everybody; see `evaluate`
    whose      : who each target is of, where people are several targets; see `evaluate`
    picked     : the belief by which a candidate is picked, where `belief` only says how likely that is right: what
                 needs the truth is of it
    over_people : the belief with people for candidates, where they have several records: `OF_PEOPLE` are of it
    people     : how many people the targets stand for, if each is an equivalence class; see `evaluate`
    A status that the truth refutes is taken away: the rows say `refuted`, and the note what was announced and what came
    true, see `earned`.

    >>> from unmask import Posterior, Truth, audit
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]))
    >>> found = audit(belief, Truth([0, 2]))
    >>> found.row("success_probability").posterior, found.row("realized_success").posterior
    (0.75, 0.75)
    """
    asked, of_asked = belief, whose
    if truth is not None and truth.leaked.any():
        asked, of_asked = _not_leaked(belief, truth), None if whose is None else whose[~truth.leaked]
    chosen, rows, not_run = standard(belief) if measures is None else measures, [], []
    row_values = _in_one_pass(chosen, asked)
    for measure in chosen:
        if picked is not None and measure.name in OF_ONE:
            not_run.append((measure.name, "records are picked, and people told of"))
        elif measure.needs_truth and (truth is None or not truth.judged.any()):
            not_run.append((measure.name, "the truth is not known"))
        elif measure.needs_probabilities and belief.status == "scores":
            not_run.append((measure.name, SCORES))
        else:
            names = {"release": release, "adversary": adversary, "target": target}
            try:
                of, own = (picked or belief, whose) if measure.needs_truth else (asked, of_asked)
                known = row_values.get(measure.name)
                if over_people is not None and measure.name in OF_PEOPLE:
                    of, known = over_people, None
                found = evaluate(
                    measure, of, truth, **names, drawn_from=drawn_from, row_values=known, person=own, people=people
                )
                rows.append(found)
            except UndefinedError as error:
                not_run.append((measure.name, str(error)))
    status, why = earned(belief, truth, whose=whose, picked=picked)
    for posterior in {belief, asked, picked or belief, over_people or belief}:
        posterior.discard_results()
    note = "; ".join(said for said in (note, why) if said)
    return Audit(tuple(replace(row, status=status, note=note) for row in rows), tuple(not_run))


def _in_one_pass(measures: Sequence[Measure], belief: Posterior) -> dict[str, NDArray[np.float64]]:
    """Measures of rows by name, at each kind of observation; none where the belief is mere scores."""
    functions = {one.name: one.of_rows for one in measures if one.of_rows is not None and belief.status != "scores"}
    found = map_functions(distinct_rows(belief).posterior, tuple(functions.values())) if functions else []
    return dict(zip(functions, found, strict=True))


def standard(belief: Posterior) -> tuple[Measure, ...]:
    """What an audit takes of a belief unless it is told otherwise."""
    return STANDARD if belief.named is None else (*RATES, coverage, *STANDARD)


def _not_leaked(belief: Posterior, truth: Truth) -> Posterior:
    """The belief about the targets that the adversary did not know before."""
    left = np.flatnonzero(~truth.leaked)
    if not len(left):
        raise UnmaskError(f"all {len(truth)} targets were known before, expected some to be found")
    weight = belief.weight[left] / belief.weight[left].sum()
    return replace(belief, observation=belief.observation[left], weight=weight)


WITHIN = {"exact": 0.0, "model": 0.03, "calibrated": 0.03}
"""By how much realized success may differ from what a belief of this status announces, chance apart."""


def earned(
    belief: Posterior,
    truth: Truth | None = None,
    *,
    whose: NDArray[np.int64] | None = None,
    picked: Posterior | None = None,
) -> tuple[str, str]:
    """The status that a belief has earned, and why if it is another than it claims or rests on a check.

    whose, picked : as in `audit`

    Scores claim nothing. What the truth refutes (`Check`: a difference that chance makes in fewer than 1 of 1,000
    beliefs that keep their word; beyond 3 points, for `model` and `calibrated`) is `refuted`. So is an `exact` belief
    that gives a true record probability 0: cells were changed, or the origin is wrong. `calibrated` needs
    a check on held-out people in the provenance; without one it is a `model`.

    >>> from unmask import Posterior, Truth
    >>> sure = Posterior.from_dense(np.tile([0.9, 0.1], (100, 1)))
    >>> earned(sure, Truth(np.arange(100) % 2))
    ('refuted', 'not exact: announced 90.0 %, realized 50.0 % of 100 people')
    """
    status, why = str(belief.status), ""
    if status == "calibrated":
        check = belief.provenance.get("check")
        status, why = ("model", "never checked on held-out people") if check is None else (status, f"held out: {check}")
    if status == "scores" or truth is None or not truth.judged.any():
        return status, why
    found = Check.of(*_said(belief, truth, whose, picked), within=WITHIN[status])
    if found.refuted:
        return "refuted", f"not {status}: {found}"
    excluded = 0 if status != "exact" or truth.person is not None else _excluded(belief, truth)
    if excluded:
        return "refuted", f"not exact: the record of {excluded:,} of {len(truth):,} people was ruled out"
    return status, why


def _excluded(belief: Posterior, truth: Truth) -> int:
    """Return the number of targets whose record is released and has probability 0. Values are no records."""
    assert log_loss_bits.realized is not None
    if belief.candidate_label is not None:
        return 0
    at = locate_truth(belief, truth)
    impossible = np.isinf(log_loss_bits.realized(at.posterior, at.truth)) & (at.truth.candidate >= 0) & at.truth.judged
    return int(at.n_targets[impossible].sum())


def _said(
    belief: Posterior, truth: Truth, whose: NDArray[np.int64] | None, picked: Posterior | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """What was announced of people whose truth is known, what came true, their weight, and how many they are: of all in
    one place of the truth, or of each person.
    """
    assert realized_success.of_positions is not None
    if whose is None and picked is None:
        at = locate_truth(belief, truth)
        known = at.truth.judged
        announced, realized = success_probability.per_target(at.posterior), realized_success.of_positions(at)
        return announced[known], realized[known], at.posterior.weight[known], at.n_targets[known]
    known, whose = truth.judged, np.arange(len(truth)) if whose is None else whose
    both = success_probability.per_target(belief), realized_success.per_target(picked or belief, truth)
    (announced, weight), (realized, _) = (
        average_by_person(one[known], belief.weight[known], whose[known]) for one in both
    )
    return announced, realized, weight, np.ones(len(weight), dtype=np.int64)
