"""Numbers about a belief. Each is a declaration, evaluated on the prior and on the posterior in one place (`base`).

One registry (`registry`) has the name, label and meaning of everything that is measured; the name is the same in a row,
a plan, a gate and here. There is more than is named here in the modules `error`, `entropy`, `leakage`, `anonymity`,
`bounds`, `differential` and `losses`.
"""

from unmask.measures import (
    anonymity,
    bounds,
    criteria,
    differential,
    entropy,
    error,
    leakage,
    linkage,
    losses,
    matching,
    rational,
)
from unmask.measures.base import Measure, evaluate
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
    gibbs,
    realized_bayes,
    realized_error,
    realized_gibbs,
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
from unmask.measures.rapid import rapid_at
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
from unmask.measures.transport import earth_mover

__all__ = [
    "CRITERIA",
    "MEASURES",
    "UTILITIES",
    "Loss",
    "Measure",
    "Quantity",
    "anonymity",
    "bayes",
    "bayes_vulnerability",
    "bounds",
    "calibration_error",
    "confidence_set_size",
    "correctness",
    "criteria",
    "declare",
    "delta_down",
    "delta_up",
    "described",
    "differential",
    "earth_mover",
    "effective_set_size",
    "entropy",
    "epsilon_nats",
    "error",
    "estimation_error",
    "evaluate",
    "gibbs",
    "guessing_entropy",
    "hartley_entropy_bits",
    "information_gain_bits",
    "leakage",
    "leakages",
    "linkage",
    "log_loss_bits",
    "losses",
    "matching",
    "min_entropy_bits",
    "min_entropy_smith",
    "mutual_information",
    "rank",
    "rapid_at",
    "rational",
    "realized_bayes",
    "realized_error",
    "realized_gibbs",
    "realized_success",
    "realized_success_at",
    "renyi_entropy",
    "sampling_error",
    "shannon_entropy_bits",
    "success_probability",
    "total_variation",
]
