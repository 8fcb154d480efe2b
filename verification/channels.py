"""Published results about channels, reproduced: `python verification/channels.py` (about a minute).

D. Rebollo-Monedero, J. Parra-Arnau, C. Diaz, J. Forné, "On the measurement of privacy as an attacker's estimation
error", Int. J. Inf. Secur. 2012, sections IV to VII. The published samples need UNMASK_DATA; without it they are
skipped.
"""

from __future__ import annotations

import sys

from channels_criteria import definitions, entropies, leaks, sequences, table_four
from channels_design import matched, mismatched, problem_nine
from channels_examples import binary, crowds, locations
from channels_faults import faults
from channels_systems import learning, mixes, published_samples
from show import main

PARTS = {
    "criteria": (definitions, binary, entropies, sequences, leaks),
    "design": (problem_nine, matched, mismatched),
    "examples": (locations, crowds, table_four),
    "faults": faults,
    "systems": (learning, published_samples, mixes),
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
