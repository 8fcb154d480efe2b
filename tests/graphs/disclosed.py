"""Outcomes of attacks on releases in which people have several identities, counted node by node."""

import numpy as np

from unmask.graphs.disclosure import SeparatedPair
from unmask.graphs.evaluation import Outcome, outcomes, select_match


def counts(pair, separated, mapping, seeds):
    """Return the number of source nodes with each outcome; any identity of a person is right."""
    released, rounds = SeparatedPair.of(pair, separated), np.atleast_2d(mapping)
    match = select_match(rounds, released.to_truth().accepts(rounds))
    outcome = outcomes(match, released.truth_for(match), seeds)
    return {kind: int((outcome == kind).sum()) for kind in Outcome}


def recall(*arguments):
    """Return the share of hits among the people in both graphs, without seeds; arguments as in `counts`."""
    count = counts(*arguments)
    return count[Outcome.HIT] / (count[Outcome.HIT] + count[Outcome.MISS] + count[Outcome.UNMAPPED])


def precision(*arguments):
    """Return the share of hits among all matches; arguments as in `counts`."""
    count = counts(*arguments)
    return count[Outcome.HIT] / (count[Outcome.HIT] + count[Outcome.MISS] + count[Outcome.FALSE_POSITIVE])
