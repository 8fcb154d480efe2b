"""A candidate may stand in a belief for all of its class; no number depends on whether it does."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import measures
from unmask.core.errors import UnmaskError
from unmask.core.inference import from_likelihood
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.economics import read_attacker
from unmask.economics.audit.facts import price_release
from unmask.measures import Measure, estimation_error, realized_error, sampling_error
from unmask.measures.entropy import confidence_set_size
from unmask.scoring import STANDARD, campaign_measures, price_measures
from unmask.studies.beliefs import AttackedRelease, _remove_identities

CASE = read_attacker("case-study")


def all_candidates(n):
    """Measures of all kinds about n candidates."""
    line = np.arange(n) ** 2.0
    yield from dict.fromkeys(
        (*STANDARD, *(member for member in vars(measures).values() if isinstance(member, Measure)))
    )
    yield from (*price_measures(CASE), *campaign_measures(CASE), *map(confidence_set_size, (0.5, 0.9, 1.0)))
    for error in (estimation_error, realized_error, sampling_error):
        yield from (error(loss, coordinates=line) for loss in ("absolute", "squared"))
        yield error(np.abs(np.subtract.outer(line, line)))
    yield Measure("written_by_a_user", self_assessed=lambda belief: np.diff(belief.indptr).astype(float))
    yield Measure("of_a_user", realized=lambda belief, truth: np.isin(truth.candidate, belief.candidate).astype(float))


@st.composite
def beliefs(draw):
    """Draw beliefs by class, some classes equally likely; targets may be absent, and rows may have no observer."""
    klass = np.array(draw(st.lists(st.integers(0, 4), min_size=2, max_size=12)))
    first = np.array([np.flatnonzero(klass == label)[0] for label in klass], dtype=np.int32)
    n = draw(st.integers(1, 4))
    candidate_lists = [sorted(draw(st.sets(st.sampled_from(first.tolist()), min_size=0))) for _ in range(n)]
    entries = np.array([candidate for row in candidate_lists for candidate in row], dtype=np.int32)
    likely = draw(st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=len(entries), max_size=len(entries)))
    belief = from_likelihood(
        np.cumsum([0, *map(len, candidate_lists)]),
        entries,
        np.log(likely),
        n_candidates=len(klass),
        observation=np.array(draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=6))),
        representative=first,
    )
    return belief, Truth(
        draw(st.lists(st.integers(-1, len(klass) - 1), min_size=belief.n_targets, max_size=belief.n_targets))
    )


@settings(max_examples=12)
@given(beliefs())
def test_every_measure_is_that_of_candidates_listed_one_by_one(drawn):
    belief, truth = drawn
    expanded = belief.expand_classes()
    assert np.all(expanded.row_length == np.diff(expanded.indptr))
    for measure in all_candidates(belief.n_candidates):
        truths = (truth,) if measure.needs_truth else ()
        values = []
        for form in (belief, expanded):
            try:
                values.append(measure.per_target(form, *truths).tolist())
            except UnmaskError as error:
                values.append(str(error))
        assert values[0] == (values[1] if isinstance(values[1], str) else pytest.approx(values[1], nan_ok=True)), (
            measure.name
        )


def pair(**options):
    """Two people of one class, of three."""
    arguments = {
        "n_candidates": 3,
        "observation": np.array([0, 0]),
        "representative": np.array([0, 0, 2], np.int32),
    } | options
    return from_likelihood(np.array([0, 2]), np.array([0, 2], np.int32), np.log([0.5, 1.0]), **arguments)


def test_a_price_is_that_of_all_who_are_stood_for():
    eager = replace(CASE, access_cost=0.0)
    prices = [price_release(eager, "release", form) for form in (pair(), pair().expand_classes())]
    assert prices[0] == prices[1]


def test_a_saved_belief_keeps_all_who_are_stood_for():
    assert _remove_identities(AttackedRelease(pair(), None, None, 0.0)).belief.row_length.tolist() == [3]


def test_a_copy_stands_for_as_many():
    copy = pickle.loads(pickle.dumps(pair()))
    assert copy.candidates(0) == pair().expand_classes().candidates(0)
    assert repr(copy) == repr(pair().expand_classes())
    assert not pair().representative.flags.writeable


@pytest.mark.parametrize("stands", [[0, 0], [0, 0, 3], [-1, 0, 2], [1, 1, 2], [1, 2, 2]])
def test_representatives_must_represent_themselves(stands):
    with pytest.raises(UnmaskError, match=r"representative has shape|another representative"):
        replace(pair(), representative=np.array(stands, np.int32))


def test_those_of_another_prior_are_not_held_alike():
    prior = np.log([0.2, 0.3, 0.5])
    assert isinstance(replace(pair().expand_classes(), log_prior=prior), Posterior)
    with pytest.raises(UnmaskError, match="another prior"):
        replace(pair(), log_prior=prior)
