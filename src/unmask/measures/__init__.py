"""Numbers about a belief. Each is a declaration, evaluated on the prior and on the posterior in one place (`base`)."""

from unmask.measures.base import Measure, evaluate
from unmask.measures.entropy import effective_set_size, renyi_entropy, shannon_entropy
from unmask.measures.error import estimation_error, realised_error
from unmask.measures.leakage import confirmation, information_gain, refutation, total_variation
from unmask.measures.success import calibration_error, log_loss, rank, realised_success, success_at, success_probability

__all__ = [
    "Measure",
    "calibration_error",
    "confirmation",
    "effective_set_size",
    "estimation_error",
    "evaluate",
    "information_gain",
    "log_loss",
    "rank",
    "realised_error",
    "realised_success",
    "refutation",
    "renyi_entropy",
    "shannon_entropy",
    "success_at",
    "success_probability",
    "total_variation",
]
