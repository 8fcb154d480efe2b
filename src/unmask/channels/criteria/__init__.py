"""Bounds of the adversary's error by privacy criteria: k, l, t, delta, epsilon and the entropies."""

from unmask.channels.criteria.advice import TABLE_IV, Advice, Entry, advise
from unmask.channels.criteria.conversion import CRITERIA, Criterion, ErrorRange, error_of
from unmask.channels.criteria.logs import path_entropy_bits, rounds_needed
from unmask.channels.criteria.samples import CountedInformation, counted_information
from unmask.channels.criteria.typical_sets import (
    TypicalSet,
    conditional_entropy,
    conditional_typical_log2_size,
    entropy,
    markov_entropy_rate,
    stationary,
    typical_set,
)

__all__ = [
    "CRITERIA",
    "TABLE_IV",
    "Advice",
    "CountedInformation",
    "Criterion",
    "Entry",
    "ErrorRange",
    "TypicalSet",
    "advise",
    "conditional_entropy",
    "conditional_typical_log2_size",
    "counted_information",
    "entropy",
    "error_of",
    "markov_entropy_rate",
    "path_entropy_bits",
    "rounds_needed",
    "stationary",
    "typical_set",
]
