"""Published results about unlinkability, run again: `python verification/unlinkability.py` (about two minutes).

A. Pashalidis, S. Schiffner, "Evaluating Adversarial Partitions": every printed number and every claim of sections 1, 3,
4, 5 and appendix A beside what was found, and a verdict; exit code 1 if a verdict that must hold fails.
`--figures FOLDER` also draws our Figures 4 to 7 there, as SVG and PNG. No data are needed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from show import Section, failures, show
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
    sections: list[Section] = []
    for part in (example, lambda: cross_check(given.cases), figure_5, figure_6, figure_7):
        start = time.perf_counter()
        sections.append(part())
        show(sections[-1])
        print(f"   ({time.perf_counter() - start:.0f} s)", flush=True)
    if given.figures:
        from unlinkability_figures import draw_all  # not at the top: a run without figures needs no drawing library

        for path in draw_all(given.figures):
            print(f"wrote {path}")
    wrong = failures(sections)
    verdicts = [verdict for section in sections for verdict in section.verdicts]
    held = sum(verdict.holds for verdict in verdicts)
    print(f"\n{held} verdicts hold, {len(verdicts) - held - len(wrong)} differ as explained, {len(wrong)} fail")
    for verdict in wrong:
        print(f"  FAILS: {verdict.claim}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
