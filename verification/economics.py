"""Published results about the economics of an attack, reproduced: `python verification/economics.py` (two minutes).

W. Xia, R. Heatherly, M. Kantarcioglu, Y. Vorobeychik, Z. Wan, B. Malin, "Process-driven data privacy", CIKM 2015,
sections 7.1 to 7.3: every claim beside what was found, and a verdict; exit code 1 if a verdict that must hold fails.
Campaigns, which the paper leaves to future work, are bounded and compared with all interleavings.
`--figures FOLDER` also draws our Figures 5 to 10 there, as SVG and PNG. No data are needed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from economics_campaign import bounds
from economics_findings import findings
from economics_ignorance import ignorance
from economics_solvers import solvers
from economics_thresholds import thresholds
from economics_timing import timing
from show import run


def main() -> int:
    """Run all parts in order; draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=Path, help="folder for our Figures 5 to 10")
    given = parser.parse_args()
    code = run((solvers, thresholds, findings, ignorance, bounds, timing))
    if given.figures:
        from economics_figures import draw_all  # not at the top: a run without figures needs no drawing library

        draw_all(given.figures)
    return code


if __name__ == "__main__":
    sys.exit(main())
