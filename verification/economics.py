"""Published results about the economics of an attack, reproduced: `python verification/economics.py` (two minutes).

W. Xia, R. Heatherly, M. Kantarcioglu, Y. Vorobeychik, Z. Wan, B. Malin, "Process-driven data privacy", CIKM 2015,
sections 7.1 to 7.3. Campaigns, which the paper leaves to future work, are compared with all interleavings.
"""

from __future__ import annotations

import sys

from economics_campaign import bounds
from economics_findings import findings
from economics_ignorance import ignorance
from economics_solvers import solvers
from economics_thresholds import thresholds
from economics_timing import timing
from show import main

PARTS = {
    "solvers": solvers,
    "thresholds": thresholds,
    "findings": findings,
    "ignorance": ignorance,
    "campaigns": bounds,
    "timing": timing,
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
