"""Measures of a posterior. Each is a declaration, evaluated on the prior and on the posterior in one place (`base`).

One registry (`registry`) has the name, label and meaning of all measures; the name is the same in a row, a plan, a gate
and here. More measures are in the modules `error`, `entropy`, `leakage`, `anonymity`, `bounds`, `losses` and
`membership`; `clustering` has those of partitions. All modules are imported, since measures register themselves.
"""

from unmask.measures import anonymity, bounds, entropy, error, leakage, losses, membership, rates
from unmask.measures.entropy import (
    confidence_set_size,
    effective_set_size,
    guessing_entropy,
    hartley_entropy_bits,
    min_entropy_bits,
    min_entropy_smith,
    renyi_entropy,
    shannon_entropy_bits,
)
from unmask.measures.error import (
    bayes,
    correctness,
    estimation_error,
    realized_error,
    sampling_error,
)
from unmask.measures.leakage import (
    delta_down,
    delta_up,
    epsilon_nats,
    information_gain_bits,
    leakages,
    mutual_information,
    total_variation,
)
from unmask.measures.losses import Loss
from unmask.measures.measure import Measure, evaluate
from unmask.measures.near_numbers import realized_success_within, success_within
from unmask.measures.registry import CRITERIA, MEASURES, UTILITIES, Quantity, declare, described
from unmask.measures.success import (
    bayes_vulnerability,
    calibration_error,
    log_loss_bits,
    rank,
    realized_success,
    realized_success_at,
    success_probability,
)

__all__ = [
    "CRITERIA", "MEASURES", "UTILITIES", "Loss", "Measure", "Quantity", "anonymity", "bayes", "bayes_vulnerability",
    "bounds", "calibration_error", "confidence_set_size", "correctness", "declare", "delta_down", "delta_up",
    "described", "effective_set_size", "entropy", "epsilon_nats", "error", "estimation_error", "evaluate",
    "guessing_entropy", "hartley_entropy_bits", "information_gain_bits", "leakage", "leakages", "log_loss_bits",
    "losses", "membership", "min_entropy_bits", "min_entropy_smith", "mutual_information", "rank", "rates",
    "realized_error", "realized_success", "realized_success_at", "realized_success_within", "renyi_entropy",
    "sampling_error", "shannon_entropy_bits", "success_probability", "success_within", "total_variation"
]  # fmt: skip
