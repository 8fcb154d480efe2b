"""Published results about separate identities, reproduced: `python verification/separation.py` (about twelve minutes).

G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, chapters 5 and 6:
Figures 5.1 to 5.25 and 6.1 to 6.5, each claim beside what the source reads, what was found, and a verdict; exit code 1
if a verdict that must hold fails. A bar is what the source reads: a figure in its text, or which of two is higher.
Networks are Slashdot and Epinions, two of the source; its LJ66k was never published, and for the three of Figure 5.23
others stand in. What the source tried on Nar09 alone is tried on four attacks. Needs UNMASK_DATA. `--part` runs one
part alone.
"""

from __future__ import annotations

import argparse
import sys

import separation_adoption as adoption
import separation_adversaries as adversaries
import separation_cooperation as cooperation
import separation_individuals as individuals
import separation_seeding as seeding
from show import run

PARTS = {
    "seeding": (seeding.cliques, seeding.formulas, seeding.top),
    "adoption": (
        adoption.numbers,
        adoption.deletion,
        adoption.together,
        adoption.refusing,
    ),
    "adversaries": (
        adversaries.seeding,
        adversaries.others,
        adversaries.few_seeds,
    ),
    "cooperation": (
        cooperation.local,
        cooperation.worldwide,
        cooperation.further,
        cooperation.other_seeds,
        cooperation.other_attacks,
        cooperation.refusing,
    ),
    "individuals": (individuals.few, individuals.decoys, individuals.identities, individuals.anonymity),
}


def main() -> int:
    """Run the parts in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=list(PARTS), help="run one part alone")
    wanted = parser.parse_args().part
    return run(section for part in ([wanted] if wanted else PARTS) for section in PARTS[part])


if __name__ == "__main__":
    sys.exit(main())
