"""Published results about separate identities, reproduced: `python verification/separation.py` (about 20 minutes).

G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, chapters 5 and 6:
Figures 5.1 to 5.25 and 6.1 to 6.5. "reads" stands before a number of the source's text, or before the order that a
figure shows. Networks are Slashdot and Epinions; LJ66k was never published, and for the three of Figure 5.23 others
stand in. Claims about Nar09 are also tested on three other attacks. Needs UNMASK_DATA.
"""

from __future__ import annotations

import sys

import separation_adoption as adoption
import separation_adversaries as adversaries
import separation_cooperation as cooperation
import separation_individuals as individuals
import separation_seeding as seeding
from show import main

PARTS = {
    "seeding": (seeding.verify_cliques, seeding.verify_formulas, seeding.verify_top),
    "adoption": (
        adoption.verify_numbers,
        adoption.verify_deletion,
        adoption.verify_mixtures,
        adoption.verify_refusals,
    ),
    "adversaries": (adversaries.verify_seeds, adversaries.verify_attacks, adversaries.verify_few_seeds),
    "cooperation": (
        cooperation.verify_local,
        cooperation.verify_global,
        cooperation.verify_further_networks,
        cooperation.verify_seeds,
        cooperation.verify_attacks,
        cooperation.verify_refusals,
    ),
    "individuals": (
        individuals.verify_few_people,
        individuals.verify_decoys,
        individuals.verify_identities,
        individuals.verify_anonymity,
    ),
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
