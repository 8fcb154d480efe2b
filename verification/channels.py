"""Published results about channels, reproduced: `python verification/channels.py` (about a minute).

D. Rebollo-Monedero, J. Parra-Arnau, C. Diaz, J. Forné, "On the measurement of privacy as an attacker's estimation
error", Int. J. Inf. Secur. 2012, sections IV to VII: every claim beside what was found, and a verdict; exit code 1 if
a verdict that must hold fails. `--figures FOLDER` also draws Figures 3 and 10, and five of ours, as SVG and PNG. Data
are needed for one part alone, which is skipped without them (`UNMASK_DATA`).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from channels_criteria import definitions, entropies, leaks, sequences, table_four
from channels_design import matched, mismatched, problem_nine
from channels_examples import binary, crowds, locations
from channels_faults import faults
from channels_systems import learning, mixes, published_samples
from show import run

PARTS = (
    definitions,
    binary,
    entropies,
    sequences,
    leaks,
    problem_nine,
    matched,
    mismatched,
    locations,
    crowds,
    table_four,
    faults,
    learning,
    published_samples,
    mixes,
)


def main() -> int:
    """Run all parts in order; draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=Path, help="folder for Figures 3 and 10, and ours")
    given = parser.parse_args()
    code = run(PARTS)
    if given.figures:
        from channels_figures import draw_all  # not at the top: a run without figures needs no drawing library

        draw_all(given.figures)
    return code


if __name__ == "__main__":
    sys.exit(main())
