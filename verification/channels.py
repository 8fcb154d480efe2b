"""Published results about channels, reproduced: `python verification/channels.py` (about a minute).

D. Rebollo-Monedero, J. Parra-Arnau, C. Diaz, J. Forné, "On the measurement of privacy as an attacker's estimation
error", Int. J. Inf. Secur. 2012, sections IV to VII, and published numbers about samples and mixes. Claims that are
not in a paper are tested in tests/channels and tests/measures. The samples need UNMASK_DATA, or they are skipped.
"""

from __future__ import annotations

import sys

from channels_criteria import verify_definitions, verify_entropies, verify_leaks, verify_sequences, verify_table_four
from channels_examples import (
    verify_binary,
    verify_crowds,
    verify_degrees,
    verify_design,
    verify_locations,
    verify_samples,
)
from channels_faults import verify_faults
from show import main

PARTS = {
    "criteria": (verify_definitions, verify_entropies, verify_sequences, verify_leaks, verify_table_four),
    "examples": (verify_binary, verify_design, verify_locations, verify_crowds),
    "faults": verify_faults,
    "systems": (verify_samples, verify_degrees),
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
