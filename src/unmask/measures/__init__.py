"""Numbers about a belief. Each is a declaration, evaluated on the prior and on the posterior in one place (`base`).

There is more than is named here in the modules `error`, `entropy`, `leakage`, `anonymity`, `bounds`, `differential` and
`losses`.
"""

from unmask.measures import anonymity, bounds, differential, entropy, error, leakage, losses
from unmask.measures.base import Measure, evaluate
from unmask.measures.entropy import (
    confidence_set_size,
    effective_set_size,
    guessing_entropy,
    min_entropy_average,
    min_entropy_smith,
    renyi_entropy,
    shannon_entropy,
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
    confirmation,
    epsilon,
    information_gain,
    leakages,
    mutual_information,
    refutation,
    total_variation,
)
from unmask.measures.losses import Loss
from unmask.measures.success import calibration_error, log_loss, rank, realized_success, success_at, success_probability
from unmask.measures.transport import earth_mover

__all__ = [
    "Loss",
    "Measure",
    "anonymity",
    "bayes",
    "bounds",
    "calibration_error",
    "confidence_set_size",
    "confirmation",
    "correctness",
    "differential",
    "earth_mover",
    "effective_set_size",
    "entropy",
    "epsilon",
    "error",
    "estimation_error",
    "evaluate",
    "gibbs",
    "guessing_entropy",
    "information_gain",
    "leakage",
    "leakages",
    "log_loss",
    "losses",
    "min_entropy_average",
    "min_entropy_smith",
    "mutual_information",
    "rank",
    "realized_bayes",
    "realized_error",
    "realized_gibbs",
    "realized_success",
    "refutation",
    "renyi_entropy",
    "sampling_error",
    "shannon_entropy",
    "success_at",
    "success_probability",
    "total_variation",
]
