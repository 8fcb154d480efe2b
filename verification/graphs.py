"""Published results about attacks on networks, reproduced: `python verification/graphs.py` (about six minutes).

G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015: Table 3.1, Figures
3.2 to 3.4, 4.3, 4.6, 4.7 and 4.8. Slashdot and Epinions are the networks of the source; LJ66k and LJ10k were never
published, and others stand in. Needs UNMASK_DATA.
"""

from __future__ import annotations

import sys

import graphs_anonymity as anonymity
import graphs_nar09 as nar09
import graphs_seeding as seeding
import graphs_table as table
from show import main

PARTS = {
    "table": table.verify_table,
    "nar09": (
        table.verify_odd_cell,
        nar09.verify_theta,
        nar09.verify_transition,
        nar09.verify_luck,
        nar09.verify_degrees,
    ),
    "anonymity": (anonymity.verify_nar09, anonymity.verify_grasshopper),
    "seeding": (seeding.verify_small, seeding.verify_large),
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
