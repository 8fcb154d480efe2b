"""Published results about the economics of an attack, reproduced: `python verification/economics.py` (a minute).

W. Xia, R. Heatherly, M. Kantarcioglu, Y. Vorobeychik, Z. Wan, B. Malin, "Process-driven data privacy", CIKM 2015,
sections 7.1 to 7.3. Campaigns, which the paper leaves to future work, are compared with all interleavings. The solvers
are compared with linear programs, policy iteration and decision trees in tests/economics.
"""

from __future__ import annotations

import sys

from economics_campaign import verify_campaigns
from economics_deterrence import verify_deterrence
from economics_findings import verify_findings
from economics_ignorance import verify_ignorance
from economics_thresholds import verify_thresholds
from economics_timing import verify_timing
from show import main

PARTS = {
    "thresholds": verify_thresholds,
    "findings": verify_findings,
    "ignorance": verify_ignorance,
    "deterrence": verify_deterrence,
    "campaigns": verify_campaigns,
    "timing": verify_timing,
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
