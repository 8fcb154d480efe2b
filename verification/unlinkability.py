"""Published results about unlinkability, reproduced: `python verification/unlinkability.py` (about two minutes).

A. Pashalidis, S. Schiffner, "Evaluating Adversarial Partitions": every printed number and every claim of sections 1, 3,
4, 5 and appendix A beside what was found, and a verdict; exit code 1 if a verdict that must hold fails.
`--figures FOLDER` also draws our Figures 4 to 7 there, as SVG and PNG. No data are needed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from show import run
from unlinkability_cross import cross_check
from unlinkability_example import example
from unlinkability_random import figure_5, figure_7
from unlinkability_walks import figure_6


def main() -> int:
    """Run all parts in order; draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=Path, help="folder for our Figures 4 to 7")
    parser.add_argument("--cases", type=int, default=1400, help="random cases of the cross-check")
    given = parser.parse_args()
    code = run((example, lambda: cross_check(given.cases), figure_5, figure_6, figure_7))
    if given.figures:
        from unlinkability_figures import draw_all  # not at the top: a run without figures needs no drawing library

        draw_all(given.figures)
    return code


if __name__ == "__main__":
    sys.exit(main())
