"""Published results about unlinkability, reproduced: `python verification/unlinkability.py` (about a minute).

A. Pashalidis, S. Schiffner, "Evaluating Adversarial Partitions": every printed number and every claim of sections 1, 3,
4, 5 and appendix A. `evaluate` is compared with exact fractions in tests/measures/clustering/test_oracle.py.
"""

from __future__ import annotations

import sys

from show import main
from unlinkability_example import verify_example
from unlinkability_random import verify_figure_5, verify_figure_7
from unlinkability_walks import verify_figure_6

PARTS = {
    "example": verify_example,
    "uniform": verify_figure_5,
    "walks": verify_figure_6,
    "random": verify_figure_7,
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
