"""Rows of audits of channels: measures of a belief under the loss, and numbers about a whole system."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.channels.loss_model import LossModel
from unmask.core.posterior import Posterior, equal_weights
from unmask.core.truth import Truth
from unmask.measures import Measure, estimation_error, realized_error
from unmask.measures.interval import of_targets
from unmask.measures.registry import CRITERIA, MEASURES
from unmask.measures.requested import select_requested
from unmask.results import Result, Row
from unmask.results.names import EAVESDROPPER
from unmask.scoring import REALIZED, SELF_ASSESSED, score

channel_result = partial(
    Result, kind="Channel audit", command="audit channel", preferred_measures=(), about_people=False
)
"""Result of an audit of channels, with the fields that all of them share."""

EVIDENCE_MEASURES = frozenset(
    {"estimation_error", "success_probability", "shannon_entropy_bits", "effective_set_size"}
    | {"realized_error", "realized_success", "realized_success_at_3", "calibration_error"}
)
"""Measures of a belief that was learned from evidence; worst cases and factors such as delta are not known."""


def make_row(release: str, adversary: str, measure: str, value: float, **fields: Any) -> Row:
    """Return the row of one number, see `Row.of_number`; its unit and direction are those of the registry."""
    quantity = (MEASURES | CRITERIA)[measure]
    return Row.of_number(
        value, release=release, adversary=adversary, target="system", measure=measure, unit=quantity.unit,
        direction=quantity.direction, quantiles=(value,) * 5, **fields,
    )  # fmt: skip


def make_mean_row(
    release: str, adversary: str, measure: str, values: Floats, *, prior: float = math.nan, **bounds: Any
) -> Row:
    """Return the row of a mean over people, with its interval. bounds : of the values, see `of_targets`"""
    low, high, over = of_targets(values, equal_weights(len(values)), drawn_from=math.inf, **bounds)
    return make_row(
        release, adversary, measure, float(values.mean()), prior=prior, low=low, high=high, interval=over,
        n=len(values), status="model",
    )  # fmt: skip


def score_belief(
    belief: Posterior,
    model: LossModel,
    *,
    release: str,
    adversary: str = EAVESDROPPER,
    truth: Truth | None = None,
    person: Ints | None = None,
    wants: Callable[[str], bool] = lambda _: True,
    further: Sequence[Measure] = (),
) -> tuple[Row, ...]:
    """Measure a belief about one channel: the error under the loss and the measures of all audits.

    Parameters
    ----------
    belief : Posterior
        Belief about the secrets.
    model : LossModel
        Loss of the adversary.
    release, adversary : str
        Names in the rows.
    truth : Truth, optional
        Secrets that were drawn and shown; None if the belief is that of the channel itself.
    person : (n_targets,) array, optional
        Person of each target, if a person is several targets.
    wants : callable
        Predicate of the names of the measures to take.
    further : sequence of Measure
        Measures to take beyond those of all audits.
    """
    loss = model.loss if isinstance(model.loss, str) else model.matrix(belief.n_candidates)
    errors = [
        replace(kind(loss, coordinates=model.coordinates), unit=model.unit)
        for kind in (estimation_error, realized_error)
    ]
    under_loss = {measure.name: measure for measure in errors}
    standard = [measure for measure in (*errors, *SELF_ASSESSED, *REALIZED) if wants(measure.name)]
    measures = {measure.name: under_loss.get(measure.name, measure) for measure in (*standard, *further)}
    if truth is None:
        announced = [measure for measure in measures.values() if not measure.needs_truth]
        return score_known(belief, announced, release=release, adversary=adversary)
    return score(
        belief,
        truth,
        release=release,
        adversary=adversary,
        target="secret",
        drawn_from=math.inf,
        person=person,
        measures=list(measures.values()),
    ).rows


def score_known(
    belief: Posterior, measures: Sequence[Measure], *, release: str, adversary: str = EAVESDROPPER
) -> tuple[Row, ...]:
    """Return rows of measures that need no truth, for a belief that is given whole."""
    rows = score(belief, None, release=release, adversary=adversary, target="secret", measures=measures).rows
    return tuple(_without_interval(row, belief) for row in rows)


def _without_interval(row: Row, belief: Posterior) -> Row:
    """Return a row without an interval, since it is about no sample, and without a gain that is only rounding."""
    noise = 8 * float(np.finfo(belief.log_probability.dtype).eps) * max(abs(row.prior), abs(row.posterior))
    gain = 0.0 if math.isfinite(noise) and abs(row.gain) <= noise else row.gain
    reason = "the channel is given whole" if belief.status == "exact" else "announced without a truth"
    return replace(row, low=None, high=None, interval=f"none: {reason}", gain=gain)


def further_measures(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of these names that an audit of channels computes on request only."""
    return select_requested(names, (*SELF_ASSESSED, *REALIZED))
