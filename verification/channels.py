"""Published results about channels, run again: `python verification/channels.py` (about a minute).

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
from channels_systems import differential, learning, mixes, published_samples
from show import Section, failures, show

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
    differential,
    learning,
    published_samples,
    mixes,
)


def main() -> int:
    """Run all parts in order; draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=Path, help="folder for Figures 3 and 10, and ours")
    given = parser.parse_args()
    sections: list[Section] = []
    for part in PARTS:
        sections.append(part())
        show(sections[-1])
        sys.stdout.flush()
    if given.figures:
        from channels_figures import draw_all  # not at the top: a run without figures needs no drawing library

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
